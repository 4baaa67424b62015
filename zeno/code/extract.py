"""Turn the text of a source file into facts: a pure function of the text and the name of the file."""

from zeno.code.facts import NOTHING, Facts, Symbol, numbers
from zeno.code.languages import MAX_BYTES, Grammar, grammar_of
from zeno.code.names import split_name
from zeno.text.symbols import language_of, symbols_of


def extract(path: str, text: bytes) -> Facts:
    """Return the facts of a text in normal form (see `zeno.text.file_lines.normal`). Runs C code where it may crash."""
    grammar = grammar_of(path)
    if grammar is None or len(text) > MAX_BYTES:
        return apply_rules(path, text)
    from zeno.code.syntax import ask_tree

    facts = ask_tree(text, grammar)
    if facts is None:
        return apply_rules(path, text)
    return _complete(facts, path, text, grammar) if facts.unparsed else facts


def apply_rules(path: str, text: bytes) -> Facts:
    """Return what the rules of the language find: definitions without extents or containers."""
    if language_of(path) is None:
        return NOTHING
    return Facts("rules", _by_rules(path, text), [], numbers(), numbers())


def _by_rules(path: str, text: bytes) -> list[Symbol]:
    found = symbols_of(path, text.decode().removesuffix("\n"))
    return [Symbol(symbol.kind, symbol.name, symbol.line, symbol.line, 0, "") for symbol in found]


def _complete(facts: Facts, path: str, text: bytes, grammar: Grammar) -> Facts:
    """Return facts with the definitions that the rules find on lines that could not be parsed."""
    known = {(symbol.name, symbol.line) for symbol in facts.symbols}
    unparsed = {line for first, last in facts.unparsed for line in range(first, last + 1)}
    more = []
    for symbol in _by_rules(path, text):
        container, name = split_name(symbol.name, grammar)
        if symbol.line in unparsed and (name, symbol.line) not in known:
            more.append(symbol._replace(name=name, container=container))
    return facts._replace(symbols=sorted([*facts.symbols, *more], key=lambda symbol: symbol.line))
