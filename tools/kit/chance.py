"""Random trees, as the kit describes trees, and random requests about them. Equal seeds give equal results."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

# Lists of many short things.
# fmt: off
NAMES = [
    "a", "b", "ab", "a-b", "B2", "c.txt", "d.py", "e.md", ".h", ".dot", "a.b", "\u00e9", "new\nline", "sp ace", "...",
    "[x]", "x", "{a,b}", "*", "x]y", "!", "caf\0e9", "\0ff.txt", "\uff61", "\U0001f600", "-", "~",
]
WORDS = [
    "a", "b", "ab", "ba", "A", "\u00e9", "\u00c9", "x.y", "(", "[a]", " ", "def a():", "# b", "\u2028", "\f",
    "\ufffd",
]
BYTES = [b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf", b"\xef\xbb\xbf"]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\r\r\n", b"\n\n"]
ATOMS = ["a", "b", "A", ".", "[ab]", "[^a]", "\u00e9", "x", "(?:a|b)", "(?:ab)?", "/", "\\.", " ", "[a-e]"]
BROKEN = ["(", "[a", "*a", "a)", "(?=a)", "(?<!a)b", "(a)\\1", "a{1001}", "\\"]
GAPS = ["\\n", "\n", "\\n+", "[ \\n]*", "(?s:.*)", "(?s:.*?)", "$", "[^b]*", "\\n|"]
GLOBS = [
    "*", "*", "**/", "?", "a", "b", "/", ".", "[ab]", "[!a]", "[a-c]", "[]]", "[", "{a,b}", "{a,", "}", "{b}", ",",
    "{*,{a,b}/}", "\u00e9", ".txt", "[!", "-", "{,a}", "[b-a]", "[^a]", "[a-", "]", "**", "[a-c-e]", "[--a]", "[!-]",
]
NUMBERS = [1, 1, 2, 2, 3, 4, 5, 7, 10, 30, 1000, 2.0, 2**53 - 1]
WRONG: list[Any] = [0, -1, 1.5, 2**53, True, None, "", "5", [], [""], {}, [1], "x"]
HOSTILE = [
    "..", "../secret.txt", "../nothing", "/", "/etc/passwd", "/nonexistent", "{beside}", "{beside}/secret.txt",
    "{beside}/nothing", "{root}ling/x", "{root}/..", "../root", "n" * 256, "a/" * 400 + "a", "\0", "a\0zz", "\x0041",
    "\0c3\0a9", "\0FF", "{beside}/alias/../secret.txt", "./..", "a/../..", "{root}/../root/a", ".", "./", "{root}/.",
]
ENTRIES = ["..", "../x", "/etc", "{beside}/secret.txt", ".", "./", "{root}", "{root}/", "a/../../b", "./.."]
# fmt: on


class Dice(Random):
    """Random choices from a seed."""

    def happens(self, share: float) -> bool:
        """Return True with this probability."""
        return self.random() < share


def corpus(dice: Dice) -> dict[str, Any]:
    """A random tree, as the kit describes trees."""
    folders: list[str] = [""]
    taken: set[str] = set()
    tree: list[dict[str, Any]] = []
    for _ in range(dice.randint(0, 24)):
        path = dice.choice(folders) + dice.choice(NAMES)
        if path in taken:
            continue
        taken.add(path)
        kind = dice.choices(["file", "directory", "link", "fifo", "hard_link"], [10, 5, 5, 0.5, 0.5])[0]
        files = [entry["path"] for entry in tree if entry["type"] == "file"]
        if kind == "file":
            tree.append(
                {
                    "path": path,
                    "type": "file",
                    "base64": b64encode(_content(dice)).decode(),
                    "mtime": str(dice.randint(0, 2**32)),
                }
            )
        elif kind == "directory":
            folders.append(f"{path}/")
            tree.append({"path": path, "type": "directory"})
        elif kind == "link":
            tree.append({"path": path, "type": "link", "target": _target(dice, path, sorted(taken))})
        elif kind == "hard_link" and files:
            tree.append({"path": path, "type": "hard_link", "target": dice.choice(files)})
        else:
            tree.append({"path": path, "type": "fifo"})
    beside = [
        {"path": "secret.txt", "type": "file", "text": "a\nb\nab\n"},
        {"path": "rootling/x", "type": "file", "text": "a\n"},
        {"path": "alias", "type": "link", "target": "{root}"},
    ]
    return {"description": "a random tree", "tree": tree, "beside": beside}


def _content(dice: Dice) -> bytes:
    if dice.happens(0.05):
        return b"x" * dice.randint(8185, 8195) + b"\0\na\n"
    lines = []
    for _ in range(dice.randint(0, 8)):
        pieces = [dice.choice(WORDS).encode() for _ in range(dice.randint(0, 4))]
        if dice.happens(0.1):
            pieces.insert(dice.randint(0, len(pieces)), dice.choice(BYTES))
        lines.append(b"".join(pieces) + dice.choice(ENDS))
    data = b"".join(lines)
    if dice.happens(0.1):
        data = b"\xef\xbb\xbf" + data
    if dice.happens(0.06):
        data += b"\0"
    return data.rstrip(b"\n") if dice.happens(0.3) else data


def _target(dice: Dice, path: str, taken: Sequence[str]) -> str:
    up = "../" * path.count("/")
    other = dice.choice(taken)
    return dice.choice(
        [
            up + other,
            up + other,
            up + other,
            "{root}/" + other,
            path.rsplit("/", 1)[-1],
            up or ".",
            up + "none",
            up + other + "/..",
            up + other + "/" + dice.choice(NAMES),
            up + "../secret.txt",
            up + "../root/" + other,
            "{beside}/secret.txt",
            "{beside}/nothing",
            "/etc/passwd",
            "{root}/../secret.txt",
            "..",
        ]
    )


Arguments = Mapping[str, Mapping[str, Any]]
"""The arguments of each operation, by name, each with its schema and whether it is `required`."""


def request(dice: Dice, known: Sequence[str], operations: Mapping[str, Arguments]) -> tuple[str, dict[str, Any]]:
    """A random request about a tree with these paths, for one of these operations."""
    # Those with many arguments have many ways to be wrong.
    op = dice.choices([*operations], [len(arguments) + 2 for arguments in operations.values()])[0]
    args: dict[str, Any] = {}
    for name, schema in operations[op].items():
        if schema["required"] or dice.happens(0.3):
            args[name] = _value(dice, known, name, operations[op])
    if "patterns" in operations[op]:
        _choose_pattern(dice, args)
    if args.get("multiline") and args["pattern"] not in BROKEN and dice.happens(0.8):
        gap = dice.choice(GAPS) if args.get("regex") else "\n"
        args["pattern"] += gap + (_regex(dice) if args.get("regex") else dice.choice(WORDS))
    if "start_line" in args and "end_line" in args and dice.happens(0.8):
        args["end_line"] = max(args["start_line"], args["end_line"])
    if not args and not dice.happens(0.2):
        name = dice.choice([*operations[op]])
        args[name] = _value(dice, known, name, operations[op])
    if dice.happens(0.06):
        args[dice.choice([*operations[op], "none"])] = dice.choice(WRONG)
    return op, args


def _choose_pattern(dice: Dice, args: dict[str, Any]) -> None:
    """Give a search one pattern or several, and regular expressions where they are asked for."""
    expression = args.get("regex") is True
    if args.get("multiline") or "patterns" not in args:
        args.pop("patterns", None)
        args["pattern"] = _regex(dice) if expression else args.get("pattern", dice.choice(WORDS))
    elif not dice.happens(0.05):
        args.pop("pattern", None)
        if expression:
            args["patterns"] = [_regex(dice) for _ in args["patterns"]]


# Values that are near a boundary more often than any number.
_SMALL = {"context": [0, 1, 2, 9], "depth": [1, 2, 3], "max_bytes": [0, 1, 5, 20, 100]}
_SMALL |= {name: [0, 1, 2, 5, 60] for name in ("head_lines", "tail_lines")}


def _value(dice: Dice, known: Sequence[str], name: str, arguments: Arguments) -> Any:
    """A value for an argument, by what it is and by its type."""
    schema = arguments[name]
    kind, listed = schema.get("x-zeno", {}).get("is"), schema["type"] == "array"
    # Where rules select files, paths are entries of a selection.
    selects = listed and "include_hidden" in arguments
    makers: dict[str | None, Callable[[], str]] = {
        "path": (lambda: _entry(dice, known)) if selects else lambda: _path(dice, known),
        "glob": (lambda: dice.choice(NAMES)) if name == "exclude_dirs" else lambda: _glob(dice, known),
        "text": lambda: dice.choice(WORDS),
    }
    if kind in makers:
        return _some(dice, makers[kind], schema.get("minItems", 0)) if listed else makers[kind]()
    if "enum" in schema:
        return dice.choice(schema["enum"])
    if name == "name":
        return dice.choice(WORDS[:6])
    if name == "ranges":
        return [_range(dice, known) for _ in range(dice.randint(1, 3))]
    if schema["type"] == "boolean":
        return dice.happens(0.5)
    return _regex(dice) if schema["type"] == "string" else dice.choice(_SMALL.get(name, NUMBERS))


def _range(dice: Dice, known: Sequence[str]) -> dict[str, Any]:
    """A range of lines, mostly of a file that is there."""
    start = dice.choice([1, 1, 2, 5])
    asked = {"path": dice.choice(known) if known and dice.happens(0.8) else _path(dice, known)}
    numbers = {"start_line": start, "end_line": start + dice.choice([0, 1, 3, 40]) - (1 if dice.happens(0.05) else 0)}
    return {**asked, **{name: number for name, number in numbers.items() if dice.happens(0.7)}}


def _some(dice: Dice, make: Callable[[], str], least: int) -> list[str]:
    return [make() for _ in range(dice.randint(least, 3))]


def _path(dice: Dice, known: Sequence[str]) -> str:
    if dice.happens(0.15) or not known:
        return dice.choice(HOSTILE)
    path = dice.choice(known)
    if dice.happens(0.4):
        return path
    if dice.happens(0.3):
        path += "/" + dice.choice(NAMES)
    for _ in range(dice.choice([0, 0, 0, 1, 1, 2])):
        steps = path.split("/")
        steps.insert(dice.randint(0, len(steps)), dice.choice([".", "..", "", "..", "none", dice.choice(NAMES)]))
        path = "/".join(steps)
    if path.startswith("/"):
        path = path[1:] or "."
    return dice.choice(["", "", "", "./", "{root}/", "{root}//", "../root/", "{beside}/alias/"]) + path


def _entry(dice: Dice, known: Sequence[str]) -> str:
    if dice.happens(0.1):
        return dice.choice(ENTRIES)
    if dice.happens(0.4) or not known:
        return dice.choice(["", "", "./", "{root}/"]) + _glob(dice, known).lstrip("/")
    return dice.choice(["", "", "./", "{root}/"]) + dice.choice(known) + dice.choice(["", "", "/"])


def _glob(dice: Dice, known: Sequence[str]) -> str:
    if known and dice.happens(0.5):
        path = list(dice.choice(known))
        for _ in range(dice.randint(0, 2)):
            path[dice.randrange(len(path))] = dice.choice(GLOBS)
        return "".join(path)
    return "".join(dice.choice(GLOBS) for _ in range(dice.randint(1, 5)))


def _regex(dice: Dice) -> str:
    if dice.happens(0.05):
        return dice.choice(BROKEN)
    atoms = [dice.choice(ATOMS) + dice.choice(["", "", "", "*", "+", "?"]) for _ in range(dice.randint(1, 4))]
    return (
        dice.choice(["", "", "^"])
        + "".join(atoms).replace("?*", "*").replace("?+", "*").replace("??", "?")
        + dice.choice(["", "", "$"])
    )
