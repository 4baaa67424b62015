"""Estimates that do not depend on where their values come from: clusters of values, intervals, tests.

`clusters` puts values of one item together, `gamma_draws` draws shares, and `intervals` makes intervals of means on a
scale, from randomly weighted means. `paired_test` examines differences, by `betting` where one
looks repeatedly, and `pairs_needed` says how many it takes; `over_judges` makes intervals for other judges, too,
and `crossed_effects` tells where variance comes from. Intervals have a width
where the values have none, stay on the scale, and assume that clusters are independent.
"""
