"""The table of facts: kept or not, the same facts; a text that ends every process costs its own tree."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.facts import read_facts
from zeno.code import helper, pool
from zeno.code.extract import apply_rules, extract
from zeno.code.facts import Facts
from zeno.code.languages import MAX_BYTES
from zeno.code.pool import ATTEMPTS, SourceText
from zeno.code.table import FactTable

FILES = [
    SourceText("a.py", b"def f(): pass\n"),
    SourceText("b/a.py", b"def f(): pass\n"),
    SourceText("a.go", b"package a\n"),
    SourceText("a.md", b"# Title\n"),
    SourceText("a.txt", b"text\n"),
    SourceText("c.py", b"class C: pass\n"),
]


def _nothing() -> None:
    pass


def _ask(table: FactTable, files: list[SourceText]) -> list[Facts]:
    return [read_facts(kept) for kept in table.of_all(files, _nothing)]


class _Held:
    """Holds a text, as the cache does."""

    words = -1
    digest = b""


@pytest.fixture
def facts():
    facts = FactTable()
    yield facts
    facts.close()


def test_facts_by_rules_are_kept_as_those_of_grammars(facts):
    text = SourceText("a.md", b"# Title\n")
    facts.of(text, _nothing)
    assert facts.of(text, _nothing) is facts.of(text, _nothing)


@pytest.mark.parametrize(
    ("texts", "size", "processes"), [(1, 1, 1), (2, 1, 1), (pool.MIN_SHARED + 2, 1, 2), (3, pool.MIN_SHARED_BYTES, 2)]
)
def test_a_second_process_starts_where_it_saves_more_than_its_start_takes(facts, monkeypatch, texts, size, processes):
    started = []

    class Noted(helper.Helper):
        def __init__(self, *, ahead: bool = False) -> None:
            started.append(ahead)
            super().__init__(ahead=ahead)

    monkeypatch.setattr(pool, "Helper", Noted)
    # Different texts, for equal ones are parsed once.
    facts.of_all([SourceText(f"{number}.go", f"//{number}\n".encode() * size) for number in range(texts)], _nothing)
    assert len(started) == processes


def test_facts_are_those_of_extraction_first_and_later(facts):
    expected = [extract(file.path, file.text) for file in FILES]
    assert _ask(facts, FILES) == expected
    assert _ask(facts, FILES) == expected
    assert [read_facts(facts.of(file, _nothing)) for file in FILES] == expected


def test_a_text_that_is_held_is_read_and_digested_once(facts):
    reads = []

    def read() -> bytes:
        reads.append(1)
        return FILES[0].text

    held = _Held()
    for _ in range(3):
        assert read_facts(facts.of(SourceText("a.py", read, held), _nothing)) == extract("a.py", FILES[0].text)
    before = len(reads)
    # Held elsewhere, and under a name of another language.
    assert read_facts(facts.of(SourceText("b.py", read, held), _nothing)) == extract("a.py", FILES[0].text)
    assert len(reads) == before
    assert read_facts(facts.of(SourceText("b.txt", read, held), _nothing)) == extract("b.txt", FILES[0].text)


def test_a_small_table_forgets_and_finds_again():
    small = FactTable(limit=1)
    assert _ask(small, FILES) == [extract(file.path, file.text) for file in FILES]
    assert small.full
    small.close()


def test_texts_parsed_ahead_are_known(facts):
    ahead = iter(FILES)
    while facts.parse_ahead(ahead):
        pass
    facts.close()
    # Without processes only kept facts have an extractor other than rules.
    facts._pool._start = lambda *_: False
    assert _ask(facts, FILES) == [extract(file.path, file.text) for file in FILES]


def test_a_text_that_ends_every_process_is_left_to_the_rules(facts, tmp_path, monkeypatch):
    broken = tmp_path / "helper.py"
    broken.write_text(Path(helper.__file__).read_text().replace("data = encode(extract(name, text))", "os.abort()"))
    monkeypatch.setattr(helper, "COMMAND", (helper.COMMAND[0], "-I", str(broken)))
    assert _ask(facts, FILES[:2]) == [apply_rules(file.path, file.text) for file in FILES[:2]]


def test_processes_that_were_killed_while_idle_cost_nothing(facts, monkeypatch):
    monkeypatch.setattr(pool, "MIN_SHARED", 0)
    _ask(facts, [FILES[0], FILES[-1]])
    for one in facts._pool._free:
        os.kill(one.process_id, signal.SIGKILL)
    assert len(facts._pool._free) == ATTEMPTS
    later = SourceText("d.py", b"class D:\n    def f(self): pass\n")
    assert _ask(facts, [later]) == [extract(later.path, later.text)]


def test_waiting_ends_when_the_check_raises(facts):
    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        facts.of(SourceText("a.py", b"x = 1\n" * 300_000), check)
    assert _ask(facts, FILES) == [extract(file.path, file.text) for file in FILES]


def test_large_texts_need_no_process(facts):
    facts._pool._start = lambda *_: pytest.fail("a process was started")
    text = b"def f(): pass\n" + b"#" * MAX_BYTES + b"\n"
    assert read_facts(facts.of(SourceText("a.py", text), _nothing)) == apply_rules("a.py", text)
