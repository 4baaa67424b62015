"""The table of facts: kept or not, the same facts; a text that ends every process costs its own tree."""

from pathlib import Path

import pytest

from zeno.code import helper
from zeno.code.extract import apply_rules, extract
from zeno.code.languages import MAX_BYTES
from zeno.code.pool import SourceText
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


@pytest.fixture
def facts():
    facts = FactTable()
    yield facts
    facts.close()


def test_facts_by_rules_are_kept_as_those_of_grammars(facts):
    text = SourceText("a.md", b"# Title\n")
    facts.of(text.path, text.text, _nothing)
    assert facts.of(text.path, text.text, _nothing) is facts.of(text.path, text.text, _nothing)


def test_facts_are_those_of_extraction_first_and_later(facts):
    expected = [extract(file.path, file.text) for file in FILES]
    assert facts.of_all(FILES, _nothing) == expected
    assert facts.of_all(FILES, _nothing) == expected
    assert [facts.of(file.path, file.text, _nothing) for file in FILES] == expected


def test_of_texts_that_do_not_define_a_name_only_the_symbols_may_be_left_out(facts):
    expected = [extract(file.path, file.text) for file in FILES]
    for _ in range(2):
        for name in ("f", "C", "nothing"):
            for found, whole in zip(facts.of_all(FILES, _nothing, name), expected, strict=True):
                assert found in (whole, whole._replace(symbols=[]))
                assert [one for one in found.symbols if one.name == name] == [
                    one for one in whole.symbols if one.name == name
                ]
        facts._decoded.clear()


def test_a_small_table_forgets_and_finds_again():
    small = FactTable(limit=1)
    assert small.of_all(FILES, _nothing) == [extract(file.path, file.text) for file in FILES]
    assert small.full
    small.close()


def test_texts_parsed_ahead_are_known(facts):
    ahead = iter(FILES)
    while facts.parse_ahead(ahead):
        pass
    facts.close()
    # Without processes only kept facts have an extractor other than rules.
    facts._pool._start = lambda *_: False
    assert facts.of_all(FILES, _nothing) == [extract(file.path, file.text) for file in FILES]


def test_a_text_that_ends_every_process_is_left_to_the_rules(facts, tmp_path, monkeypatch):
    broken = tmp_path / "helper.py"
    broken.write_text(Path(helper.__file__).read_text().replace("data = encode(extract(name, text))", "os.abort()"))
    monkeypatch.setattr(helper, "COMMAND", (helper.COMMAND[0], "-I", str(broken)))
    assert facts.of_all(FILES[:2], _nothing) == [apply_rules(file.path, file.text) for file in FILES[:2]]


def test_waiting_ends_when_the_check_raises(facts):
    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        facts.of("a.py", b"x = 1\n" * 300_000, check)
    assert facts.of_all(FILES, _nothing) == [extract(file.path, file.text) for file in FILES]


def test_large_texts_need_no_process(facts):
    facts._pool._start = lambda *_: pytest.fail("a process was started")
    text = b"def f(): pass\n" + b"#" * MAX_BYTES + b"\n"
    assert facts.of("a.py", text, _nothing) == apply_rules("a.py", text)
