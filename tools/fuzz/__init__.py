"""Fuzzing: functions that take any bytes and check a fact about them, and what drives them.

`documents`, `evidence`, `patterns`, `protocol`, `interfaces` and `sessions` hold the targets. `engine` runs one in a
process of its own, `run` is the command behind `nox -s fuzz` and makes findings small.
"""
