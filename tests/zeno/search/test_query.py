"""The limit on states times bytes: where it begins, what it counts, and that caches do not matter."""

import pytest

from zeno.search.query import MAX_WORK, UNMETERED
from zeno.text.regex import states

LARGE = r"(\pL?\pN?){300}zz"


def test_a_class_counts_as_what_it_costs_not_as_its_program_for_utf_8():
    assert states(r"\pL+\s\pL+") < 100
    assert states(r".{0,200}needle.{0,200}") <= UNMETERED < states(LARGE)


@pytest.mark.parametrize("pattern", ["\u017f", r"\x{17f}", r"[\x{100}-\x{200}]{2000}", "\ud800"])
def test_every_pattern_has_a_number_of_states_or_is_refused_by_re2(pattern):
    assert states(pattern) >= 0


@pytest.mark.parametrize("flags", [[], ["--no-cache"]])
def test_a_search_is_refused_by_the_size_of_what_it_selects(root, pipe, flags):
    (root / "d").mkdir()
    (root / "d" / "small").write_text("a1zz\n")
    (root / "large").write_text("b\n" * (MAX_WORK // states(LARGE) // 2 + 1))
    server = pipe(*flags)
    error = server.ask("grep", pattern=LARGE, regex=True)["error"]
    assert error["code"] == "pattern_too_costly"
    assert str(states(LARGE)) in error["message"]
    assert len(server.ask("grep", pattern=LARGE, regex=True, paths=["d"])["result"]["hits"]) == 1
    assert server.ask("grep", pattern="zz", regex=True)["result"]["complete"] is True
    # As a literal it is no regular expression.
    assert server.ask("grep", pattern=LARGE)["result"]["complete"] is True


@pytest.mark.parametrize("flags", [[], ["--no-cache"]])
@pytest.mark.parametrize("multiline", [False, True])
def test_a_long_literal_in_any_case_is_refused_like_an_expression(root, pipe, flags, multiline):
    (root / "d").mkdir()
    (root / "d" / "small").write_text("A" * 3000 + "b\n")
    (root / "large").write_text("a" * 1_900_000 + "\n")
    server = pipe(*flags)
    args = {"pattern": "a" * 3000 + "B", "multiline": multiline}
    error = server.ask("grep", case_sensitive=False, **args)["error"]
    assert error["code"] == "pattern_too_costly"
    assert "search for a part of it" in error["message"]
    assert len(server.ask("grep", case_sensitive=False, paths=["d"], **args)["result"]["hits"]) == 1
    # Letter for letter it costs as little as a short one.
    assert server.ask("grep", **args)["result"]["complete"] is True


@pytest.mark.parametrize("multiline", [False, True])
def test_a_long_literal_letter_for_letter_is_found_without_states(root, pipe, multiline):
    # For RE2 each place may be the beginning of thousands of letters.
    (root / "f").write_text("a" * 1_900_000 + "b\n" + "c\n")
    server = pipe("--max-seconds", "60")
    hit = server.ask("grep", pattern="a" * 20_000 + "b", multiline=multiline, max_line_chars=30_000)["result"]["hits"][
        0
    ]
    assert (hit["line"], len(hit["text"]), hit["text"][-1]) == (1, 30_000, "b")


def test_the_limit_can_be_set_and_is_told(root, pipe):
    (root / "a").write_text("a1zz\n" * 2)
    assert pipe().ask("grep", pattern=LARGE, regex=True)["ok"]
    assert "max_pattern_work" not in pipe().ask("describe", schemas=False)["result"]["limits"]
    strict = pipe("--max-pattern-work", str(9 * states(LARGE)))
    assert strict.ask("grep", pattern=LARGE, regex=True)["error"]["code"] == "pattern_too_costly"
    assert strict.ask("describe", schemas=False)["result"]["limits"]["max_pattern_work"] == 9 * states(LARGE)


def test_a_pattern_for_paths_is_refused_by_their_length(root, pipe):
    for name in ("a" * 50, "b" * 50):
        (root / name).touch()
    server = pipe("--max-pattern-work", str(99 * states(LARGE)))
    error = server.ask("list_files", regex=LARGE)["error"]
    assert (error["code"], "args.regex" in error["message"]) == ("pattern_too_costly", True)
    assert server.ask("list_files", regex=LARGE, exclude_globs=["b*"])["ok"]
