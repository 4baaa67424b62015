"""Questions about the groups that `aggregate` made.

`agreement` with `agreement_measures`, `agreement_intervals`, `cell_table` and `judge_scores`, `severity` and
`generalizability` of judges, `contrasts`, sign flips (`signflip`), `rates` of INVALID records, `self_judging`.
`sensitivity` is how far means depend on what is missing and on single judges; `group_means` and `spread` are shared.
"""
