"""The next call that the last line of a text names: followed to the end it gives all that was asked for, once."""

import json
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import CHANCE
from zeno.interfaces.mcp.tools import with_defaults
from zeno.interfaces.result_text import text_of

EASY = settings(suppress_health_check=[*CHANCE, HealthCheck.function_scoped_fixture], max_examples=100)
LINES = 12
FILES = {name: [f"{name}{number}" for number in range(1, LINES + 1)] for name in "ab"}
RANGE = st.tuples(st.sampled_from("ab"), st.integers(1, LINES + 2), st.none() | st.integers(0, 5)).map(
    lambda one: {"path": one[0], "start_line": one[1], **({} if one[2] is None else {"end_line": one[1] + one[2]})}
)
LIMITS = st.sampled_from([{"max_lines": 1}, {"max_lines": 3}, {"max_chars": 4}, {"max_chars": 20}])
DEFAULTS = {"end_line": (1 << 53) - 1, "ranges[].end_line": (1 << 53) - 1}


def rows(result):
    """The lines of a result with their files and numbers."""
    for one in [result, *result["ranges"]] if "ranges" in result else [result]:
        for number, text in enumerate(one["text"].split("\n") if one["text"] else [], one["start_line"]):
            yield one["path"], number, text


@EASY
@given(first=RANGE, others=st.lists(RANGE, min_size=1, max_size=3), limits=LIMITS)
def test_the_next_calls_of_several_ranges_read_every_line_once(root, ask, first, others, limits):
    for name, lines in FILES.items():
        (root / name).write_text("\n".join(lines) + "\n")
    asked = {**first, "ranges": others}
    seen = []
    for _ in range(200):
        args = with_defaults(DEFAULTS, {**asked, **limits})
        result = ask("read_file", **args)["result"]
        seen += rows(result)
        last = text_of("read_file", result, None, args).splitlines()[-1]
        if not result["truncated"]:
            break
        if "ranges" in result:
            asked = json.loads(last.partition("continue with ")[2].removesuffix("]"))
        else:
            asked["start_line"] = int(last.partition("continue with start_line=")[2].removesuffix("]"))
    wanted = [
        (one["path"], number, FILES[one["path"]][number - 1])
        for one in (first, *others)
        for number in range(one["start_line"], min(one.get("end_line", LINES), LINES) + 1)
    ]
    assert sorted(seen) == sorted(wanted)


@EASY
@given(head=st.integers(0, 12), tail=st.integers(0, 12), room=st.integers(1, 40))
def test_the_next_call_after_a_peek_reads_what_it_left_out(root, ask, head, tail, room):
    (root / "a").write_text("\n".join(FILES["a"]) + "\n")
    args = {"path": "a", "head_lines": head, "tail_lines": tail, "max_chars": room}
    result = ask("peek", **args)["result"]
    last = text_of("peek", result, None, args).splitlines()[-1]
    found = re.search(r"continue with read_file start_line=(\d+) end_line=(\d+)", last)
    shown = {n for one in (result["head"], result["tail"]) for n in range(one["start_line"], one["end_line"] + 1)} - {0}
    asked = {*range(1, head + 1), *range(LINES - tail + 1, LINES + 1)} & set(range(1, LINES + 1))
    assert bool(found) == (not asked <= shown)
    if found:
        assert asked - shown <= set(range(int(found[1]), int(found[2]) + 1))
