"""A client that knows nothing but `tools/list` finds out about a function, and its claims check out."""

import json
import re
from pathlib import Path

from tools.bench import mcp_investigation
from zeno.cli.parser import main

TREE = Path(__file__).resolve().parents[2] / "docs" / "investigation" / "tree"


def test_an_investigation_of_many_requests_follows_from_answers_and_hints(tmp_path, capfd):
    log = tmp_path / "trace.jsonl"
    asked = ["--tree", str(TREE), "--name", "load", "--absent", "parse_duration", "--characters", "--log", str(log)]
    assert mcp_investigation.main(asked) == 0
    transcript = capfd.readouterr().out
    assert len(re.findall(r"^## ", transcript, re.MULTILINE)) >= 15
    for why in ("the hint says to set regex", "the hint says to set multiline", "the hint names a glob"):
        assert why in transcript
    assert "tests/test_settings.py" in transcript
    assert "error" not in {json.loads(line)["event"] for line in log.read_text().splitlines()}
    assert main(["trace", "verify", str(log), "--root", str(TREE), "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["hold"] == 2


def test_numbered_lines_of_an_answer_belong_to_the_path_above_them():
    hits = "a b.py\n> 3\tx = 1\n  4\t\n--\n> 9\t…y…\n"
    text = f"{hits}c.py: lines 1-1 of 2\n1\tz\n[3 hits; complete]\nhint: no"
    found = mcp_investigation.places(text)
    assert [(one.path, one.line, one.text) for one in found] == [
        ("a b.py", 3, "x = 1"),
        ("a b.py", 4, ""),
        ("a b.py", 9, "y"),
        ("c.py", 1, "z"),
    ]
    assert mcp_investigation.last_line(text) == "3 hits; complete"
    assert mcp_investigation.hints(text) == ["no"]
