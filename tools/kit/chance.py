"""Random trees, as the kit describes trees, and random requests about them. Equal seeds give equal results."""

from base64 import b64encode
from collections.abc import Callable, Sequence
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


def request(dice: Dice, known: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """A random request about a tree with these paths."""
    op = dice.choice(
        ["list_files", "list_files", "read_file", "peek", "grep", "grep", "grep", "extract_symbols", "stat"]
    )
    makers: dict[str, Callable[[], Any]] = {
        "path": lambda: _path(dice, known),
        "paths": lambda: _some(dice, (lambda: _entry(dice, known)) if op == "grep" else lambda: _path(dice, known), 1),
        "glob": lambda: _glob(dice, known),
        "regex": (lambda: dice.happens(0.5)) if op == "grep" else lambda: _regex(dice),
        "pattern": lambda: dice.choice(WORDS),
        "exclude_dirs": lambda: _some(dice, lambda: dice.choice(NAMES), 0),
        "exclude_globs": lambda: _some(dice, lambda: _glob(dice, known), 0),
        "include_hidden": lambda: dice.happens(0.7),
        "case_sensitive": lambda: dice.happens(0.4),
        "context": lambda: dice.choice([0, 1, 2, 9]),
        "ranges": lambda: [_range(dice, known) for _ in range(dice.randint(1, 3))],
        "sort": lambda: dice.choice(["path", "mtime"]),
        "tree": lambda: dice.happens(0.5),
        "depth": lambda: dice.choice([1, 2, 3]),
        "output": lambda: dice.choice(["hits", "files", "count"]),
        "multiline": lambda: dice.happens(0.8),
        "max_bytes": lambda: dice.choice([0, 1, 5, 20, 100]),
        "head_lines": lambda: dice.choice([0, 1, 2, 5, 60]),
        "tail_lines": lambda: dice.choice([0, 1, 2, 5, 60]),
    }
    args: dict[str, Any] = {}
    for name, share in SHARES[op].items():
        if dice.happens(share):
            args[name] = makers.get(name, lambda: dice.choice(NUMBERS))()
    if op == "grep" and args.get("regex"):
        args["pattern"] = _regex(dice)
    if op == "grep" and args.get("multiline") and args["pattern"] not in BROKEN and dice.happens(0.8):
        gap = dice.choice(GAPS) if args.get("regex") else "\n"
        args["pattern"] += gap + (_regex(dice) if args.get("regex") else dice.choice(WORDS))
    if op == "read_file" and "start_line" in args and "end_line" in args and dice.happens(0.8):
        args["end_line"] = max(args["start_line"], args["end_line"])
    if op == "stat" and not args:
        args["path"] = _path(dice, known)
    if dice.happens(0.06):
        args[dice.choice([*SHARES[op], "none"])] = dice.choice(WRONG)
    return op, args


_RULES = {"max_files": 0.2, "include_hidden": 0.5, "exclude_dirs": 0.2, "exclude_globs": 0.2}
_GREP = {
    "output": 0.3,
    "multiline": 0.3,
    "regex": 0.5,
    "case_sensitive": 0.4,
    "paths": 0.4,
    "max_hits": 0.4,
    "max_bytes": 0.2,
    "context": 0.3,
}
SHARES: dict[str, dict[str, float]] = {
    "list_files": {"glob": 0.5, "regex": 0.3, "max": 0.3, "sort": 0.2, "tree": 0.3, "depth": 0.2, **_RULES},
    "read_file": {"path": 1, "start_line": 0.5, "end_line": 0.6, "max_lines": 0.4, "ranges": 0.2},
    "peek": {"path": 1, "head_lines": 0.6, "tail_lines": 0.6},
    "grep": {"pattern": 1, **_GREP, **_RULES},
    "extract_symbols": {"path": 1, "max_symbols": 0.4},
    "stat": {"path": 0.6, "paths": 0.6},
}
"""The arguments of each operation, and how often one is given."""


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
