# SPDX-License-Identifier: BSD-3-Clause
"""`python -m rondo` is `rondo`."""

from __future__ import annotations

from rondo.commands import main

main(prog_name="rondo")
