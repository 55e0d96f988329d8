# SPDX-License-Identifier: BSD-3-Clause
"""What shells know of the command: completion and manual pages."""
