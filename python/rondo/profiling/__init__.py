# SPDX-License-Identifier: BSD-3-Clause
"""Profiles: where a program's MPI time goes, and what it would gain."""
