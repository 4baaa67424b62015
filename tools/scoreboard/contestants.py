"""The tools that are asked, and how good their answers are. Each has the tree of one commit and answers with files, the
best one first."""

import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Collection, Sequence
from math import log, log2
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tools.bench.ripgrep import PROGRAM
from tools.bench.servers import ZENO, Server
from zeno.interfaces.result_text import text_of
from zeno.ranking.rules import STOP_WORDS

WORD = re.compile(r"[A-Za-z0-9_]+")
FILES = 10
# Larger files are left out, as `search` does.
MAX_BYTES = 2_000_000
# The usual estimate of tokens.
CHARACTERS_A_TOKEN = 4


class Answer(NamedTuple):
    """Files, best first."""

    paths: list[str]
    tokens: list[int] | None
    """How many tokens the tool has printed when it has shown each file; None where it prints nothing but paths."""


class Contestant(Protocol):
    """A tool on one tree."""

    def ask(self, query: str) -> Answer:
        """Return the best files for a query."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Zeno:
    """A server over its pipes, as agents have it. `ready` is False where its first answer is taken cold."""

    def __init__(self, root: Path, *, ready: bool) -> None:
        self._server = Server([*ZENO, str(root)])
        if ready:
            self._server.warm()

    def ask(self, query: str) -> Answer:
        """Return the files of `search`, and how long its text for models is with each."""
        _, result = self._server.ask("search", query=query, max_files=1_000_000, max_line_chars=200)
        paths = [one["path"] for one in result["results"]]
        text = text_of("search", result)
        shown = [text.find(f"{path}:") for path in paths]
        ends = [*shown[1:], len(text)]
        return Answer(paths, [end // CHARACTERS_A_TOKEN for end in ends])

    def close(self) -> None:
        """End the server."""
        self._server.__exit__()


class Ripgrep:
    """Files with the most lines that have a word of the query, by `rg --count`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def ask(self, query: str) -> Answer:
        """Run it once."""
        words = {word.lower() for word in WORD.findall(query)}
        asked = sorted(word for word in words if word.encode() not in STOP_WORDS and len(word) > 1)
        flags = [argument for word in asked for argument in ("-e", word)]
        if not flags:
            return Answer([], None)
        command = [PROGRAM or "rg", "--count", "--ignore-case", "--word-regexp", "--fixed-strings", *flags, "."]
        lines = subprocess.run(command, cwd=self._root, capture_output=True, text=True).stdout.splitlines()
        counts = ((path.removeprefix("./"), int(count)) for path, _, count in (line.rpartition(":") for line in lines))
        return Answer([path for path, _ in sorted(counts, key=lambda pair: (-pair[1], pair[0]))[:FILES]], None)

    def close(self) -> None:
        """There is nothing to end."""


def read_texts(root: Path) -> dict[str, str]:
    """Return the texts below a folder by path, as the plain rankers have them."""
    texts = {}
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if file.is_file() and "/." not in f"/{path}" and file.stat().st_size <= MAX_BYTES:
            data = file.read_bytes()
            if b"\0" not in data[:8192]:
                texts[path] = data.decode(errors="replace")
    return texts


class PlainBm25:
    """BM25 over whole files with k1 1.2 and b 0.75; words in lower case as they are written, without stop words."""

    def __init__(self, root: Path) -> None:
        self._words = {path: Counter(_words(text)) for path, text in read_texts(root).items()}
        self._having = Counter(word for words in self._words.values() for word in words)
        self._sizes = {path: words.total() for path, words in self._words.items()}
        self._usual = sum(self._sizes.values()) / max(len(self._sizes), 1)

    def ask(self, query: str) -> Answer:
        """Score every file."""
        count, asked = len(self._words), sorted(set(_words(query)))
        rarity = {word: log(1 + (count - self._having[word] + 0.5) / (self._having[word] + 0.5)) for word in asked}
        scores = {}
        for path, words in self._words.items():
            slack = 1.2 * (0.25 + 0.75 * self._sizes[path] / self._usual)
            score = sum(rarity[word] * 2.2 * words[word] / (words[word] + slack) for word in asked if words[word])
            if score:
                scores[path] = score
        return Answer(sorted(scores, key=lambda path: (-scores[path], path))[:FILES], None)

    def close(self) -> None:
        """There is nothing to end."""


def _words(text: str) -> list[str]:
    return [word for word in map(str.lower, WORD.findall(text)) if word.encode() not in STOP_WORDS]


_BM25S = """
import json, sys, bm25s
texts = json.loads(sys.stdin.readline())
paths = list(texts)
retriever = bm25s.BM25()
retriever.index(bm25s.tokenize(list(texts.values()), stopwords="en", show_progress=False), show_progress=False)
print(flush=True)
for line in sys.stdin:
    tokens = bm25s.tokenize(json.loads(line), stopwords="en", show_progress=False)
    found, _ = retriever.retrieve(tokens, k=min(10, len(paths)), show_progress=False)
    print(json.dumps([paths[int(one)] for one in found[0]]), flush=True)
"""


class Bm25s:
    """The library bm25s with its defaults, in a process of the environment that has it."""

    def __init__(self, root: Path, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-c", _BM25S], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._exchange(read_texts(root))

    def ask(self, query: str) -> Answer:
        """Ask the process."""
        return Answer(json.loads(self._exchange(query)), None)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _exchange(self, value: object) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


def start(name: str, root: Path, python: str, *, ready: bool) -> tuple[Contestant, float]:
    """Return a contestant on a tree, and the seconds until it was ready. `python` is an interpreter with bm25s."""
    begun = time.perf_counter()
    contestant: Contestant
    if name.startswith("zeno"):
        contestant = Zeno(root, ready=ready)
    elif name.startswith("ripgrep"):
        contestant = Ripgrep(root)
    elif name.startswith("bm25s"):
        contestant = Bm25s(root, python)
    else:
        contestant = PlainBm25(root)
    return contestant, time.perf_counter() - begun


def compute_ndcg(paths: Sequence[str], right: Collection[str]) -> float:
    """Return NDCG@10: right files count the more the earlier they come; 1 where nothing could come earlier."""
    gain = sum(1 / log2(rank + 2) for rank, path in enumerate(paths[:FILES]) if path in right)
    return gain / sum(1 / log2(rank + 2) for rank in range(min(FILES, len(right))))


def score_answer(answer: Answer, right: Collection[str], milliseconds: float) -> dict[str, Any]:
    """Return the scores of one answer. Accuracy is whether a right file is among the first so many."""
    ranks = [rank for rank, path in enumerate(answer.paths[:FILES]) if path in right]
    first = min(ranks, default=FILES)
    tokens = None if answer.tokens is None or first == FILES else answer.tokens[first]
    return {
        "ndcg_10": round(compute_ndcg(answer.paths, right), 6),
        **{f"acc_{count}": int(first < count) for count in (1, 5, 10)},
        "tokens": tokens,
        "ms": round(milliseconds, 3),
    }
