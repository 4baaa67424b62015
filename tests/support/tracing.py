"""A traced session in process: a real tree, a server that logs, a recorder, and the commands that read the log."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zeno.cli.parser import main
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server
from zeno.trace.recorder import Recorder
from zeno.trace.writer import TraceWriter


class Traced:
    """One session. Everything it does ends up in `log`."""

    def __init__(self, root: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.log = log
        self._capsys = capsys
        self._tree = Tree(str(root))
        self._writer = TraceWriter(str(log))
        self._server = Server(ColdCorpus(self._tree), self._writer)
        self.record = Recorder(str(log), str(root))
        self._number = 0

    def file(self, name: str, text: str) -> None:
        """Write a file of the tree."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")

    def ask(self, op: str, **args: Any) -> Any:
        """Ask the server; the whole answer."""
        self._number += 1
        return self.line({"id": f"r{self._number}", "op": op, "args": args})

    def line(self, value: Any) -> Any:
        """Send any value as a line."""
        return json.loads(self._server.answer(json.dumps(value).encode()))

    def events(self) -> list[dict[str, Any]]:
        """What the log holds."""
        return [json.loads(line) for line in self.log.read_bytes().splitlines()]

    def put(self, *events: dict[str, Any]) -> None:
        """Append events to the log as they are, whoever would write such a thing."""
        with self.log.open("a", encoding="utf-8") as stream:
            stream.writelines(json.dumps({"ts": "2030-01-01T00:00:00Z", **event}) + "\n" for event in events)

    def run(self, command: str, *flags: str) -> tuple[int, Any]:
        """Run `zeno trace COMMAND` on the log: exit status and report."""
        where = () if command == "lint" else ("--root", str(self.root))
        self._capsys.readouterr()
        status = main(["trace", command, str(self.log), *where, "--format", "json", *flags])
        return status, json.loads(self._capsys.readouterr().out)

    def text(self, command: str, *flags: str) -> tuple[int, str]:
        """The same as text."""
        where = () if command == "lint" else ("--root", str(self.root))
        self._capsys.readouterr()
        status = main(["trace", command, str(self.log), *where, *flags])
        return status, self._capsys.readouterr().out

    def close(self) -> None:
        """Let go of everything."""
        self.record.close()
        self._writer.close()
        self._tree.close()


@pytest.fixture
def traced(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Traced]:
    """A session on the root, logged beside it."""
    session = Traced(root, tmp_path / "trace.jsonl", capsys)
    yield session
    session.close()
