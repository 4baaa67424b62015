"""Zeno: a read-only, deterministic retrieval server for language-model agents."""

DISTRIBUTION = "zeno-normalizer"
"""The distribution that this package belongs to. Others install a package `zeno` too; `zeno_normalizer` compares."""
