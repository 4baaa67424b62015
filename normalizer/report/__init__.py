"""The report page: sections, plots, and the way from each number down to raw lines.

`gathering` makes the `study`: the documents of other commands, the `records` behind their numbers, and the `drift`
between versions of judges. `sections`, `judge_sections` and `audit_sections` write HTML with `markup` and `plots`,
`decisions` those on preferences, calibration and gates. `drilldown` links numbers to records, `raw_lines` records to
lines, `html_page` joins everything, and `export` writes the tables. `comparison_study` is about comparisons alone.
"""
