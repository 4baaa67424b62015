"""Comparisons to preferences: rates, order effects, ratings and length bias.

`reading` reads the ledgers on an engine, by the SQL of `comparison_query`, and gives what counts in columns
(`verdicts`) or one by one (`comparisons`). `rates` counts wins, also by the order shown, and makes intervals, `ratings`
fits Bradley-Terry, `lengths` fits the length-controlled rate, `logistic` is the solver of both. `recipes` makes the
scores of other boards, with `alpaca_length` for those at equal lengths and `arena_style` for those at equal style, and
`group_preferences` puts the document together. Single scores never come here.
"""
