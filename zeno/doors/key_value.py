"""Arguments as people type them: words become a JSON object, guided by the schema of the operation."""

from collections.abc import Iterable
from typing import Any

import contract_spec as spec

from zeno.session.wire import MAX_DEPTH
from zeno.text.path_names import typed

# Arguments that name files and directories, or match their names.
_NAMES = frozenset({"path", "paths", "glob", "exclude_globs", "exclude_dirs"})


# Operations without required arguments, and the argument that a single word stands for.
_ALONE = {"list_files": "glob", "stat": "path"}
# The argument that further words stand for, in operations that have it.
_MORE = "paths"
_NO_LIMIT = (1 << 53) - 1


class NotAPair(ValueError):
    """A word that is no argument. The message says what would be one."""


def known(op: str) -> dict[str, Any]:
    """Return the arguments of an operation by name, each with its schema; empty for an unknown operation."""
    properties: dict[str, Any] = _args(op).get("properties", {})
    return properties


def first(op: str) -> str | None:
    """Return the argument that a single word stands for, or None."""
    required = _args(op).get("required", [])
    # stat takes one path or many; people type one.
    return required[0] if required else _ALONE.get(op)


def arguments(op: str, words: Iterable[str]) -> dict[str, Any]:
    """Return the arguments that words stand for. Raises `NotAPair`.

    Strings are taken as they are, the rest as JSON; a list's key may be repeated. The first word that is no KEY=VALUE
    of the operation is the argument that it cannot do without, and words without `=` behind it are `paths` where the
    operation takes any. Names of files need not be UTF-8.
    """
    properties = known(op)
    args: dict[str, Any] = {}
    main = first(op)
    for number, word in enumerate(words):
        key, equals, text = word.partition("=")
        if key not in properties and number == 0 and main is not None:
            key, equals, text = main, "=", word
        elif not equals and number and _MORE in properties:
            key, equals, text = _MORE, "=", word
        if not equals and not _args(op):
            raise NotAPair(f"no operation is called {op!r}; there are {', '.join(operations())}")
        if not equals:
            raise NotAPair(f"{word!r} is not KEY=VALUE; {op} takes {', '.join(properties) or 'no arguments'}")
        if key in _NAMES:
            text = typed(text)
        elif typed(word) != word:
            raise NotAPair(f"{word!r} is not UTF-8; only names of files may be other bytes")
        kind = properties.get(key, {}).get("type")
        if kind == "array":
            args.setdefault(key, []).extend(_json(key, text) if text.startswith("[") else [text])
        elif key in args:
            raise NotAPair(f"{key} is given twice; only a list's key may be repeated")
        else:
            args[key] = text if kind in ("string", None) else _json(key, text)
    return args


def reading_on(op: str, args: Any) -> Any:
    """Return the arguments of a person who sees text: read_file without an end reads on, as far as its limits allow."""
    if op != "read_file" or not isinstance(args, dict) or "end_line" in args:
        return args
    return {**args, "end_line": _NO_LIMIT}


def operations() -> list[str]:
    """The names of all operations, sorted."""
    prefix = "zeno/ops/"
    return [name.removeprefix(prefix).removesuffix(".json") for name in spec.names() if name.startswith(prefix)]


def _args(op: str) -> dict[str, Any]:
    name = f"zeno/ops/{op}.json"
    found: dict[str, Any] = spec.schema(name)["$defs"]["args"] if name in spec.names() else {}
    return found


def _json(key: str, text: str) -> Any:
    try:
        return spec.parse(text.encode("utf-8", "surrogateescape"), max_depth=MAX_DEPTH)
    except spec.NotStrictJson:
        raise NotAPair(f"the value of {key} is not JSON: {text!r}") from None
