# SPDX-License-Identifier: BSD-3-Clause
"""Starting programs under Rondo: launchers, MPI libraries, what is preloaded, and what ranks report."""
