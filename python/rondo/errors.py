# SPDX-License-Identifier: BSD-3-Clause
"""The one exception of the package."""

from __future__ import annotations

REFUSED = 2
NOT_EXECUTABLE = 126
NOT_FOUND = 127


class Error(Exception):
    """Says what was wrong and what to do."""

    def __init__(self, message: str, exit_code: int = REFUSED) -> None:
        """Makes an error with which the command line ends with status `exit_code`."""
        super().__init__(message)
        self.exit_code = exit_code
