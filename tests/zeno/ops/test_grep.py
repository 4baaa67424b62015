"""grep: which lines, in which order, how many, with what around them."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeno.text.file_lines import lines_of


def hits(answer):
    assert answer["ok"], answer
    return [(hit["path"], hit["line"]) for hit in answer["result"]["hits"]]


@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(
    first=st.text("ab\n\r", max_size=20),
    second=st.text("ab\n\r", max_size=20),
    pattern=st.sampled_from(["a", "b", "ab", "^a", "b$", "^$", "a.b", "a|bb", "^a*$", "[^a]"]),
    regex=st.booleans(),
    cap=st.integers(1, 6),
    context=st.integers(0, 3),
)
def test_hits_are_the_matching_lines_in_order_capped_with_context(
    root, ask, first, second, pattern, regex, cap, context
):
    texts = {"a-b": first.encode(), "a/x": second.encode()}
    (root / "a").mkdir(exist_ok=True)
    for path, data in texts.items():
        (root / path).write_bytes(data)
    expected = []
    for path, data in texts.items():
        lines = lines_of(data)
        for index, line in enumerate(lines):
            if re.search(pattern.replace("$", r"\Z") if regex else re.escape(pattern), line, re.DOTALL):
                hit = {"path": path, "line": index + 1, "text": line}
                if context:
                    low = max(0, index - context)
                    hit["context"] = [
                        {"line": low + 1 + offset, "text": text}
                        for offset, text in enumerate(lines[low : index + context + 1])
                    ]
                expected.append(hit)
    result = ask("grep", pattern=pattern, regex=regex, max_hits=cap, context=context)["result"]
    assert result["hits"] == expected[:cap]
    assert result["truncated"] is (len(expected) >= cap)
    assert result.get("truncated_by") == (["max_hits"] if len(expected) >= cap else None)


def test_case_folds_the_simple_unicode_way_for_literals_and_expressions_alike(root, ask):
    (root / "f").write_text("STRASSE\nstraße\n\u212a\nk\nÉ\ni\n\u0131\n")
    for pattern, lines in {"strasse": [1], "k": [3, 4], "é": [5], "I": [6]}.items():
        for regex in (False, True):
            assert hits(ask("grep", pattern=pattern, regex=regex, case_sensitive=False)) == [
                ("f", line) for line in lines
            ]


def test_invalid_bytes_are_searched_as_replacement_characters(root, ask):
    (root / "f").write_bytes(b"caf\xe9\nok\n")
    result = ask("grep", pattern="caf\ufffd")["result"]
    assert result["hits"] == [{"path": "f", "line": 1, "text": "caf\ufffd"}]


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["src"], ["src/[a].py", "src/b.py"]),
        (["src/"], ["src/[a].py", "src/b.py"]),
        (["./src/b.py"], ["src/b.py"]),
        (["src/[a].py"], ["src/[a].py"]),
        (["*.py"], ["src/[a].py", "src/b.py"]),
        (["."], ["src/[a].py", "src/b.py", "top"]),
        (["{root}/src/b.py"], ["src/b.py"]),
        (["{root}"], ["src/[a].py", "src/b.py", "top"]),
        (["nowhere", "top"], ["top"]),
        (["src/.hidden"], []),
    ],
)
def test_paths_are_globs_files_to_the_letter_or_directories(root, ask, paths, found):
    (root / "src").mkdir()
    for name in ["src/[a].py", "src/b.py", "top", "src/.hidden"]:
        (root / name).write_text("x\n")
    asked = [path.replace("{root}", str(root)) for path in paths]
    assert [path for path, _ in hits(ask("grep", pattern="x", paths=asked))] == found


@pytest.mark.parametrize("path", ["../x", "/etc", "src/../../x"])
def test_paths_that_leave_the_root_are_refused(ask, path):
    assert ask("grep", pattern="x", paths=[path])["error"]["code"] == "path_outside_root"


def test_what_is_skipped_is_counted_by_reason(root, ask):
    (root / "binary").write_bytes(b"x\0")
    (root / "large").write_bytes(b"x" * 50 + b"\0")
    (root / "small").write_text("x\n")
    answer = ask("grep", pattern="x", max_bytes=40)
    assert hits(answer) == [("small", 1)]
    metrics = answer["result"]["metrics"]
    assert (metrics["files_skipped_binary"], metrics["files_skipped_large"]) == (1, 1)


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<!a)", r"(a)\1", "a{1001}", "(", "[z-a]", "a**"])
def test_what_re2_cannot_do_is_refused_with_the_reason(ask, pattern):
    error = ask("grep", pattern=pattern, regex=True)["error"]
    assert error["code"] == "invalid_pattern"
    assert "RE2" in error["message"]
    assert ask("list_files", regex=pattern)["error"]["code"] == "invalid_pattern"


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(x+x+)+y", "(a|aa)+$", "(.*)*=b", "(a?){500}a{500}", "(" * 900 + ")" * 900]
)
def test_no_pattern_hangs_the_server(root, ask, pattern):
    (root / "f").write_text("a" * 20_000 + "!\n" + "x" * 20_000)
    assert ask("grep", pattern=pattern, regex=True)["ok"]


@pytest.mark.parametrize("case_sensitive", [True, False])
def test_a_literal_that_is_too_long_is_not_told_about_regular_expressions(ask, case_sensitive):
    error = ask("grep", pattern="x" * 1_000_000, case_sensitive=case_sensitive)["error"]
    assert error["code"] == "invalid_pattern"
    assert error["message"] == "args.pattern is too long a text to search for; search for a part of it"
