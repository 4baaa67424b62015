"""Findings that change no score: audit, lint, claims, quoted evidence, published tables.

A check reads a ledger or a document and returns a list of findings. It never writes.
"""
