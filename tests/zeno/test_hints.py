"""Hints: true sentences for those who came away with nothing."""

import pytest

from zeno.errors import InvalidArgs
from zeno.globs import matcher


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
