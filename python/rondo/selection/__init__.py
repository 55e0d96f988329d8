# SPDX-License-Identifier: BSD-3-Clause
"""Rules files: reading them, and why they choose what they choose."""
