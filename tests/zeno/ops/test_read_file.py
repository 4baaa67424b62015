"""read_file: the asked lines, capped, of files of any size."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeno.files.batch_open import CHUNK
from zeno.files.tree import Tree
from zeno.options import Options
from zeno.results.definitions import MAX_BYTES
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server
from zeno.text.file_lines import lines_of


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"\r\n", b"\xff", b"bc"]), max_size=30).map(b"".join),
    start=st.integers(1, 12),
    asked=st.integers(1, 12),
    cap=st.integers(1, 12),
)
def test_text_is_the_asked_lines_capped(root, ask, data, start, asked, cap):
    (root / "f").write_bytes(data)
    result = ask("read_file", path="f", start_line=start, end_line=start + asked - 1, max_lines=cap)["result"]
    there = lines_of(data)[start - 1 : start - 1 + asked]
    assert result["text"] == "\n".join(there[:cap])
    assert result["total_lines"] == len(lines_of(data))
    assert (result["start_line"], result["end_line"]) == (start, start + len(there[:cap]) - 1)
    assert result["truncated"] is (len(there) > cap)
    assert result.get("truncated_by") == (["max_lines"] if len(there) > cap else None)


def test_without_end_line_one_line_is_read(root, ask):
    (root / "f").write_text("one\ntwo\nthree\n")
    assert ask("read_file", path="f", start_line=2)["result"]["text"] == "two"


def test_a_line_longer_than_a_chunk_is_read_whole(root, ask):
    (root / "f").write_bytes(b"a" * (2 * CHUNK + 7) + b"\nshort\n")
    assert len(ask("read_file", path="f")["result"]["text"]) == 2 * CHUNK + 7
    assert ask("read_file", path="f", start_line=2)["result"]["text"] == "short"


def test_a_large_file_is_sliced_without_being_held(root, pipe):
    with open(root / "log", "wb") as file:
        file.writelines(b"".join(b"%09d\n" % number for number in range(100_000)) for _ in range(200))
    server = pipe()
    result = server.ask("read_file", path="log", start_line=19_999_999, end_line=20_000_009)["result"]
    assert (result["text"], result["total_lines"]) == ("000099998\n000099999", 20_000_000)
    peeked = server.ask("peek", path="log", head_lines=1, tail_lines=1)["result"]
    assert (peeked["head"]["text"], peeked["tail"]["text"]) == ("000000000", "000099999")
    with open(f"/proc/{server.process.pid}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    assert peak < 120_000, f"{peak} kB for a file of 200 MB"


def test_an_answer_over_the_limit_is_refused_with_a_hint(root):
    (root / "f").write_text("a" * 5000)
    with Tree(str(root)) as tree:
        server = Server(ColdCorpus(tree), options=Options(max_response_bytes=1000))
        answer = json.loads(server.answer(b'{"id":"1","op":"read_file","args":{"path":"f"}}'))
    assert answer["error"]["code"] == "response_too_large"
    assert "1000 bytes" in answer["error"]["message"]
    assert "max_lines" in answer["error"]["message"]


@pytest.mark.parametrize("end", [1, 4])
def test_an_end_before_the_start_is_refused_by_name(root, ask, end):
    (root / "f").write_text("x\n" * 9)
    error = ask("read_file", path="f", start_line=5, end_line=end)["error"]
    assert error["code"] == "invalid_args"
    assert "end_line" in error["message"]


def test_a_binary_file_is_refused_as_such(root, ask):
    (root / "f").write_bytes(b"a\0b")
    for op in ("read_file", "peek", "extract_symbols"):
        error = ask(op, path="f")["error"]
        assert error["code"] == "not_a_file"
        assert "binary" in error["message"]


def test_behind_the_last_line_a_hint_says_how_many_there_are(root, ask):
    (root / "three.txt").write_text("1\n2\n3\n")
    (root / "empty.txt").write_text("")
    beyond = ask("read_file", path="three.txt", start_line=4, end_line=9)["result"]
    assert (beyond["text"], beyond["end_line"], beyond["total_lines"]) == ("", 3, 3)
    assert beyond["hints"] == ["args.start_line is 4, but total_lines of 'three.txt' is 3"]
    ranges = [{"path": "three.txt", "start_line": 3}, {"path": "empty.txt"}]
    further = ask("read_file", path="three.txt", ranges=ranges)["result"]
    assert further["hints"] == ["args.ranges[1].start_line is 1, but total_lines of 'empty.txt' is 0"]
    assert "hints" not in ask("read_file", path="three.txt", start_line=3, end_line=9)["result"]


def test_a_symbol_is_not_looked_for_in_a_file_too_large_for_extract_symbols(root, ask):
    (root / "f.py").write_bytes(b"def f(): pass\n" + b"#" * MAX_BYTES)
    for op, more in (("read_file", {"symbol": "f"}), ("extract_symbols", {})):
        assert ask(op, path="f.py", **more)["error"]["code"] == "file_too_large"
    assert ask("read_file", path="f.py")["result"]["text"] == "def f(): pass"


def test_definitions_of_a_name_on_the_same_lines_are_read_as_these_lines(root, ask):
    line = "class K { get x() { return 1 } set x(v) {} }"
    (root / "k.js").write_text(f"{line}\nfunction x() {{}}\n")
    assert ask("read_file", path="k.js", symbol="K.x")["result"]["text"] == line
    assert ask("read_file", path="k.js", symbol="x", start_line=1)["result"]["text"] == line
    assert ask("read_file", path="k.js", symbol="x")["error"]["code"] == "invalid_args"
