"""Operations on single files give the same answers from memory and from disk."""

import json
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.planting import prepare
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.batch_open import CHUNK
from zeno.files.open_file import HeldFile
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

PIECES = [
    b"a",
    b"def f():",
    "\u00e9".encode(),
    b"\xff",
    b"\xe2\x82",
    b"\r",
    b"\r\n",
    b"\n",
    b"\xef\xbb\xbf",
    b"\0",
    b"\xff\xfe",
]
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {"path": "a.py", "end_line": 99, "receipts": True}),
    ("read_file", {"path": "link.py", "start_line": 2, "end_line": 3}),
    ("read_file", {"path": "./a.py", "end_line": 4, "max_line_chars": 2, "max_chars": 5}),
    ("peek", {"path": "a.py", "head_lines": 2, "tail_lines": 2}),
    ("peek", {"path": "link.py", "head_lines": 1, "tail_lines": 3, "max_line_chars": 1}),
    ("extract_symbols", {"path": "a.py"}),
    ("list_files", {"tree": True}),
    ("verify", {"citations": [{"path": "a.py", "start_line": 1, "end_line": 1, "text": "a"}]}),
]


def ask(server: Server, op: str, args: dict[str, Any]) -> Any:
    answer = json.loads(server.answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))
    answer.get("result", {}).pop("metrics", None)
    return answer


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_single_files_are_the_same_from_memory_and_from_disk(root, room_to_watch, content):
    (root / "a.py").write_bytes(content)
    (root / "link.py").unlink(missing_ok=True)
    (root / "link.py").symlink_to("a.py")
    with (
        Tree(str(root)) as tree,
        closing(Server(corpus := WarmCorpus(tree, 1 << 20))) as warm,
        closing(Server(ColdCorpus(tree))) as cold,
    ):
        prepare(warm)
        text = b"\0" not in content and not content.startswith(b"\xff\xfe")
        assert (corpus.find_text("a.py") is not None) == text
        for op, args in REQUESTS:
            assert ask(warm, op, args) == ask(cold, op, args), (op, args)


def test_a_change_is_seen_by_the_next_request(root, room_to_watch):
    (root / "a.py").write_text("old\n")
    with Tree(str(root)) as tree, closing(Server(corpus := WarmCorpus(tree, 1 << 20))) as server:
        prepare(server)
        assert corpus.find_text("a.py") is not None
        (root / "a.py").write_text("new\n")
        assert ask(server, "read_file", {"path": "a.py"})["result"]["text"] == "new"


@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_chunks_from_the_end_are_the_text(size):
    text = b"x" * (size - 1) + b"\n" if size else b""
    held = HeldFile("a", text, size)
    assert b"".join(reversed(list(held.chunks_backwards()))) == text == held.read_text()
