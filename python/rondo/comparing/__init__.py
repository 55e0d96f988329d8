# SPDX-License-Identifier: BSD-3-Clause
"""`rondo compare`: a program natively and under Rondo, or in other ways, in turn.

rivals.py    the ways that are compared, as users write them, and the commands that run them
trials.py    the runs: their order, what each takes, what ends them early
outputs.py   whether the program writes the same in all runs
results.py   what was measured, and what it says
table.py     the same on a terminal
page.py      the same as a page of `rondo report`
"""
