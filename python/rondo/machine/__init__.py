# SPDX-License-Identifier: BSD-3-Clause
"""What messages and operations cost on a machine: the file, and how it is measured."""
