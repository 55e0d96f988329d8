# SPDX-License-Identifier: BSD-3-Clause
"""Schedules for other tools: `rondo export`."""
