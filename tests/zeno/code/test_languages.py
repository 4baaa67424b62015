"""Grammars: which file has which, and that their data fits what is installed."""

import json
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

from zeno.code.languages import facts_key, grammar_of
from zeno.code.syntax import load

PARSED = {
    "python": "a.py", "go": "a.go", "javascript": "a.js", "typescript": "a.ts", "tsx": "a.tsx", "java": "a.java",
    "rust": "a.rs", "c": "a.c", "cpp": "a.cpp", "csharp": "a.cs", "ruby": "a.rb", "php": "a.php", "kotlin": "a.kt",
    "swift": "a.swift", "scala": "a.scala", "shell": "a.sh",
}  # fmt: skip


@pytest.mark.parametrize("path", PARSED.values())
def test_a_grammar_is_installed_in_the_version_that_answers_name(path):
    grammar = grammar_of(path)
    assert grammar is not None
    assert version(grammar.package) == grammar.version
    load(grammar)


def test_versions_are_pinned():
    dependencies = Path(__file__).parents[3].joinpath("pyproject.toml").read_text(encoding="utf-8")
    for path in PARSED.values():
        grammar = grammar_of(path)
        assert grammar is not None
        assert f'"{grammar.package}=={grammar.version}"' in dependencies


def test_every_language_with_a_grammar_is_tested():
    folder = Path(str(files("contract_spec"))) / "rules" / "languages"
    with_grammar = {path.stem for path in folder.glob("*.json") if "grammar" in json.loads(path.read_text("utf-8"))}
    assert with_grammar == set(PARSED) - {"tsx"}


def test_files_with_equal_facts_have_equal_keys():
    assert facts_key("a/b.go") == facts_key("c.go") != facts_key("a.py")
    assert facts_key("a.ts") != facts_key("a.tsx")
    assert facts_key("a.txt") == ""
