"""peek: head and tail, clipped to the file."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeno.text.file_lines import lines_of


def shown(lines: list[str], first: int) -> dict[str, object]:
    if not lines:
        return {"start_line": 0, "end_line": 0, "text": ""}
    return {"start_line": first, "end_line": first + len(lines) - 1, "text": "\n".join(lines)}


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"\r\n", b"\xef\xbb\xbf", b"bc"]), max_size=30).map(b"".join),
    head=st.integers(0, 12),
    tail=st.integers(0, 12),
)
def test_head_and_tail_are_the_ends_of_the_file(root, ask, data, head, tail):
    (root / "f").write_bytes(data)
    result = ask("peek", path="f", head_lines=head, tail_lines=tail)["result"]
    lines = lines_of(data)
    last = lines[-tail:] if tail else []
    assert result["total_lines"] == len(lines)
    assert result["head"] == shown(lines[:head], 1)
    assert result["tail"] == shown(last, len(lines) - len(last) + 1)


def test_a_tail_over_many_chunks_is_whole(root, ask):
    lines = [f"{number:06d}" for number in range(100_000)]
    (root / "f").write_text("\r\n".join(lines))
    result = ask("peek", path="f", head_lines=0, tail_lines=90_000)["result"]
    assert result["tail"]["text"] == "\n".join(lines[10_000:])
