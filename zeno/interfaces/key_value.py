"""Arguments as people type them: words become a JSON object, guided by the schema of the operation."""

from collections.abc import Iterable, Sequence
from typing import Any

import contract_spec as spec
from contract_spec.operations import args_schema, marked, operations

from zeno.session.wire import MAX_DEPTH
from zeno.text.path_names import decode_word

_NO_LIMIT = (1 << 53) - 1


class NotAPair(ValueError):
    """A word that is no argument. The message says what would be one."""


def arguments_of(op: str) -> dict[str, Any]:
    """Return the arguments of an operation by name, each with its schema; empty for an unknown operation."""
    properties: dict[str, Any] = args_schema(op)["properties"] if op in operations() else {}
    return properties


def first(op: str) -> str | None:
    """Return the argument that a single word stands for, or None."""
    return next(iter(_words(op)), None)


def further(op: str) -> str | None:
    """Return the argument that further words stand for, or None."""
    return next(iter(_words(op)[1:]), None)


def _words(op: str) -> Sequence[str]:
    return operations()[op].words if op in operations() else ()


# Commands that people know, and the operations that do the like.
_KNOWN_AS = {"cat": "read_file", "find": "list_files", "head": "peek", "ls": "list_files", "rg": "grep", "tail": "peek"}


def suggest_operation(op: str) -> str:
    """Return the end of a sentence on an unknown operation: the one that was probably meant, or all of them."""
    from difflib import get_close_matches

    known = [*operations()]
    meant = [_KNOWN_AS[op]] if op in _KNOWN_AS else get_close_matches(op[:100].replace("-", "_"), known, 1)
    return f"; did you mean {meant[0]}?" if meant else f"; there are {', '.join(known)}"


def suggest_argument(key: str) -> str:
    """Return the argument of any operation that was probably meant; nothing if none is near."""
    from difflib import get_close_matches

    known = sorted({name for op in operations() for name in arguments_of(op)})
    return next(iter(get_close_matches(key, known, 1, 0.8)), "")


def arguments(op: str, words: Iterable[str]) -> dict[str, Any]:
    """Return the arguments that words stand for. Raises `NotAPair`.

    Strings are taken as they are, the rest as JSON; a list's key may be repeated. The first word that is no KEY=VALUE
    of the operation is the argument that its schema has for it, and so are words without `=` behind it where it has one
    for them. Names of files need not be UTF-8.
    """
    properties = arguments_of(op)
    args: dict[str, Any] = {}
    main, more = first(op), further(op)
    names = marked(op, "path", "glob") if properties else frozenset()
    for number, word in enumerate(words):
        key, equals, text = word.partition("=")
        if key not in properties and number == 0 and main is not None:
            _refuse_misspelt(op, key if equals else "", word, main)
            key, equals, text = main, "=", word
        elif not equals and number and more is not None:
            key, equals, text = more, "=", word
        if not equals and op not in operations():
            raise NotAPair(f"no operation is called {op!r}{suggest_operation(op)}")
        if not equals:
            raise NotAPair(f"{word!r} is not KEY=VALUE; {op} takes {', '.join(properties) or 'no arguments'}")
        if key in names:
            text = decode_word(text)
        elif decode_word(word) != word:
            raise NotAPair(f"{word!r} is not UTF-8; only names of files may be other bytes")
        kind = properties.get(key, {}).get("type")
        if kind == "array":
            args.setdefault(key, []).extend(_json(key, text) if text.startswith("[") else [text])
        elif key in args:
            raise NotAPair(f"{key} is given twice; only a list's key may be repeated")
        else:
            args[key] = text if kind in ("string", None) else _json(key, text, kind)
    return args


def _refuse_misspelt(op: str, key: str, word: str, main: str) -> None:
    """Raise NotAPair if a word that would be a value looks like an argument of the operation with a slip in it."""
    from difflib import get_close_matches

    near = get_close_matches(key, arguments_of(op), 1, 0.8)
    if near:
        raise NotAPair(f"{op} has no {key}; did you mean {near[0]}=...? If the text is meant: {main}={word}")


def read_on(op: str, args: Any) -> Any:
    """Return the arguments of a person who sees text: read_file without an end reads on, as far as its limits allow."""
    if op != "read_file" or not isinstance(args, dict) or "end_line" in args or "symbol" in args:
        return args
    return {**args, "end_line": _NO_LIMIT}


def _json(key: str, text: str, kind: Any = None) -> Any:
    try:
        return spec.parse(text.encode("utf-8", "surrogateescape"), max_depth=MAX_DEPTH)
    except spec.NotStrictJson:
        takes = {"integer": "a whole number", "boolean": "true or false"}.get(str(kind), "JSON")
        raise NotAPair(f"{key} takes {takes}, and {text!r} is not") from None
