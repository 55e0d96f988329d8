# SPDX-License-Identifier: BSD-3-Clause
"""Measures a machine once, and writes the rules that are right there."""
