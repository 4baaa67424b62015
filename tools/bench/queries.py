"""Queries that an agent could ask about a tree, derived from the tree itself by rule.

Identifiers and lines are sampled from the files in a fixed order, ripgrep says how often each stands in the tree, and
every class of queries is made from what fits it. Equal trees give equal queries.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tools.bench.ripgrep import count_lines, has_files

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{4,30}")
WORD_START = re.compile("[A-Za-z_]")
SAMPLED_FILES = 1200
SAMPLED_BYTES = 100_000
EACH = 4
# Number of identifiers that ripgrep counts: on a large tree each count takes seconds.
MAX_COUNTED = 120
DEFINITIONS = {
    ".py": [r"^\s*def {}\b", r"^\s*(async )?def {}\(", r"^class {}\b", r"^{} = "],
    ".c": [r"^\w[\w\s\*]*\b{}\(", r"^#define\s+{}\b", r"^(static )?struct {}\b", r"\b{} = "],
    ".go": [r"^func (\(\w+ \*?\w+\) )?{}\(", r"^type {} ", r"^\s*{}\s+:?= ", r"^func {}"],
    ".ts": [r"\bfunction {}\b", r"^\s*(export )?(const|let|var) {}\b", r"\b(class|interface) {}\b", r"\b{}\s*[:=]"],
}
DEFINITIONS[".h"] = DEFINITIONS[".c"]
DEFINITIONS[".js"] = DEFINITIONS[".ts"]


class TreeQuery(NamedTuple):
    """One grep request and the class that it is counted in."""

    kind: str
    pattern: str
    args: dict[str, Any]


# How many times faster than ripgrep the median of a class shall be.
GOALS = {"rare identifier": 100, "20-200 hits": 30, "common word, capped": 5, "definition regex": 15}
GOALS |= {"ignore case": 20, "alternation": 10, r"\bword\b": 10, "two literals": 15, "no literal": 3}
GOALS |= {"two or three bytes": 3, "one folder": 3, "one glob": 5, "context": 20, "ignore rules": 20, "2,000 hits": 3}


class Sample(NamedTuple):
    """Identifiers and lines of some files, with where they stand."""

    words: Counter[str]
    """How many of the sampled files have each identifier."""
    folders: dict[str, str]
    """The folder of the first sampled file that has an identifier."""
    lines: list[str]
    suffix: str
    """The most frequent suffix of the tree's files that has rules for definitions, else the most frequent one."""


def sample(root: Path) -> Sample:
    """Read every n-th file of the tree in the order of paths."""
    files = sorted(_visible(root))
    step = max(1, len(files) // SAMPLED_FILES)
    words: Counter[str] = Counter()
    folders: dict[str, str] = {}
    lines: list[str] = []
    for path in files[::step]:
        text = (root / path).read_bytes()[:SAMPLED_BYTES]
        if b"\0" in text or not text.isascii():
            continue
        found = dict.fromkeys(WORD.findall(text.decode()))
        words.update(list(found))
        for word in found:
            folders.setdefault(word, path.rpartition("/")[0] or ".")
        lines += [line for line in text.decode().split("\n")[10:200:37] if 20 < len(line) < 100 and "\r" not in line]
    suffixes = [suffix for suffix, _ in Counter(os.path.splitext(path)[1] for path in files).most_common()]
    known = [suffix for suffix in suffixes if suffix in DEFINITIONS]
    return Sample(words, folders, lines, (known or suffixes)[0])


def _visible(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(folder, name)
            if not name.startswith(".") and not os.path.islink(path) and os.path.isfile(path):
                yield os.path.relpath(path, root)


def by_frequency(found: Sample, root: Path) -> dict[str, list[str]]:
    """Identifiers by how many lines of the tree have them."""
    ranked = sorted(found.words, key=lambda word: (-found.words[word], word))
    classes: dict[str, list[str]] = {"rare": [], "some": [], "common": []}
    # Taken from the frequent end, from the rare end, and in between, so that every class fills soon.
    ends = [ranked[:200:3], ranked[-1 :: -max(1, len(ranked) // 97)], ranked[200 :: max(1, len(ranked) // 211)]]
    for word in islice((words[at] for at in range(200) for words in ends if at < len(words)), MAX_COUNTED):
        lines = count_lines(root, word)
        if 1 <= lines <= 5:
            classes["rare"].append(word)
        elif 20 <= lines <= 200:
            classes["some"].append(word)
        elif lines >= 2000:
            classes["common"].append(word)
        if all(len(words) >= 3 * EACH for words in classes.values()):
            break
    return classes


def derive(root: Path) -> list[TreeQuery]:
    """At least 50 queries, four of each class where the tree has enough to make them of."""
    found = sample(root)
    words = by_frequency(found, root)
    rare, some, common = words["rare"], words["some"], words["common"]
    regex = {"regex": True}
    made: list[TreeQuery] = []

    def add(kind: str, patterns: list[str], *args: dict[str, Any]) -> None:
        each = args or ({},)
        made.extend(TreeQuery(kind, one, each[at % len(each)]) for at, one in enumerate(patterns[:EACH]))

    add("rare identifier", rare)
    add("20-200 hits", some)
    add("common word, capped", common)
    rules = DEFINITIONS.get(found.suffix, DEFINITIONS[".c"])
    defined = zip(rules, [*rare[-4:-2], *some[-2:]], strict=True)
    add("definition regex", [rule.format(word) for rule, word in defined], regex)
    add("definition regex", [rules[0].format(r"\w+" + word[-5:]) for word in some[-4:-2]], regex)
    add("ignore case", [word.swapcase() for word in rare[2:4] + some[2:4]], {"case_sensitive": False})
    alternatives = [rare[4:7], some[3:6], [rare[0], some[0]], [some[1], common[0]]]
    add("alternation", ["|".join(words) for words in alternatives], regex)
    add(r"\bword\b", [rf"\b{word}\b" for word in (rare[1], some[1], some[2], common[1])], regex)
    add("two literals", list(_pairs(found.lines)), regex)
    add("no literal", [_shape(rare[3]), _shape(some[4]), *map(_general, found.lines[7:400:197])], regex)
    add("two or three bytes", list(_short(found)))
    folders = [{"paths": [found.folders[word]]} for word in (common[2], common[3], some[5], rare[5])]
    add("one folder", [common[2], common[3], some[5], rare[5]], *folders)
    add("one glob", [common[4], some[6], some[7], rare[6]], {"paths": [f"**/*{found.suffix}"]})
    add("context", [some[0], some[8], rare[7], rare[8]], {"context": 3})
    if has_files(root, gitignore=True):
        add("ignore rules", [rare[9], some[9], some[10], common[5]], {"gitignore": True})
    add("2,000 hits", common[-4:], {"max_hits": 2000})
    return made


def _pairs(lines: list[str]) -> Iterator[str]:
    """Two identifiers of one line with anything between."""
    for line in lines[5::53]:
        words = WORD.findall(line)
        if len(words) > 1 and words[0] != words[-1]:
            yield f"{words[0]}.*{words[-1]}"


def _shape(word: str) -> str:
    """A pattern without any literal for identifiers of one form."""
    parts = re.findall(r"[a-z]+|[A-Z]+|[0-9]+|_+", word)
    return r"\b" + "".join(f"[{_range(part)}]{{{len(part)}}}" for part in parts) + r"\b"


def _range(part: str) -> str:
    return "a-z" if part[0].islower() else "A-Z" if part[0].isupper() else "0-9" if part[0].isdigit() else "_"


def _general(line: str) -> str:
    r"""A line of which only the punctuation is known: identifiers are `\w+`, numbers are `\d+`."""
    parts = re.findall(r"[A-Za-z_]\w*|[0-9]+|\s+|.", line.strip())
    kinds = {"word": r"\w+", "number": r"\d+", "space": r"\s+"}
    return r"^\s*" + "".join(kinds.get(_kind(part), re.escape(part)) for part in parts)


def _kind(part: str) -> str:
    return "space" if part.isspace() else "number" if part[0].isdigit() else "word" if WORD_START.match(part) else ""


def _short(found: Sample) -> Iterator[str]:
    """Sequences of two and three bytes, frequent and rare ones."""
    text = "\n".join(found.lines)
    for length in (2, 3):
        grams = Counter(text[at : at + length] for at in range(len(text) - length))
        ranked = sorted(
            (gram for gram in grams if gram.strip() == gram and "\n" not in gram), key=lambda g: (-grams[g], g)
        )
        yield ranked[len(ranked) // 50]
        yield ranked[-1 - len(ranked) // 50]
