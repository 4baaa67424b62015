"""Which language a file is in, and which grammar reads it. All of it is data: `rules/languages/<language>.json`."""

from functools import cache
from typing import NamedTuple

import contract_spec as spec

from zeno.text.symbols import language_of

_LIMITS = spec.resource("rules/request_limits.json")
MAX_BYTES: int = _LIMITS["max_parsed_file_bytes"]
"""Larger texts are not parsed; the rules look for definitions instead."""
MAX_NODES: int = _LIMITS["max_parsed_nodes"]
"""Nor are trees with more nodes looked at."""


class Grammar(NamedTuple):
    """A grammar of tree-sitter with what is asked of its trees."""

    package: str
    """The distribution it is installed from."""
    version: str
    function: str
    """The function of the package's module that returns the grammar."""
    methods: frozenset[str]
    """Kinds of definitions whose functions are methods."""
    strip: tuple[str, ...]
    """Marks that some names begin or end with and that are no part of them."""
    end: str
    """A mark that ends a name which is written in one piece with what it stands for; may be empty."""
    separator: str
    """Joins the parts of a qualified name, if that makes the first parts containers."""
    definitions: str
    """A query for definitions: each match has a name, and the definition captured by its kind or as `within`."""
    roles: str
    """A query for comments, strings, code in strings, imports, calls, members, and attributes before definitions."""

    @property
    def extractor(self) -> str:
        """Its name in answers."""
        return f"{self.package} {self.version}"


@cache
def _language(name: str) -> tuple[dict[str, Grammar], Grammar | None]:
    """Return the grammars of a language: those for some endings of file names, and the one for the rest."""
    data = spec.resource(f"rules/languages/{name}.json").get("grammar")
    if data is None:
        return {}, None
    grammar = Grammar(
        package=data["package"],
        version=data["version"],
        function=data["function"],
        methods=frozenset(data.get("methods", ())),
        strip=tuple(data.get("strip", ())),
        end=data.get("end", ""),
        separator=data.get("separator", ""),
        definitions="\n".join(data["definitions"]),
        roles="\n".join(data["roles"]),
    )
    variants = data.get("variants", {})
    return {ending: grammar._replace(function=function) for ending, function in variants.items()}, grammar


def grammar_of(path: str) -> Grammar | None:
    """Return the grammar for a file by its name, or None."""
    language = language_of(path)
    if language is None:
        return None
    variants, grammar = _language(language)
    for ending, variant in variants.items():
        if path.endswith(ending):
            return variant
    return grammar


@cache
def _has_functions(language: str) -> bool:
    return any(rule["kind"] == "function" for rule in spec.resource(f"rules/languages/{language}.json")["rules"])


def is_code(path: str) -> bool:
    """Whether a file is in a language that has functions, by its name."""
    language = language_of(path)
    return language is not None and _has_functions(language)


def facts_key(path: str) -> str:
    """Return what the facts of a text depend on beside the text: files with equal keys and texts have equal facts."""
    language = language_of(path)
    if language is None:
        return ""
    grammar = grammar_of(path)
    return f"{language} {grammar.function}" if grammar is not None else language
