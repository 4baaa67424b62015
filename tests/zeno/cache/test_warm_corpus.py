"""Warm answers are cold answers: on random trees, through random edits, for random requests."""

import io
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from stringzilla import count as count_bytes

from tests.support.unwatched import few_watches, settle
from zeno.cache import located, text_store, tree_cache
from zeno.cache.warm_corpus import WarmCorpus
from zeno.errors import InvalidPattern
from zeno.files.tree import Tree
from zeno.index import piece_index, signatures
from zeno.index.piece_index import Block, Builder, Piece
from zeno.search import sink
from zeno.search.corpus import ColdCorpus
from zeno.search.query import Plan, plan_for_text
from zeno.search.sink import LineView
from zeno.session.server import Server
from zeno.text.file_lines import normal, raw_lines
from zeno.text.regex import searcher, text_scanner

# Few letters, so that patterns match; and everything that makes a line less simple than it looks.
PIECES = [b"a", b"b", b"ab", b"Ka", b"foo", b"FOO", b"0", b"42", b"_", b" ", b"\n", b"\n", b"\r\n", b"\r", b"\t"]
PIECES += [
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xe2\x82",
    "ſß".encode(),
    "\u212aa".encode(),
    "éÉ".encode(),
    b"\x00",
    b"abcdefgh",
]
PLAIN = [b"foo", b"ab", b"42", b"abcdefgh", b"kiss", b"KISS", b"_", b" ", b"\n"]
CONTENT = st.lists(st.sampled_from(PIECES) | st.sampled_from(PLAIN), max_size=30).map(b"".join)

ATOMS = [
    "a",
    "b",
    "k",
    "s",
    "K",
    "foo",
    ".",
    r"\w",
    r"\d",
    r"\s",
    r"\b",
    r"\B",
    "^",
    "$",
    r"\A",
    r"\z",
    "[a-f]",
    "[^a]",
]
ATOMS += [
    r"\D",
    "(?i:ka)",
    "(?:a|b)",
    "(?:foo|ab|)",
    "(?:abc|42)",
    "é",
    r"\x{e9}",
    r"\x41",
    r"\Qab.\E",
    "[[:upper:]]",
    "[0-9_]",
]
ATOMS += [
    r"\C",
    r"\pL",
    "[k-s]",
    "(?s:.)",
    "(?m:^)",
    "(?-m:$)",
    r"\n",
    r"[\n]",
    r"\r",
    "abcdefgh",
    "_",
    " ",
    "0",
    "(a)(b)",
]
SIMPLE = [
    "foo",
    "ab",
    "42",
    "abcdefgh",
    "kiss",
    "is",
    "[a-h]{3}",
    r"\d\d",
    "[fo]{3}",
    "(?:foo|kiss)",
    "ab(?:foo)?",
    "o+",
    "_",
]
PATTERN = st.recursive(
    st.sampled_from(SIMPLE) | st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "+?"])).map(
            lambda it: f"(?:{it[0]}){it[1]}"
        ),
        inner.map(lambda it: f"({it})"),
        inner.map(lambda it: f"(?i){it}"),
    ),
    max_leaves=8,
)


def bits_of(texts: list[Any]) -> Block:
    """The index of some pieces, computed in this process."""
    request, reply = io.BytesIO(), io.BytesIO()
    signatures.send(texts, len(texts), request)
    request.seek(0)
    assert signatures.main(request, reply) == 0
    reply.seek(0)
    bits = signatures.receive(len(texts), reply)
    assert bits is not None
    return Block(texts, bits)


class PromptBuilder(Builder):
    """Computes at once, so that a test need not wait for a process."""

    def start(self, blocks: list[list[Piece]]) -> None:
        for pieces in blocks:
            self._finished.append(Block(pieces, bits_of([piece.text for piece in pieces])._bits))


@pytest.fixture
def small(monkeypatch):
    """Sizes at which a tiny tree has many segments, pieces and blocks."""
    monkeypatch.setattr(text_store, "SEGMENT", 120)
    monkeypatch.setattr(piece_index, "PIECE", 60)
    monkeypatch.setattr(text_store, "OVERHEAD", 4)
    monkeypatch.setattr(piece_index, "BLOCK", 4)
    monkeypatch.setattr(piece_index, "SMALL_BLOCK", 2)
    monkeypatch.setattr(located, "GAP", 8)
    monkeypatch.setattr(piece_index, "MIN_INDEXED", 0)
    monkeypatch.setattr(tree_cache, "MAX_HELD_FILE", 150)
    monkeypatch.setattr(piece_index, "Builder", PromptBuilder)


@given(pattern=PATTERN, case_sensitive=st.booleans(), regex=st.booleans(), data=CONTENT)
@settings(max_examples=1500)
@example("kiss", False, False, "\u212ai\u017fs".encode())
@example("(?i)x?kiss", True, True, "\u212aiss".encode())
@example("(?:foo)?ab", True, True, b"ab")
@example("(?:foo)*42|kiss", True, True, b"42")
@example("[a-z]{12,}", True, True, b"abcdefghijkl")
@example(r"\d{4}-\d\d", True, True, b"2024-05")
@example("^$", True, True, b"a\n\n")
@example(r"a\z", True, True, b"a\r\nb")
@example("héé", True, False, "xhéé".encode())
@example("a\ufffdb", True, False, b"a\xffb")
@example("a\ufffdb+", True, True, b"a\xe2\x82b")
@example("[\ufffd]ab", False, True, b"\xffab")
def test_what_narrows_a_search_never_loses_a_line(pattern, case_sensitive, regex, data):
    matches = searcher(pattern, "pattern", case_sensitive=case_sensitive, literal=not regex)
    planned = Plan(pattern, regex=regex, case_sensitive=case_sensitive)
    text = normal(data)
    lines = text.split(b"\n")[:-1]
    assert [line.decode() for line in lines] == [line.decode("utf-8", "replace") for line in raw_lines(data)]
    wanted = [index for index, line in enumerate(lines) if matches(line)]
    every = [make() for _, make in planned._choices(text)]
    for scan in filter(None, [planned.scan, planned.scan_of([]), planned.scan_of([text * 40_000]), *every]):
        found, position = set(), 0
        while position < len(text) and 0 <= (start := scan(text, position, len(text))[0]) < len(text):
            found.add(text.count(b"\n", 0, start))
            position = text.index(b"\n", start) + 1
        assert set(wanted) <= found
    if planned.sift is not None and wanted:
        assert planned.sift(bytearray(data), 0, len(data))[0] >= 0
    if wanted:
        assert bits_of([text]).find(planned.demand) == 1


@given(pattern=PATTERN, case_sensitive=st.booleans(), regex=st.booleans(), data=CONTENT, joined=st.booleans())
@settings(max_examples=1500)
@example("foo\nab", True, False, b"foo\r\nab", False)
@example(r"foo\s+kiss", True, True, b"foo\nkiss", False)
@example("(?i)kiss\na", True, True, "\u212ai\u017fs\na".encode(), False)
@example("(?:foo|ab)\n42", True, True, b"ab\n42", False)
def test_what_narrows_a_multiline_search_never_loses_a_file(pattern, case_sensitive, regex, data, joined):
    pattern = f"{pattern}\n{pattern}" if joined else pattern
    try:
        scan = text_scanner(pattern, "pattern", case_sensitive=case_sensitive, literal=not regex)
    except InvalidPattern:
        return
    planned = plan_for_text(pattern, regex=regex, case_sensitive=case_sensitive)
    text = normal(data)
    if not list(LineView(text).spans(scan, lambda _: None)):
        return
    for scan in filter(None, [planned.scan, planned.scan_of([]), planned.scan_of([text * 40_000])]):
        assert 0 <= scan(text, 0, len(text))[0] < len(text)
    if planned.sift is not None:
        assert planned.sift(bytearray(data), 0, len(data))[0] >= 0
    # A piece of the index may hold any part of the file: some piece has what is demanded, however they are cut.
    pieces = [line + b"\n" for line in text.split(b"\n")[:-1]]
    assert bits_of(pieces).find(planned.demand)


@given(data=CONTENT, before=CONTENT, pattern=PATTERN)
@settings(max_examples=300)
def test_matches_over_lines_do_not_see_what_stands_around_the_file(data, before, pattern):
    scan = text_scanner(pattern, "pattern")
    head, text = normal(before), normal(data)
    part = LineView(head + text + b"foo\nab\n", len(head), len(head) + len(text))
    assert list(part.spans(scan, lambda _: None)) == list(LineView(text).spans(scan, lambda _: None))


@given(data=CONTENT, before=CONTENT, pattern=PATTERN, steps=st.lists(st.integers(-3, 3), max_size=5))
@settings(max_examples=300)
def test_lines_are_what_a_list_of_lines_would_be(data, before, pattern, steps):
    matches = searcher(pattern, "pattern")
    head, text = normal(before), normal(data)
    whole = head + text + b"foo\nab\n"
    model = [line.decode("utf-8", "replace").encode() for line in raw_lines(data)]
    for scan in (Plan(pattern, regex=True, case_sensitive=True).scan, None):
        lines = LineView(whole, len(head), len(head) + len(text))
        assert len(lines) == len(model)
        assert lines[0:] == model
        found = []
        for index in lines.find_matches(matches, scan):
            found.append(index)
            # Neighbours may be asked for between two hits.
            for step in steps:
                if 0 <= index + step < len(model):
                    assert lines[index + step] == model[index + step]
                    assert lines[max(0, index + step) : index + 2] == model[max(0, index + step) : index + 2]
        assert found == [index for index, line in enumerate(model) if matches(line)]
        # Lines that matched, and those between them, may be asked for in any order afterwards.
        for index in [*found[::-1], *range(len(model)), *found]:
            assert lines[index] == model[index]
            assert lines.offset(index) == sum(len(line) + 1 for line in model[:index])


NAMES = st.sampled_from(["a", "b", "a-b", "A", "é", ".h", "x.py", "x.txt", "d", "d.d", "\udcff", "l"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
IGNORE_FILES = st.tuples(
    st.sampled_from(["", "d/", "a/", "d/d/", ".h/"]),
    st.sampled_from([".gitignore", ".gitignore", ".ignore", ".git", ".git/info/exclude"]),
).map("".join)
IGNORES = st.lists(
    st.sampled_from([b"a", b"d/", b"*.py", b"!x.py", b"/a", b"**/b", b"d/a", b"!a", b"*", b"!*/", b".h", b"#", b"l"]),
    max_size=4,
).map(b"\n".join)
EDIT = st.one_of(
    st.tuples(st.just("write"), PATHS, CONTENT),
    st.tuples(st.just("append"), PATHS, CONTENT),
    st.tuples(st.just("replace"), PATHS, CONTENT),
    st.tuples(st.just("remove"), PATHS, st.just(b"")),
    st.tuples(st.just("mkdir"), PATHS, st.just(b"")),
    st.tuples(st.just("move"), PATHS, PATHS),
    st.tuples(st.just("link"), PATHS, PATHS),
    st.tuples(st.just("symlink"), PATHS, st.sampled_from(["a", "../a", "d/x.py", "/no/where", "d", "l", "../d/a"])),
    st.tuples(st.just("absolute"), PATHS, PATHS),
    st.tuples(st.sampled_from(["write", "write", "append", "replace"]), IGNORE_FILES, IGNORES),
    st.tuples(st.sampled_from(["remove", "mkdir"]), IGNORE_FILES, st.just(b"")),
    st.tuples(st.sampled_from(["move", "link"]), PATHS, IGNORE_FILES),
    st.tuples(st.just("symlink"), IGNORE_FILES, st.sampled_from(["a", "d", "x.py"])),
)
SELECTING = {
    "include_hidden": st.booleans(),
    "exclude_dirs": st.lists(NAMES.map(lambda name: name.replace("\udcff", "\0ff")), max_size=2),
    "exclude_globs": st.lists(st.sampled_from(["*.py", "a*", "d/**", "**/a", "{x,d}*"]), max_size=1),
    "max_files": st.integers(1, 12),
    "gitignore": st.booleans(),
}
GREP = st.fixed_dictionaries(
    {"pattern": PATTERN, "regex": st.booleans(), "case_sensitive": st.booleans()},
    optional={
        **SELECTING,
        "context": st.integers(0, 2),
        "max_hits": st.integers(1, 6),
        "multiline": st.booleans(),
        "output": st.sampled_from(["hits", "files", "count"]),
        "max_bytes": st.sampled_from([0, 10, 40, 200]),
        "paths": st.lists(st.sampled_from(["a", "d", "*.py", "**/x*", "d/d", "."]), min_size=1, max_size=2),
    },
)
LIST = st.fixed_dictionaries(
    {},
    optional={
        **SELECTING,
        "glob": st.sampled_from(["*", "*.py", "**/*.txt", "d/**", "a?b*", "{a,d}*", "**/a", "[!a]*", "x.py", "*a*"]),
        "regex": PATTERN,
        "max": st.integers(1, 6),
    },
)
REQUEST = st.one_of(st.tuples(st.just("grep"), GREP), st.tuples(st.just("list_files"), LIST))


def edit(root: Path, kind: str, path: str, what: Any) -> None:
    """Change the tree; what is not possible at this moment does nothing."""
    target = root / path
    try:
        if kind == "mkdir":
            target.mkdir(parents=True)
        elif kind == "remove":
            if target.is_dir() and not target.is_symlink():
                for below in sorted(target.rglob("*"), reverse=True):
                    below.rmdir() if below.is_dir() and not below.is_symlink() else below.unlink()
                target.rmdir()
            else:
                target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            if kind == "write":
                target.write_bytes(what)
            elif kind == "append":
                with target.open("ab") as file:
                    file.write(what)
            elif kind == "replace":
                (root / ".new").write_bytes(what)
                (root / ".new").rename(target)
            elif kind == "move":
                target.rename(root / what)
            elif kind == "link":
                os.link(root / what, target)
            elif kind == "symlink":
                target.symlink_to(what)
            elif kind == "absolute":
                target.symlink_to(root / what)
    except (OSError, ValueError):
        pass


def answer(server: Server, op: str, args: dict[str, Any]) -> Any:
    value = json.loads(server.answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))
    value.get("result", {}).pop("bytes_read", None)
    metrics = value.get("result", {}).pop("metrics", {})
    return value, {name: count for name, count in metrics.items() if name.startswith("files_skipped")}


def test_an_empty_file_hides_no_other_one(tmp_path):
    # They are read in this order, and searched in the order of their paths.
    contents = {"b.txt": "hay\n", "z.txt": "", "a/x.txt": "needle\n", "a/y.txt": "", "a/a/x.txt": "needle\n"}
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    with Tree(str(tmp_path)) as tree:
        corpus = WarmCorpus(tree, 1 << 20)
        while corpus.idle():
            pass
        found, _ = answer(Server(corpus), "grep", {"pattern": "needle"})
        corpus.close()
    assert [hit["path"] for hit in found["result"]["hits"]] == ["a/a/x.txt", "a/x.txt"]


def test_the_texts_of_every_other_small_file_are_looked_through_in_one_go():
    texts = [text_store.HeldText(f"{number:02}.txt") for number in range(100)]
    segment = text_store.Segment([(text, b"small\n") for text in texts])
    large = text_store.Segment([(text, b"large\n" * 1000) for text in texts[1::2]])
    assert located.clip_ranges([(0, len(segment.text))], texts[::2]) == [(0, len(segment.text) - 6)]
    assert len(located.clip_ranges([(0, len(large.text))], texts[1::4])) == 25


@pytest.mark.usefixtures("small")
@given(
    start=st.lists(EDIT, max_size=12),
    rounds=st.lists(
        st.tuples(
            st.lists(EDIT, max_size=3), st.sampled_from([0, 1, 2, 1000]), st.lists(REQUEST, min_size=1, max_size=3)
        ),
        min_size=1,
        max_size=4,
    ),
    cache_bytes=st.sampled_from([150, 1 << 20]),
    watches=st.sampled_from([1000, 1000, 2, 0]),
)
@settings(max_examples=160, suppress_health_check=list(HealthCheck))
def test_warm_and_cold_answer_alike(start, rounds, cache_bytes, watches):
    with TemporaryDirectory() as folder, few_watches(watches):
        root = Path(folder)
        for change in start:
            edit(root, *change)
        with Tree(folder) as tree:
            corpus = WarmCorpus(tree, cache_bytes)
            warm, cold = Server(corpus), Server(ColdCorpus(tree))
            try:
                for edits, moments, requests in rounds:
                    for change in edits:
                        edit(root, *change)
                    if moments and watches < 1000:
                        settle(root)
                    for _ in range(moments):
                        if not corpus.idle():
                            break
                    for op, args in requests:
                        assert answer(warm, op, args) == answer(cold, op, args)
            finally:
                corpus.close()


def test_the_lines_of_a_file_are_counted_once(monkeypatch):
    """Every hit with context asks how many there are: counted each time, a request took minutes in a large file."""
    counted = []

    def count(*asked: Any) -> Any:
        counted.append(asked)
        return count_bytes(*asked)

    monkeypatch.setattr(sink, "count_bytes", count)
    view = LineView(b"a\nb\nc\n", 2)
    assert [len(view) for _ in range(5)] == [2] * 5
    assert len(counted) == 1


@given(text=st.lists(st.sampled_from([b"\n", b"a", b"\xff"]), max_size=200).map(b"".join), data=st.data())
def test_line_feeds_are_counted_as_bytes_counts_them(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert count_bytes(text, b"\n", start, end) == text.count(b"\n", start, end)
