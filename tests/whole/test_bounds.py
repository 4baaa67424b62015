"""The worst request of each operation is answered by a server that may not have much memory."""

import resource
import subprocess
import sys

import contract_spec as spec
import pytest

from tests.conftest import Pipe
from tests.support.patience import PATIENCE

MEMORY = 1 << 30
LONG = 512 << 20


@pytest.fixture
def server(root):
    """A server whose address space is limited. Address space is more than memory: libraries reserve much of it."""
    command = [sys.executable, "-m", "zeno", "serve", "--root", str(root), "--no-cache"]
    limited = ["prlimit", f"--as={MEMORY}", *command]
    pipe = Pipe(root, command=limited)
    yield pipe
    pipe.process.kill()
    pipe.process.communicate(timeout=PATIENCE)


@pytest.fixture
def long_file(root):
    """A text file of half a gigabyte, of which the disk holds the beginning."""
    for name in ("long.txt", "long.py"):
        with (root / name).open("wb") as file:
            file.write(b"def f(): pass\n" * 1000)
            file.truncate(LONG)


def test_a_long_file_is_read_without_holding_it(root, long_file, server):
    result = server.ask("read_file", path="long.txt", start_line=1002, end_line=1005, max_chars=10)["result"]
    assert (result["total_lines"], result["text"]) == (1001, "")
    assert server.ask("peek", path="long.txt", tail_lines=1, max_chars=100)["result"]["total_lines"] == 1001


def test_a_long_file_is_not_searched_and_that_is_told(root, long_file, server):
    result = server.ask("grep", pattern="nothing", max_bytes=1 << 50)["result"]
    assert (result["complete"], result["skipped"]["too_large"]) == (False, 2)


def test_a_file_that_is_searched_fits_into_memory(root, server):
    with (root / "text.txt").open("wb") as file:
        for _ in range(64):
            file.write("é\n".encode() * ((1 << 20) // 3))
    result = server.ask("grep", pattern="(é|x)y", regex=True, max_bytes=1 << 50, output="count")["result"]
    assert (result["total"]["lines"], result["complete"]) == (0, True)


def test_symbols_of_a_long_file_are_refused(root, long_file, server):
    assert server.ask("extract_symbols", path="long.py")["error"]["code"] == "file_too_large"


def test_citations_of_millions_of_lines_are_verified(root, server):
    (root / "empty.txt").write_bytes(b"\n" * (1 << 24))
    cited = {"path": "empty.txt", "start_line": 1, "end_line": 1 << 22, "sha256": "0" * 64}
    answer = server.ask("verify", citations=[cited] * 20)
    assert {item["verdict"] for item in answer["result"]["items"]} == {"changed"}


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("read_file", {"path": "huge.txt", "start_line": 3, "end_line": 4}),
        ("read_file", {"path": "long.txt", "ranges": [{"path": "long.txt", "start_line": 1}] * 8}),
        ("peek", {"path": "huge.txt"}),
        ("verify", {"citations": [{"path": "huge.txt", "start_line": 1, "end_line": 1, "text": "x"}]}),
        ("verify", {"citations": [{"path": "long.txt", "start_line": 1, "end_line": 1, "text": "x"}] * 9}),
    ],
)
def test_more_bytes_than_a_request_may_go_through_are_refused(root, long_file, server, op, args):
    with (root / "huge.txt").open("wb") as file:
        file.write(b"text\n" * 2000)
        file.truncate(20 << 30)
    error = server.ask(op, **args)["error"]
    assert error["code"] == "file_too_large"
    assert "at most 4294967296 are looked at; " in error["message"]


def test_digests_of_cited_lines_count_too(root, pipe):
    (root / "empty.txt").write_bytes(b"\n" * 1000)
    cited = {"path": "empty.txt", "start_line": 1, "end_line": 1000, "sha256": "0" * 64}
    server = pipe("--max-scan-bytes", "10000")
    assert server.ask("verify", citations=[cited] * 9)["ok"]
    error = server.ask("verify", citations=[cited] * 10)["error"]
    assert (error["code"], "check fewer citations" in error["message"]) == ("file_too_large", True)


def test_many_paths_are_looked_up(root, server):
    (root / "d").mkdir()
    (root / "d" / "f").touch()
    items = server.ask("stat", paths=["d/f", "d/g"] * 19_000)["result"]["items"]
    assert sum(item["exists"] for item in items) == 19_000


def test_more_paths_than_a_request_may_look_up_are_refused(root, server):
    """A path through 40 links takes a millisecond: a quarter of a million of them took minutes."""
    error = server.ask("stat", paths=["f"] * 50_001)["error"]
    assert error["code"] == "invalid_args"
    assert "args.paths" in error["message"]
    assert "50000" in error["message"]


def test_a_pattern_of_many_states_needs_no_more(root, server):
    (root / "f").write_text("abc1" * 1000 + "\n")
    assert server.ask("grep", pattern=r"(\pL?\pN?){300}zz", regex=True)["ok"]


@pytest.mark.parametrize("pattern", [r"(\pL?\pN?){300}c", r"(?i)(?:\pL\pN?){200}\d"])
def test_a_pattern_of_many_states_over_megabytes_is_refused(root, server, pattern):
    for name in ("a", "b"):
        (root / name).write_text("ab" * 500_000)
    error = server.ask("grep", pattern=pattern, regex=True)["error"]
    assert error["code"] == "pattern_too_costly"
    assert "narrow args.paths" in error["message"]
    # A file that is not searched costs nothing.
    assert server.ask("grep", pattern=pattern, regex=True, max_bytes=1000)["result"]["skipped"]["too_large"] == 2


def test_the_limit_is_felt(root):
    """The other tests would mean nothing if a server could have as much as it likes."""
    code = f"bytearray({MEMORY})"
    done = subprocess.run(["prlimit", f"--as={MEMORY}", sys.executable, "-c", code], capture_output=True)
    assert b"MemoryError" in done.stderr
    assert resource.getrlimit(resource.RLIMIT_AS)[0] != MEMORY


def test_what_a_request_may_cost_is_told_and_can_be_set(root, pipe):
    (root / "a.txt").write_bytes(b"0123456789\n")
    told = pipe().ask("describe", schemas=False)["result"]["request_limits"]
    limits = spec.resource("rules/request_limits.json")
    assert told == {name: limits[name] for name in told}
    strict = pipe("--max-scan-bytes", "10", "--max-pattern-work", "7")
    told = strict.ask("describe", schemas=False)["result"]["request_limits"]
    assert (told["max_scan_bytes"], told["max_pattern_work"]) == (10, 7)
    assert strict.ask("read_file", path="a.txt")["error"]["code"] == "file_too_large"
    assert pipe("--max-scan-bytes", "11").ask("read_file", path="a.txt")["ok"]


def test_describing_and_counting_need_no_more(root, long_file, server):
    assert server.ask("describe")["ok"]
    (root / "empty.txt").write_bytes(b"\n" * (1 << 24))
    top = server.ask("list_files", tree=True, depth=1)["result"]
    assert top["truncated"] is False


def test_a_match_over_many_lines_needs_no_more(root, server):
    (root / "text.txt").write_bytes(b"a\n" * (1 << 24))
    for pattern in (r"(?s)a.*z", r"a\n"):
        asked = {"pattern": pattern, "regex": True, "multiline": True, "max_bytes": 1 << 50, "max_hits": 2}
        answer = server.ask("grep", **asked, max_line_chars=100, max_chars=1000)
        assert answer["ok"]


def test_a_context_of_millions_of_lines_needs_no_more(root, server):
    (root / "text.txt").write_bytes(b"a\n" + b"\n" * (1 << 24))
    asked = {"pattern": "a", "max_bytes": 1 << 50, "context": 1 << 40}
    assert server.ask("grep", **asked)["error"]["code"] == "response_too_large"
    (root / "text.txt").write_bytes(b"a\n" * 100_000)
    assert server.ask("grep", **asked)["error"]["code"] == "response_too_large"
    assert server.ask("grep", **asked, max_hits=1)["ok"]
