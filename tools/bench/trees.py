"""Trees to measure on: source-like text from a seed, the same bytes every time.

Identifiers follow Zipf's law, sizes are log-normal around 7 KB, directories nest a few levels deep; one file in fifty
is binary, some have Windows line ends, a few are not UTF-8, a few are hidden, and ignore files rule out some.
`python -m tools.bench.trees DIR FILES` writes one.
"""

import random
import sys
from itertools import accumulate
from pathlib import Path

VOCABULARY = 30_000
TOKENS = 400_000
LEVELS = ["pkg", "mod", "lib", "src"]
SUFFIXES = [".py", ".go", ".ts", ".c", ".h", ".md", ".json", ".rs"]
IGNORED = "*.o\n*.log\nbuild/\n/dist\n*_0001??.md\n!file_000150.md\npkg3/**/*.h\n"
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwxz", "aeiou"
_SHAPES = [
    "    {a} = {b}({c}, {d})",
    "def {a}({b}, {c}):",
    "        return {a}.{b}[{c}]",
    "    if {a} != {b} and {c} > {n}:",
    "# {a} {b} {c} {d}",
    'import {a} from "{b}/{c}"',
    "    {a}: {b},",
    '    "{a}": {n},',
    "}}",
    "",
    "        {a}->{b}({c});",
    "func ({a} *{b}) {c}({d} int) error {{",
    "The {a} {b} is {c} when {d}.",
    "    self.{a} = {b}  # {c} {d} {n}",
]


def write(root: Path, files: int, seed: int = 1) -> None:
    """Write a tree of that many files."""
    rng = random.Random(seed)
    tokens = _tokens(rng)
    for number in range(files):
        path = root / _place(rng, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_content(rng, tokens, number))
    for folder in [root, *sorted(root.glob("pkg*/mod*"))[::10]]:
        (folder / ".gitignore").write_text(IGNORED)


def _tokens(rng: random.Random) -> list[str]:
    """A long run of identifiers, the common ones often."""
    words = {"return", "value", "error", "index", "result"}
    while len(words) < VOCABULARY:
        words.add(_word(rng))
    vocabulary = sorted(words)
    rng.shuffle(vocabulary)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(vocabulary))))
    return rng.choices(vocabulary, cum_weights=weights, k=TOKENS)


def _word(rng: random.Random) -> str:
    """An identifier: one to three parts of syllables, in one of three styles."""
    parts = []
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        syllables = [rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(rng.randint(1, 3))]
        parts.append("".join(syllables) + rng.choice(_CONSONANTS))
    style = rng.random()
    if style < 0.6:
        return "_".join(parts)
    return "".join(part.title() for part in parts) if style < 0.9 else "_".join(parts).upper()


def _place(rng: random.Random, number: int) -> str:
    depth = rng.choice([1, 2, 2, 3, 3, 4])
    # About ten files share a directory, and directories share parents, however large the tree is.
    folders = [f"{LEVELS[level]}{(number // 10) // 4 ** (3 - level) % 97}" for level in range(depth)]
    if number % 500 == 7:
        folders.insert(0, ".hidden")
    return "/".join([*folders, f"file_{number:06d}{rng.choice(SUFFIXES)}"])


def _content(rng: random.Random, tokens: list[str], number: int) -> bytes:
    size = min(int(rng.lognormvariate(8.3, 1.0)), 400_000)
    if number % 50 == 3:
        return rng.randbytes(size) + b"\0"
    lines: list[str] = []
    length = 0
    position = rng.randrange(TOKENS - 5)
    while length < size:
        a, b, c, d = tokens[position : position + 4]
        position = (position + rng.randint(3, 9)) % (TOKENS - 5)
        line = rng.choice(_SHAPES).format(a=a, b=b, c=c, d=d, n=rng.randrange(10_000))
        lines.append(line)
        length += len(line) + 1
    # Every file has names of its own, as source does.
    for _ in range(3):
        lines.insert(rng.randrange(len(lines) + 1), f"{_word(rng)}_{_word(rng)} = {rng.getrandbits(32)}")
    if number % 40 == 5:
        lines.insert(0, "Größe, naïveté, 検索, поиск")
    text = ("\r\n" if number % 60 == 11 else "\n").join(lines) + "\n"
    return text.encode("latin-1", "replace") if number % 700 == 5 else text.encode()


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
