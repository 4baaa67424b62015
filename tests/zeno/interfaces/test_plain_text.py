"""Results as text: nothing but metrics, zeros and a digest is lost, and what is partial says so first."""

import contract_spec as spec
import pytest

from zeno.interfaces.plain_text import plain
from zeno.session.dispatch import OPS

EXAMPLES = [(op, example["result"]) for op in sorted(OPS) for example in spec.schema(f"zeno/ops/{op}.json")["examples"]]


def leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if name not in ("metrics", "files_digest")}
        # Rules that left nothing out and reasons that skipped nothing are not told.
        for name in ("left_out", "skipped"):
            kept[name] = [count for count in kept.get(name, {}).values() if count]
        return [leaf for item in kept.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


@pytest.mark.parametrize(("op", "result"), EXAMPLES)
def test_every_value_of_a_result_is_in_its_text(op: str, result: dict[str, object]) -> None:
    text = plain(result)
    for leaf in leaves(result):
        told = str(leaf).lower() if isinstance(leaf, bool) else str(leaf)
        assert told in text


def test_what_was_cut_is_said_in_the_first_line() -> None:
    result = {"files": ["a", "b"], "truncated": True, "truncated_by": ["max", "max_files"], "metrics": {}}
    assert plain(result) == "truncated=true truncated_by=max,max_files\na\nb"


def test_what_is_left_of_a_budget_is_told() -> None:
    assert plain({"files": [], "metrics": {"time_ms": 1, "budget": {"ops": 9}}}) == "budget=(ops=9)"


def test_a_hit_is_path_line_text_with_its_context_below() -> None:
    hit = {
        "path": "a b",
        "line": 2,
        "text": " two",
        "context": [{"line": 1, "text": "one"}, {"line": 2, "text": " two"}],
    }
    assert plain({"hits": [hit], "truncated": False}) == 'truncated=false\n"a b":2:  two\n  1: one\n  2:  two'


def test_text_stands_as_it_is_and_last() -> None:
    assert plain({"path": "x", "text": "a=1\n\n{", "truncated": False}) == "path=x truncated=false\na=1\n\n{"


def test_a_name_that_would_break_a_line_is_quoted() -> None:
    assert plain({"files": ["a\nb", "c"], "truncated": False}) == 'truncated=false\n"a\\nb"\nc'


def test_what_was_searched_and_left_out_is_one_clause() -> None:
    left_out = {"hidden": 12, "ignored": 3, "excluded": 0, "directories": 1}
    result = {"hits": [], "truncated": False, "files_selected": 5648, "left_out": left_out}
    assert plain(result).splitlines() == [
        "truncated=false",
        "5,648 files searched; left out: 12 hidden, 3 ignored (1 directory)",
    ]
    listed = {"files": ["a"], "truncated": False, "files_selected": 1, "left_out": dict.fromkeys(left_out, 0)}
    assert plain(listed) == "truncated=false\n1 file selected\na"


def test_files_are_called_searched_only_where_all_of_them_were() -> None:
    skipped = {"binary": 3, "too_large": 0}
    result = {"hits": [], "truncated": False, "complete": False, "skipped": skipped, "files_selected": 9}
    assert plain(result) == "truncated=false complete=false skipped=(binary=3)\n9 files selected"
    cut = {"hits": [], "truncated": True, "skipped": {"binary": 0}, "files_selected": 9, "files_digest": "0" * 64}
    assert plain(cut) == "truncated=true\n9 files selected"


def test_files_that_match_stand_with_their_counts() -> None:
    counts = [{"path": "a b", "lines": 1}, {"path": "c", "lines": 20}]
    assert plain({"hits": [], "counts": counts, "truncated": False}) == 'truncated=false\n"a b": 1 line\nc: 20 lines'
    assert plain({"hits": [], "total": {"files": 2, "lines": 21}, "truncated": False}) == (
        "total=(files=2 lines=21) truncated=false"
    )


def test_the_text_of_every_range_stands_as_it_is() -> None:
    further = {"path": "b", "start_line": 3, "end_line": 4, "total_lines": 9, "text": "p\n\tq"}
    assert plain({"path": "a", "truncated": False, "text": "x", "ranges": [further]}).splitlines() == [
        "path=a truncated=false",
        "text:",
        "x",
        "ranges:",
        "path=b start_line=3 end_line=4 total_lines=9",
        "p",
        "\tq",
    ]
