"""Measure definitions, extents, containers, scopes and roles on real sources.

`walks` goes through syntax trees in its own way, `referees` asks CPython's ast, ctags or a walk, `run` compares and
prints the table of docs/explanation/symbols.md.
"""
