# SPDX-License-Identifier: BSD-3-Clause
"""`rondo report`: results of `rondo bench` as a page, as figures for papers, and as a table.

sections.py   results, cut into what belongs into one figure
style.py      colours, markers, ticks and numbers, the same wherever they appear
words.py      what a figure shows, in words
charts.py     the interactive figures   page.py, tables.py, page.css, page.js   the page around them
figures.py    the same figures for papers
rows.py       every repetition as a row of a CSV file
"""
