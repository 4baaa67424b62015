"""Rows of a trace belong to the subcall that they name, or to the one that was started last and still runs."""

from typing import Any

from zeno.trace.page.nesting import nest


def nested(*rows: dict[str, Any]) -> list[tuple[int, int | None]]:
    """Depth and owner of each row."""
    listed = list(rows)
    nest(listed)
    return [(row["depth"], row.get("owner")) for row in listed]


def start(name: str, parent: str | None = None) -> dict[str, Any]:
    return {"kind": "start", "id": name, "parent": parent}


def test_a_request_belongs_to_the_subcall_started_last_that_still_runs():
    op = {"kind": "op", "id": "r1"}
    assert nested(dict(op), start("a"), dict(op), start("b", "a"), dict(op)) == [
        (0, None), (0, None), (1, 1), (1, 1), (2, 3),
    ]  # fmt: skip


def test_an_end_belongs_to_its_start_and_what_follows_to_the_one_around():
    rows = nested(start("a"), start("b", "a"), {"kind": "end", "id": "b"}, {"kind": "op", "id": "r1"})
    assert rows == [(0, None), (1, 0), (2, 1), (1, 0)]


def test_an_id_that_begins_with_a_subcall_belongs_to_it_though_another_started_later():
    rows = nested(start("a"), start("b"), {"kind": "op", "id": "a/7"})
    assert rows[2] == (1, 0)


def test_a_claim_belongs_to_its_parent_and_a_claim_on_a_claim_to_the_same_subcall():
    rows = nested(start("a"), {"kind": "claim", "id": "c", "parent": "a"}, start("b"), {"kind": "claim", "parent": "c"})
    assert rows[1] == (1, 0)
    assert rows[3] == (1, 0)
