"""Questions about groups: agreement between judges, severity, contrasts, rates, self-judging.

Each module computes one answer from the groups that `aggregate` made; `overview` collects them for `normalizer
statistics`.
"""
