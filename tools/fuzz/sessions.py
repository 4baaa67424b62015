"""A target that drives a whole session: a warm server with a budget and a trace, edits between requests, and cursors.

The bytes are a program: each step is an edit, a request, the next page of the last request, or a moment of rest. A
model that knows only the rules says what must come: the answers of a server that caches nothing, the budget that
remains, the pages of a list one after the other, and a trace that has every exchange in its order.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from tools.fuzz.target import Target, make_folder
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.tree import Tree
from zeno.options import Options
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server
from zeno.trace import events
from zeno.trace.digest import digest_of
from zeno.trace.writer import TraceWriter

_MOST_STEPS = 40
_PLENTY = 1 << 40
_NAMES = ("a.txt", "b.py", "d/c.txt", "d/e/f.md", ".h", ".gitignore", "d/.gitignore", "é.txt")
_TEXTS = (b"alpha\nbeta\n", b"", b"alpha", b"d\n*.py\n", b"\xff\n", b"a\0b", b"x\r\ny\r\n", b"alpha\n" * 30)
_PATTERNS = ("alpha", "a", "^$", "(?i)ALPHA|x", "zzz", "(")
_LIMITS = (1, 2, 5, 100)
_BUDGETS = (None, 1, 3, 20, 400)

Step = dict[str, Any]
_folder = cache(lambda: make_folder("session"))


class _Program:
    """Reads choices from bytes; zero where they have ended."""

    def __init__(self, data: bytes) -> None:
        self._data = iter(data)
        self.left = len(data)

    def choice(self, options: Any) -> Any:
        self.left -= 1
        return options[next(self._data, 0) % len(options)]


class _Session:
    """A server under test, the model beside it, and what was asked."""

    def __init__(self, folder: Path, program: _Program, stack: ExitStack) -> None:
        self._root, self._program = folder / "root", program
        self._root.mkdir()
        self._log = folder / "log"
        tree = stack.enter_context(Tree(str(self._root)))
        self._left = {name: program.choice(_BUDGETS) for name in ("ops", "lines", "bytes")}
        writer = TraceWriter(str(self._log))
        stack.callback(writer.close)
        self._corpus = WarmCorpus(tree, 1 << 20)
        stack.callback(self._corpus.close)
        limits = {f"max_{name}": left for name, left in self._left.items()}
        self._server = Server(self._corpus, writer, Options(**limits))
        self._reference = Server(
            ColdCorpus(stack.enter_context(Tree(str(self._root)))),
            options=Options(max_ops=_PLENTY, max_lines=_PLENTY, max_bytes=_PLENTY),
        )
        self._spent = dict.fromkeys(self._left, _PLENTY)
        self._exchanges: list[tuple[str, Any]] = []
        self._pages: tuple[str, Step, list[Any], str] | None = None

    def step(self) -> None:
        choose = self._program.choice
        action = choose(
            (self.write, self.remove, self.rename, self.search, self.list_files, self.read, self.page, self.rest)
        )
        action()

    def write(self) -> None:
        path = self._root / self._program.choice(_NAMES)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._program.choice(_TEXTS))
        self._pages = None

    def remove(self) -> None:
        (self._root / self._program.choice(_NAMES)).unlink(missing_ok=True)
        self._pages = None

    def rename(self) -> None:
        old, new = (self._root / self._program.choice(_NAMES) for _ in range(2))
        if old.exists():
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)
        self._pages = None

    def search(self) -> None:
        choose = self._program.choice
        args = {"pattern": choose(_PATTERNS), "regex": True, "max_hits": choose(_LIMITS), "context": choose((0, 1))}
        self._begin("grep", args | self._rules())

    def list_files(self) -> None:
        self._begin("list_files", {"max": self._program.choice(_LIMITS)} | self._rules())

    def read(self) -> None:
        self._ask("read_file", {"path": self._program.choice((*_NAMES, "d", "no")), "max_lines": 5, "receipts": True})

    def page(self) -> None:
        """Go on where the last list was cut."""
        if self._pages is None:
            return
        op, args, seen, cursor = self._pages
        self._go_on(op, args, seen, self._ask(op, {**args, "cursor": cursor}))

    def rest(self) -> None:
        for _ in range(self._program.choice((1, 50))):
            self._server.idle()

    def _rules(self) -> Step:
        return {"include_hidden": self._program.choice((False, True)), "gitignore": self._program.choice((False, True))}

    def _begin(self, op: str, args: Step) -> None:
        self._pages = None
        self._go_on(op, args, [], self._ask(op, args))

    def _go_on(self, op: str, args: Step, seen: list[Any], result: Step | None) -> None:
        """Collect pages; after the last, they must be what the whole list is."""
        self._pages = None
        if result is None:
            return
        key = {"grep": "hits", "list_files": "files"}[op]
        seen = seen + result[key]
        if "cursor" in result:
            self._pages = (op, args, seen, result["cursor"])
            return
        limit = {"grep": "max_hits", "list_files": "max"}[op]
        whole = json.loads(self._reference.answer(_line("0", op, {**args, limit: 1000})))["result"]
        self._spent = whole["metrics"]["budget"]
        assert [_bare(one) for one in seen] == [_bare(one) for one in whole[key]], "pages are not the whole"

    def _ask(self, op: str, args: Step) -> Step | None:
        """Ask the server and the reference, and compare; return the result."""
        number = str(len(self._exchanges))
        answer = json.loads(self._server.answer(_line(number, op, args)))
        expected = json.loads(self._reference.answer(_line(number, op, args)))
        self._exchanges.append((op, answer))
        if 0 in self._left.values():
            assert answer["error"]["code"] == "budget_exhausted"
            return None
        self._take("ops", 1)
        if not expected["ok"]:
            assert answer == expected
            return None
        after = expected["result"].pop("metrics")["budget"]
        cost = {name: self._spent[name] - after[name] for name in ("lines", "bytes")}
        self._spent = after
        if any(self._left[name] is not None and cost[name] > self._left[name] for name in cost):
            assert answer["error"]["code"] == "budget_exhausted"
            return None
        for name, amount in cost.items():
            self._take(name, amount)
        result: Step = dict(answer["result"])
        left = result.pop("metrics").get("budget", {})
        assert left == {name: rest for name, rest in self._left.items() if rest is not None}
        assert result == expected["result"]
        return result

    def _take(self, name: str, amount: int) -> None:
        if self._left[name] is not None:
            self._left[name] -= amount

    def check_trace(self) -> None:
        """The log has every exchange, in order, with the digest of its result."""
        with self._log.open("rb") as stream:
            entries = list(events.read(stream))
        assert all(entry.problem is None for entry in entries)
        pairing = events.Pairing()
        told = [one for one in events.exchanges(entries, pairing) if isinstance(one, events.Exchange)]
        assert not pairing.list_unanswered()
        assert [one.op for one in told] == [op for op, _ in self._exchanges]
        for one, (_, answer) in zip(told, self._exchanges, strict=True):
            if answer["ok"]:
                assert one.answer["digest"] == digest_of(answer["result"])
            else:
                assert one.answer["error"] == answer["error"]


def session(data: bytes) -> None:
    """Run a program of edits and requests."""
    folder = _folder()
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    program = _Program(data)
    with ExitStack() as stack:
        run = _Session(folder, program, stack)
        for _ in _steps(program):
            run.step()
        run.check_trace()


def _steps(program: _Program) -> Iterator[int]:
    for number in range(_MOST_STEPS):
        if program.left <= 0:
            return
        yield number


def _line(number: str, op: str, args: Step) -> bytes:
    return json.dumps({"id": number, "op": op, "args": args}).encode()


def _bare(item: Any) -> Any:
    """An item without context, which a page may cut."""
    return item if isinstance(item, str) else (item["path"], item["line"], item["text"])


_WRITES = bytes((0, 0, 0, 0, 0, 2, 0, 0, 3, 7, 0, 5, 3))
TARGETS = {
    "session": Target(
        session,
        (
            bytes(3) + _WRITES + bytes((7, 1, 3, 0, 1, 0, 0, 0, 6, 6, 6, 4, 1, 1, 1, 6, 6)),
            bytes((4, 3, 4)) + _WRITES + bytes((3, 1, 0, 1, 0, 0, 5, 0, 2, 0, 2, 4, 0, 1, 0, 6, 1, 0, 6)),
            bytes((2, 0, 0)) + _WRITES + bytes((4, 2, 0, 0, 3, 4, 1, 1, 1, 1)),
        ),
        (_WRITES, bytes((7, 1)), bytes((6, 6)), bytes((3, 0, 1, 0, 0, 0)), bytes((4, 1, 1, 1)), bytes((5, 3))),
        "a test in tests/zeno/session/test_server.py",
    )
}
