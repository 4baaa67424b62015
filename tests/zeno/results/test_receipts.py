"""Verdicts on citations, against a model that looks at every place in the file."""

from typing import Any

import contract_spec as spec
import pytest
from contract_models.zeno.ops.verify import VerifyCitation
from hypothesis import given
from hypothesis import strategies as st

from zeno.files.tree import Tree
from zeno.results import receipts
from zeno.results.quotations import match_quotation
from zeno.results.receipts import check
from zeno.text.file_lines import receipt

LINES = st.lists(st.sampled_from(["", "a", "b", "é", "a b"]), max_size=12)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("root")


@pytest.fixture(scope="module")
def tree(root):
    with Tree(str(root)) as opened:
        yield opened


def judge(tree: Tree, path: str, start: int, end: int, **what: str) -> dict[str, Any]:
    citation = VerifyCitation.model_validate({"path": path, "start_line": start, "end_line": end, **what})
    return check(citation, tree).model_dump(mode="json")


def model(lines: list[str], start: int, end: int, text: str, by_text: bool) -> tuple[str, dict[str, int] | None]:
    """The verdict by looking at every place."""
    count = end - start + 1
    places = [at for at in range(1, len(lines) - count + 2) if "\n".join(lines[at - 1 : at - 1 + count]) == text]
    if start in places:
        return "ok", None
    cited = lines[start - 1 : end]
    if by_text and end <= len(lines) and match_quotation(text.split("\n"), cited) is not None:
        return "ok", None
    if places:
        at = min(places, key=lambda place: (abs(place - start), place))
        return "moved", {"start_line": at, "end_line": at + count - 1}
    return ("changed" if end <= len(lines) else "out_of_range"), None


@given(lines=LINES, cited=LINES.filter(bool), start=st.integers(1, 14), by_text=st.booleans())
def test_a_verdict_is_what_looking_at_every_place_says(root, tree, lines, cited, start, by_text):
    (root / "f").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    text, end = "\n".join(cited), start + len(cited) - 1
    what = {"text": text} if by_text else {"sha256": receipt(text)}
    found = judge(tree, "f", start, end, **what)
    verdict, moved_to = model(lines, start, end, text, by_text)
    assert (found["verdict"], found.get("moved_to")) == (verdict, moved_to)
    assert spec.violations("zeno/ops/verify.json#/$defs/verdict", found) == []


def test_lines_out_of_the_middle_of_a_file_are_found_where_they_went(root, tree):
    (root / "g").write_text("new\nnew\none\ntwo\n", encoding="utf-8")
    found = judge(tree, "g", 1, 2, text="one\ntwo")
    assert (found["verdict"], found["moved_to"]) == ("moved", {"start_line": 3, "end_line": 4})


def test_the_text_is_what_read_file_returns_whatever_the_bytes(root, tree):
    (root / "crlf").write_bytes(b"\xef\xbb\xbfone\r\ntw\xffo\r\nthree")
    assert judge(tree, "crlf", 1, 3, text="one\ntw\ufffdo\nthree")["verdict"] == "ok"


@pytest.mark.parametrize(("name", "content"), [("gone", None), ("binary", b"\0"), ("folder", "dir")])
def test_what_is_no_text_file_is_missing_with_a_reason(root, tree, name, content):
    if content == "dir":
        (root / name).mkdir(exist_ok=True)
    elif content is not None:
        (root / name).write_bytes(content)
    found = judge(tree, name, 1, 1, text="x")
    assert (found["verdict"], name in found["reason"]) == ("missing", True)


def test_a_path_outside_the_root_is_told(tree):
    assert judge(tree, "../x", 1, 1, text="x")["verdict"] == "outside_root"


def test_a_citation_without_receipt_is_asked_only_whether_its_lines_are_there(root, tree):
    (root / "two").write_text("1\n2\n", encoding="utf-8")
    verdicts = [judge(tree, "two", *span)["verdict"] for span in [(1, 2), (2, 3), (2, 1)]]
    assert verdicts == ["ok", "out_of_range", "invalid"]


def test_a_search_that_stops_early_says_so(root, tree, monkeypatch):
    (root / "long").write_text("x\n" * 50 + "y\n", encoding="utf-8")
    assert judge(tree, "long", 1, 1, text="y")["verdict"] == "moved"
    monkeypatch.setattr(receipts, "MAX_SEARCHED_BYTES", 300)
    stopped = judge(tree, "long", 1, 1, text="y")
    assert (stopped["verdict"], "too long" in stopped["reason"]) == ("changed", True)
    monkeypatch.setattr(receipts, "MAX_SEARCHED_BYTES", 10)
    assert "not looked for" in judge(tree, "long", 1, 1, text="y")["reason"]


def test_citing_more_than_an_answer_can_hold_is_refused(root, tree, monkeypatch):
    monkeypatch.setattr(receipts, "MAX_CITED_BYTES", 10)
    (root / "wide").write_text("x" * 20, encoding="utf-8")
    found = judge(tree, "wide", 1, 1, text="x")
    assert (found["verdict"], "cite fewer lines" in found["reason"]) == ("invalid", True)
