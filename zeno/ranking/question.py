"""Read a query: words, identifiers or a whole bug report."""

import re
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from zeno.ranking.rules import BACKQUOTED, COMPOUND, ENVIRONMENT, FIRST_LINE, HEADING_WORDS, REPEATED, STOP_WORDS
from zeno.ranking.words import RUN, split_run, stem

_FENCE = re.compile(rb"\s*```")
# One `#` before anything else is code: a directive or a comment.
_HEADING = re.compile(rb"\s*(?:##|#\s|\*\*)")
# A heading with its text on the same line, such as `**Version:** 3.1`.
_LABEL = re.compile(rb"\s*(\*\*[^*]+\*\*)[\s:]*[^\s:]")
_BACKQUOTED = re.compile(rb"`([^`\n]+)`")
_FILE = re.compile(rb"[0-9A-Za-z_\x80-\xff./-]*[0-9A-Za-z_\x80-\xff-]\.[A-Za-z][0-9A-Za-z]{0,7}\b")


class Term(NamedTuple):
    """A word that counts."""

    spelling: str
    """In lower case, as the query has it first."""
    weight: int
    """Its weight beside that of its rarity, in hundredths."""


class Question(NamedTuple):
    """The parts of a query that the ranker looks at."""

    terms: dict[bytes, Term]
    """The words that count, by stem, in the order of the query."""
    joined_stems: frozenset[bytes]
    """Stems of one word, and of two adjacent ones written as one: a file may be named so."""
    only: bytes | None
    """The identifier, if the query has no other word."""
    compounds: frozenset[bytes]
    """Identifiers of several parts, as they are written."""
    names: frozenset[bytes]
    """All identifiers and words in lower case."""
    joined: frozenset[bytes]
    """Two adjacent words in lower case, written as one."""
    files: frozenset[bytes]
    """Names of files in lower case, with the directory before them where the query has it."""
    is_report: bool
    """Whether it has several lines, of which the first is a title."""


def read_query(query: str) -> Question:
    """Return what a query asks for."""
    raw = _leave_out_environment(query.encode())
    runs = RUN.findall(raw)
    quoted = {run for part in _BACKQUOTED.findall(raw) for run in RUN.findall(part)}
    spoken = [run for run in runs if run.lower() not in STOP_WORDS]
    spellings: dict[bytes, str] = {}
    weights: dict[bytes, int] = {}
    words: list[bytes] = []
    compounds = set()
    for run in spoken:
        parts = split_run(run)
        is_compound = len(parts) > 1
        if is_compound:
            compounds.add(run)
        weight = (COMPOUND if is_compound else 100) * (BACKQUOTED if run in quoted else 100) // 100
        for part in parts:
            # A single character is a word only where there is nothing else.
            if len(part) == 1 and len(spoken) > 1:
                continue
            words.append(part)
            key = stem(part)
            spellings.setdefault(key, part.decode())
            weights[key] = max(weight, weights.get(key, 0))
    stems = list(map(stem, words))
    title, _, rest = raw.strip().partition(b"\n")
    first = {stem(part) for run in RUN.findall(title) for part in split_run(run)} if rest else set()
    times = Counter(stems)
    terms = {}
    for key, weight in weights.items():
        in_title = weight * (FIRST_LINE if key in first else 100) // 100
        # Twice or three times count as one step, up to seven times as two.
        terms[key] = Term(spellings[key], in_title * (100 + REPEATED * (times[key].bit_length() - 1)) // 100)
    return Question(
        terms,
        frozenset([*stems, *(first + second for first, second in pairwise(stems))]),
        spoken[0] if len(set(spoken)) == 1 else None,
        frozenset(compounds),
        frozenset(run.lower() for run in spoken if len(run) > 2),
        frozenset(first + second for first, second in pairwise(words)),
        frozenset(_end(name.lower()) for name in _FILE.findall(raw)),
        bool(rest),
    )


def _leave_out_environment(query: bytes) -> bytes:
    """Return a report without the sections that say on which systems and versions it was seen, not what is wrong.

    A label that is followed by text on its line is a section of this line.
    """
    title, *lines = query.strip().split(b"\n")
    read, is_read, in_code = [title], True, _FENCE.match(title) is not None
    for line in lines:
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and _HEADING.match(line):
            label = _LABEL.match(line)
            heading = RUN.findall((label[1] if label else line).lower())
            is_about_other = len(heading) > HEADING_WORDS or ENVIRONMENT.isdisjoint(heading)
            if label and not is_about_other:
                continue
            is_read = is_about_other
        if is_read:
            read.append(line)
    return b"\n".join(read)


def _end(path: bytes) -> bytes:
    """Return the last two steps of a path, or the one that it has."""
    return b"/".join([step for step in path.split(b"/") if step not in (b"", b".", b"..")][-2:])
