"""Answers that fit: lines and results cut to size, and never silently."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeno.results.clip import clip, fit_lines
from zeno.text.file_lines import receipt

TEXT = st.text("ab é\U0001f600", max_size=30)


@given(line=TEXT, limit=st.integers(1, 40), span=st.tuples(st.integers(0, 30), st.integers(0, 30)))
def test_a_clip_is_one_piece_of_the_line_and_has_the_match_in_it(line, limit, span):
    start, end = sorted(min(place, len(line)) for place in span)
    found = clip(line, limit, (start, end))
    assert len(found) == min(len(line), limit)
    assert found in line
    if end - start <= limit:
        assert line[start:end] in found


@given(lines=st.lists(TEXT, max_size=8), room=st.integers(0, 60))
def test_the_lines_that_fit_are_as_many_as_can_be(lines, room):
    kept = fit_lines(lines, room)
    assert len("\n".join(kept)) <= room
    whole = len(kept) != 1 or kept == lines[:1]
    assert kept == lines[: len(kept)] if whole else lines[0].startswith(kept[0])
    if len(kept) < len(lines) and whole:
        assert len("\n".join(lines[: len(kept) + 1])) > room


EASY = settings(max_examples=150, suppress_health_check=list(HealthCheck))
LIMITS = st.fixed_dictionaries({}, optional={"max_line_chars": st.integers(1, 12), "max_chars": st.integers(1, 60)})


@EASY
@given(lines=st.lists(TEXT, max_size=9), ends=st.sampled_from(["\n", "\r\n"]), limits=LIMITS, receipts=st.booleans())
def test_read_file_returns_the_lines_that_fit_each_clipped(root, ask, lines, ends, limits, receipts):
    (root / "f").write_text("".join(line + ends for line in lines), newline="")
    result = ask("read_file", path="f", end_line=20, receipts=receipts, **limits)["result"]
    short = [line[: limits.get("max_line_chars", 99)] for line in lines]
    kept = fit_lines(short, limits.get("max_chars", 9999))
    assert result["text"] == "\n".join(kept)
    assert result["end_line"] == len(kept)
    assert result.get("clipped", False) == (kept != lines[: len(kept)])
    assert result["truncated"] == (len(kept) < len(lines))
    assert result.get("truncated_by", []) == (["max_chars"] if len(kept) < len(lines) else [])
    if receipts and kept:
        assert result["sha256"] == receipt("\n".join(lines[: len(kept)]))
    else:
        assert "sha256" not in result


@EASY
@given(
    lines=st.lists(TEXT, max_size=9),
    head=st.integers(0, 5),
    tail=st.integers(0, 5),
    limits=LIMITS,
    receipts=st.booleans(),
)
def test_peek_returns_head_and_tail_that_fit_together(root, ask, lines, head, tail, limits, receipts):
    (root / "f").write_text("".join(line + "\n" for line in lines))
    result = ask("peek", path="f", head_lines=head, tail_lines=tail, receipts=receipts, **limits)["result"]
    asked = min(head, len(lines)) + min(tail, len(lines))
    returned = size = 0
    for part in (result["head"], result["tail"]):
        if not part["start_line"]:
            assert part == {"start_line": 0, "end_line": 0, "text": ""}
            continue
        whole = lines[part["start_line"] - 1 : part["end_line"]]
        shown = part["text"].split("\n")
        assert all(line.startswith(piece) for line, piece in zip(whole, shown, strict=True))
        assert part.get("clipped", False) == (whole != shown)
        assert part.get("sha256") == (receipt("\n".join(whole)) if receipts else None)
        assert max(map(len, shown)) <= limits.get("max_line_chars", 99)
        returned += len(whole)
        size += len(part["text"])
    assert size <= limits.get("max_chars", 9999)
    assert result.get("truncated") == ((returned < asked) if "max_chars" in limits else None)
    if result["head"]["start_line"]:
        assert result["head"]["start_line"] == 1
    if result["tail"]["start_line"]:
        assert result["tail"]["end_line"] == len(lines)


def test_a_hit_is_clipped_around_its_match(root, ask):
    (root / "f").write_text("x" * 500 + "éneedleé" + "y" * 500 + "\n")
    hit = ask("grep", pattern="needle", max_line_chars=10, receipts=True)["result"]["hits"][0]
    whole = "x" * 500 + "éneedleé" + "y" * 500
    assert hit == {"path": "f", "line": 1, "text": "xéneedleéy", "clipped": True, "sha256": receipt(whole)}


def test_lines_around_a_hit_are_clipped_too(root, ask):
    (root / "f").write_text("before the line\nneedle\nafter the line\n")
    hit = ask("grep", pattern="needle", context=1, max_line_chars=6)["result"]["hits"][0]
    assert "clipped" not in hit
    assert hit["context"] == [
        {"line": 1, "text": "before", "clipped": True},
        {"line": 2, "text": "needle"},
        {"line": 3, "text": "after ", "clipped": True},
    ]


def test_a_single_line_of_many_megabytes_can_be_looked_at(root, pipe):
    (root / "big").write_bytes(b"x" * 40_000_000)
    server = pipe()
    read = server.ask("read_file", path="big", max_line_chars=20)
    assert (read["result"]["text"], read["result"]["clipped"]) == ("x" * 20, True)
    peeked = server.ask("peek", path="big", max_chars=20)
    assert (peeked["result"]["head"]["text"], peeked["result"]["tail"]["text"]) == ("x" * 10, "x" * 10)
    assert server.ask("read_file", path="big")["error"]["code"] == "response_too_large"


@pytest.mark.parametrize("op", ["grep", "read_file", "peek"])
@pytest.mark.parametrize("limit", ["max_chars", "max_line_chars"])
def test_a_limit_of_nothing_is_refused(root, ask, op, limit):
    args = {"pattern": "x"} if op == "grep" else {"path": "f"}
    assert ask(op, **args, **{limit: 0})["error"]["code"] == "invalid_args"
