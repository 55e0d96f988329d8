# SPDX-License-Identifier: BSD-3-Clause
"""`rondo report`: results of `rondo bench` as a page, as figures for papers, and as a table.

sections.py   results, cut into what belongs into one figure
style.py      colours, markers, ticks and numbers, the same wherever they appear
words.py      what a figure shows, in words
charts.py     the interactive figures   page.py, tables.py   the page around them
document.py   what all pages are made of, also those of profiles and comparisons; page.css, page.js
figures.py    the same figures for papers
rows.py       every repetition as a row of a CSV file
"""
