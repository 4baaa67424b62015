"""grep with multiline: matches over several lines, as a simple model, ripgrep and the rest of the tools see them."""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.lacking import needs
from tests.support.request_model import compiled, spans
from tests.zeno.results.test_cursors import pages
from zeno.ops import grep as operation
from zeno.text.file_lines import lines_of, receipt

EASY = settings(max_examples=200, suppress_health_check=list(HealthCheck))
PATTERNS = [
    *("a", "a\\nb", "\\n", "\\n\\n", "^$", "^b", "a$\\nb", "a[^b]*b", "(?s)a.*b", "(?s)a.*?b", "a.b", "(?s:.)b"),
    *("[ab]+\\n+", "a|\\nb", "a*", "b\\n|", "\\Aa", "\\n[ab]*\\n", "(?:a\\n)?b", "$", "b$", "a(?s:.*)bbb|a"),
]


def hits(answer):
    assert answer["ok"], answer
    return [(hit["path"], hit["line"], hit["end_line"]) for hit in answer["result"]["hits"]]


@EASY
@given(
    data=st.text("ab\n\r", max_size=24),
    pattern=st.sampled_from(PATTERNS),
    cap=st.integers(1, 6),
    context=st.integers(0, 2),
)
def test_hits_are_the_lines_of_matches_in_the_whole_text(root, ask, data, pattern, cap, context):
    (root / "f").write_bytes(data.encode())
    lines = lines_of(data.encode())
    expected = spans(compiled(pattern, True, True), lines)
    result = ask("grep", pattern=pattern, regex=True, multiline=True, max_hits=cap, context=context)["result"]
    assert [(hit["line"], hit["end_line"]) for hit in result["hits"]] == expected[:cap]
    assert result["truncated"] is (len(expected) >= cap)
    for hit in result["hits"]:
        first, last = hit["line"], hit["end_line"]
        assert hit["text"] == "\n".join(lines[first - 1 : last])
        around = range(max(1, first - context), min(len(lines), last + context) + 1)
        assert hit.get("context", []) == [{"line": n, "text": lines[n - 1]} for n in around if context]


@EASY
@given(data=st.text("ab\n\r", max_size=24), pattern=st.sampled_from(["a", "^a", "b$", "a.b", "^$", "[ab]b", "a|bb"]))
def test_patterns_that_match_no_line_feed_find_the_same_lines_either_way(root, ask, data, pattern):
    (root / "f").write_bytes(data.encode())
    plain = ask("grep", pattern=pattern, regex=True)["result"]["hits"]
    assert hits(ask("grep", pattern=pattern, regex=True, multiline=True)) == [
        (hit["path"], hit["line"], hit["line"]) for hit in plain
    ]


@EASY
@given(data=st.text("ab\n", max_size=40), pattern=st.sampled_from(PATTERNS), limit=st.integers(1, 9), by=st.booleans())
def test_all_pages_together_are_the_uncut_hits(root, ask, data, pattern, limit, by):
    (root / "e").write_text(data)
    (root / "f").write_text(data[::-1])
    args = {"pattern": pattern, "regex": True, "multiline": True}
    whole = ask("grep", **args)["result"]["hits"]
    cut = {"max_chars": limit} if by else {"max_hits": limit}
    found = pages(ask, "grep", "hits", **args, **cut)
    assert [(hit["path"], hit["line"], hit["end_line"]) for hit in found] == [
        (hit["path"], hit["line"], hit["end_line"]) for hit in whole
    ]
    for hit, uncut in zip(found, whole, strict=True):
        assert hit["text"] == uncut["text"] if "clipped" not in hit else len(hit["text"]) <= limit


@EASY
@given(data=st.text("ab\n", max_size=40), pattern=st.sampled_from(PATTERNS))
def test_counts_are_the_lines_that_are_part_of_a_match(root, ask, data, pattern):
    (root / "f").write_text(data)
    args = {"pattern": pattern, "regex": True, "multiline": True}
    lines = sum(last - first + 1 for _, first, last in hits(ask("grep", **args)))
    assert ask("grep", **args, output="count")["result"]["total"] == {"files": int(lines > 0), "lines": lines}
    counts = ask("grep", **args, output="files")["result"]["counts"]
    assert counts == ([{"path": "f", "lines": lines}] if lines else [])


def test_a_receipt_is_that_of_all_lines_and_verifies(root, ask):
    (root / "f").write_bytes(b"x\r\nopen(\r\n  a\r\n)\r\n")
    args = {"pattern": r"open\([^)]*\)", "regex": True, "multiline": True, "receipts": True}
    (hit,) = ask("grep", **args)["result"]["hits"]
    assert (hit["line"], hit["end_line"], hit["text"]) == (2, 4, "open(\n  a\n)")
    assert hit["sha256"] == receipt(hit["text"])
    cited = {"path": "f", "start_line": 2, "end_line": 4, "sha256": hit["sha256"]}
    assert ask("verify", citations=[cited])["result"]["items"][0]["verdict"] == "ok"


def test_long_lines_are_clipped_one_by_one_around_the_match(root, ask):
    (root / "f").write_text("x" * 50 + "begin\nmiddle of it\nend" + "y" * 50 + "\n")
    args = {"pattern": r"begin[^!]*?end", "regex": True, "multiline": True, "max_line_chars": 8}
    (hit,) = ask("grep", **args)["result"]["hits"]
    assert hit["text"] == "xxxbegin\nmiddle o\nendyyyyy"
    assert (hit["end_line"], hit["clipped"]) == (3, True)


def test_a_hit_with_more_lines_than_a_page_has_characters_shows_the_first_ones(root, ask):
    (root / "f").write_text("one\n" * 30)
    args = {"pattern": "(?s).*", "regex": True, "multiline": True, "max_chars": 10}
    (hit,) = ask("grep", **args)["result"]["hits"]
    assert (hit["line"], hit["end_line"], hit["text"], hit["clipped"]) == (1, 30, "one\none", True)


def test_a_file_whose_matches_take_too_long_is_counted_as_too_large(root, ask, monkeypatch):
    (root / "f").write_text("ab\n" * 40)
    (root / "g").write_text("ab\n")
    args = {"pattern": "a(?s:.*)!|a", "regex": True, "multiline": True}
    monkeypatch.setattr(operation, "MAX_MULTILINE_BYTES", 1000)
    result = ask("grep", **args)["result"]
    assert (result["complete"], result["skipped"]["too_large"]) == (False, 1)
    assert result["metrics"]["files_skipped_large"] == 1
    # Each search may look at all that is left of the 120 bytes: 120 + 119 + 116 and so on.
    lines = [hit["line"] for hit in result["hits"] if hit["path"] == "f"]
    assert lines == list(range(1, len(lines) + 1))
    assert 0 < len(lines) < 40
    assert result["hits"][-1]["path"] == "g"
    monkeypatch.undo()
    assert ask("grep", **args)["result"]["complete"]


def test_a_search_for_lines_says_that_a_line_feed_needs_multiline(root, ask):
    (root / "f").write_text("a\nb\n")
    for args in ({"pattern": "a\nb"}, {"pattern": "a\\nb", "regex": True}):
        (hint,) = ask("grep", **args)["result"]["hints"]
        assert "set multiline to true" in hint
        assert hits(ask("grep", **args, multiline=True)) == [("f", 1, 2)]
    for pattern in ("c", "x[^\\n]*y", "a\\\\nc"):
        assert "hints" not in ask("grep", pattern=pattern, regex=True)["result"]


@pytest.mark.parametrize("pattern", ["(", "(?=a)", "a)(b", "a{1001}"])
def test_patterns_that_re2_refuses_are_refused(ask, pattern):
    assert ask("grep", pattern=pattern, regex=True, multiline=True)["error"]["code"] == "invalid_pattern"


@needs("rg", "ripgrep")
@pytest.mark.parametrize(
    "pattern",
    [
        r"def \w+\([^)]*\n[^)]*\)",
        r"\\\n\s+",
        r"except .*:\n\s+pass",
        r"(?s)class \w+\(.{0,80}?\):",
        r"^$\n^$",
        r"import .*\n\n\n+class",
        r"\}\n\s*\{|\(\n",
    ],
)
def test_hits_on_a_real_tree_are_those_of_ripgrep(root, ask, pattern):
    source = Path(sysconfig.get_path("stdlib"))
    for folder in ("json", "email", "asyncio", "importlib"):
        for path in (source / folder).rglob("*.py"):
            data = path.read_bytes()
            # Carriage returns are part of a line for ripgrep.
            if b"\r" not in data and data.endswith(b"\n"):
                target = root / path.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
    rg = ["rg", "--no-config", "--sort", "path", "-uuu", "-U", "-n", "-0", "--no-heading", "-e", pattern, "."]
    done = subprocess.run(rg, cwd=root, capture_output=True, check=False)
    lines = re.findall(rb"^\./([^\0\n]+)\0([0-9]+):", done.stdout, re.MULTILINE)
    expected = sorted((path.decode(), int(number)) for path, number in lines)
    assert len(expected) > 3
    found = hits(ask("grep", pattern=pattern, regex=True, multiline=True, max_hits=10**6))
    assert [(path, line) for path, first, last in found for line in range(first, last + 1)] == expected
