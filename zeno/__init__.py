"""Zeno: a read-only, deterministic retrieval server for language-model agents."""
