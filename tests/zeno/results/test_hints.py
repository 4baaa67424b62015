"""Hints: true sentences for those who came away with nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.errors import InvalidArgs
from zeno.results import hints
from zeno.text.globs import matcher


@pytest.fixture
def ask_tree(root, ask):
    for path in ["README.md", "src/app.py", "src/.cache/data.bin", ".env", "build/out.o", "Makefile"]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n")
    (root / ".gitignore").write_text("build/\n")
    return ask


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        ({"glob": "**/*.swift"}, "args.glob matched 0 of 4 files"),
        ({"regex": "swift$"}, "args.regex matched 0 of 4 files"),
        ({"glob": "src"}, "'src' is a directory: 'src/*' matches what is below it"),
        ({"glob": "SRC"}, "'src' is a directory: 'src/*' matches what is below it"),
        ({"glob": "/src/"}, "'src' is a directory: 'src/*' matches what is below it"),
        ({"glob": "readme.*"}, "'readme.*' would match if case did not count: 'README.md'"),
        ({"glob": "./Makefile"}, "paths are relative to the root: 'Makefile' matches"),
        ({"glob": "*.bin"}, "hidden files match, but were left out: 'src/.cache/data.bin'; see include_hidden"),
        ({"glob": ".*"}, "hidden files match, but were left out: '.env' and 1 more; see include_hidden"),
        ({"glob": "*.o", "gitignore": True}, "files that match were left out by gitignore: 'build/out.o'"),
        ({"glob": "*.o", "exclude_dirs": ["build"]}, "files that match were left out by exclude_dirs: 'build/out.o'"),
        ({"exclude_globs": ["*"]}, "the rules leave no file at all"),
        ({"glob": "z*", "max_files": 1}, "max_files (1) ended the scan: raise it, or go on with the cursor"),
    ],
    ids=str,
)
def test_list_files_says_why_it_found_nothing(ask_tree, args, hint):
    result = ask_tree("list_files", **args)["result"]
    assert (result["files"], hint in result["hints"]) == ([], True), result["hints"]


@pytest.mark.parametrize(
    ("paths", "hint"),
    [
        (["SRC"], "'SRC' would match if case did not count: 'src/app.py'"),
        (["lib", "docs"], "args.paths matched 0 of 4 files"),
        (["srcs"], "nothing is at 'srcs'; did you mean 'src'?"),
        (["src/ap.py"], "nothing is at 'src/ap.py'; did you mean 'src/app.py'?"),
        (["lib/src"], "nothing is at 'lib/src'; did you mean 'src'?"),
        ([".env"], "hidden files match, but were left out: '.env'; see include_hidden"),
    ],
    ids=str,
)
def test_grep_says_why_it_had_nothing_to_search(ask_tree, paths, hint):
    result = ask_tree("grep", pattern="x", paths=paths)["result"]
    assert (result["hits"], hint in result["hints"]) == ([], True), result["hints"]


def test_a_selection_that_found_files_needs_no_hint(ask_tree):
    assert "hints" not in ask_tree("list_files")["result"]
    assert "hints" not in ask_tree("grep", pattern="not there")["result"]


def test_a_page_after_the_last_needs_no_hint(ask_tree):
    cursor = ask_tree("list_files", glob="z*", max_files=3)["result"]["cursor"]
    assert "hints" not in ask_tree("list_files", glob="z*", max_files=3, cursor=cursor)["result"]


def test_a_glob_that_is_too_large_without_case_costs_no_more_than_its_hint(ask_tree):
    words = ["".join(chr(0x3B1 + (number * 7 + index * index) % 24) for index in range(300)) for number in range(560)]
    glob = "{" + ",".join(words) + "}"
    with pytest.raises(InvalidArgs):
        matcher([glob], "glob", case_sensitive=False)
    answer = ask_tree("list_files", glob=glob)
    assert answer["ok"], answer
    assert answer["result"]["hints"] == ["args.glob matched 0 of 4 files"]


def test_many_paths_do_not_make_many_hints(ask_tree):
    hints = ask_tree("grep", pattern="x", paths=["readme.md"] * 50)["result"]["hints"]
    assert len(hints) == 4


@pytest.fixture
def linked(root, ask):
    (root / "real/deep").mkdir(parents=True)
    (root / "real/deep/x.py").write_text("x\n")
    links = {"link": "real", "real/here": "deep", "up": ".", "out": "..", "gone": "none", "loop": "loop", "file": "a"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    (root / "a").write_text("x\n")
    return ask


@pytest.mark.parametrize(
    ("entry", "link", "real", "instead"),
    [
        ("link/deep/x.py", "link", "real", "real/deep/x.py"),
        ("link/deep/y.py", "link", "real", "real/deep/y.py"),
        ("./link/deep/", "link", "real", "real/deep"),
        ("link/**/*.py", "link", "real", "real/**/*.py"),
        ("link", "link", "real", "real"),
        ("real/here/x.py", "real/here", "real/deep", "real/deep/x.py"),
        ("up/real/deep/x.py", "up", ".", "real/deep/x.py"),
        ("up", "up", ".", "."),
    ],
)
def test_what_lies_below_a_linked_directory_is_named_by_its_real_path(linked, entry, link, real, instead):
    hint = f"linked directories are not entered, and {link!r} leads to {real!r}: ask for {instead!r}"
    result = linked("grep", pattern="x", paths=[entry])["result"]
    assert (result["hits"], result["hints"][1:]) == ([], [hint])
    if "/" in entry:
        result = linked("list_files", glob=entry)["result"]
        assert (result["files"], result["hints"][1:]) == ([], [hint])


@pytest.mark.parametrize(
    "entry",
    ["out/x", "gone/x", "loop/x", "file/x", "real/none", "*/deep/y.py", "link*/x", "real/../link/x", "a/../out"],
)
def test_a_path_that_leads_through_no_linked_directory_has_no_such_hint(linked, entry):
    assert linked("grep", pattern="x", paths=[entry])["result"]["hints"] == ["args.paths matched 0 of 3 files"]


def test_a_path_of_endless_steps_costs_no_more_than_the_directories_there_are(linked):
    entry = "real/" + "deep/" * 100_000 + "x"
    assert len(linked("grep", pattern="x", paths=[entry])["result"]["hints"]) == 1


def write(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("text\n")


@pytest.mark.parametrize("pattern", [r"class .*Admin", r"\w+", "(?i)x", "foo|bar", "^import", "end$", "[a-z]+"])
def test_a_literal_that_looks_like_an_expression_and_is_not_found_says_so(root, ask, pattern):
    write(root, "a")
    (hint,) = ask("grep", pattern=pattern)["result"]["hints"]
    assert "regex" in hint
    assert "hints" not in ask("grep", pattern=pattern, regex=True, paths=["a"])["result"]


@pytest.mark.parametrize("pattern", ["plain", "a.b", "f(x)", "a, b", "$HOME", "C:\\x", "((", "x*y"])
def test_plain_text_that_is_not_found_has_no_hints(root, ask, pattern):
    write(root, "a")
    assert "hints" not in ask("grep", pattern=pattern)["result"]


def test_what_is_found_needs_no_hint_whatever_it_looks_like(root, ask):
    (root / "a").write_text("a.*b\n")
    assert "hints" not in ask("grep", pattern="a.*b")["result"]
    assert "hints" not in ask("grep", pattern="a.*b", output="count")["result"]


def test_a_bare_name_that_stands_deeper_is_told(root, ask):
    write(root, "src/app.py", "src/x/app.py", "other.py")
    hints = ask("list_files", glob="app.py")["result"]["hints"]
    assert any("'**/app.py' matches 'src/app.py' and 1 more" in hint for hint in hints)
    assert any("'**/x'" in hint for hint in ask("grep", pattern="text", paths=["x"])["result"]["hints"])


def test_a_star_that_went_into_directories_is_told(root, ask):
    write(root, "src/a.py", "src/deep/b.py")
    (hint,) = ask("list_files", glob="src/*.py")["result"]["hints"]
    regex = hint.rpartition("use regex ")[2]
    assert ask("list_files", regex=regex)["result"]["files"] == ["src/a.py"]
    for glob in ("src/*", "**/*.py", "*.py", "src/a*.py", "src/a.py"):
        assert "hints" not in ask("list_files", glob=glob)["result"]


def test_directories_of_paths_are_each_found_once():
    """With a slice for each slash of each path, a deep directory of many files took minutes."""
    deep = "/".join("abc" * 30)
    paths = [*(f"{deep}/{number}" for number in range(50)), "top", "x/y"]
    expected = {path[:at] for path in paths for at, char in enumerate(path) if char == "/"}
    assert hints._directories(paths) == sorted(expected)


LONG = 1_000_000


@pytest.mark.parametrize("part", ["[", "\\", "\\n", "[\\n", "]\\n", "a|", "(", ".", "$"])
@pytest.mark.parametrize("regex", [False, True])
def test_a_hint_takes_time_linear_in_the_pattern(part, regex):
    # Quadratic time would be half an hour for each.
    hints.on_pattern(part * (LONG // len(part)), "args.pattern", regex=regex, multiline=False)


@given(st.text(st.sampled_from("\\n[]a\n^"), max_size=12))
def test_a_line_feed_in_an_expression_is_what_one_search_of_all_of_it_finds(pattern):
    plain = re.search(r"\n|(?<!\\)(?:\\\\)*\\n(?![^\[]*\])", pattern) is not None
    assert hints._has_line_feed(pattern) == plain
