# SPDX-License-Identifier: BSD-3-Clause
"""`rondo profile`: where a program's MPI time goes, and what it would gain.

profiled.py    a run under the profiler
image.py       the file that each rank leaves, as rondo/profiler/image.hpp has it
reading.py     a profile of these files; with sites.py (who called) and waiting.py (waiting and moving)
profile.py     what a profile holds
summary.py     its sums
calls.py       a line of it as one call
prediction.py  what its calls would take with Rondo
advice.py      what that says in words, and what to do
terminal.py    the same as a table; page.py and charts.py as a page
"""
