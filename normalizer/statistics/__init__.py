"""Questions about the groups that `aggregate` made.

`agreement` with `agreement_measures`, `agreement_intervals`, `cell_table` and `judge_scores`, `severity` and
`generalizability` of judges, `contrasts` tested by `signflip`, `rates` of INVALID records, `self_judging`.
`group_means` and `spread` are what they share; `overview` collects all of it for `normalizer statistics`.
"""
