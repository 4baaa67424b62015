"""Ignore rules, with git itself as the referee."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.support.lacking import needs
from zeno.files.rules import NameRules
from zeno.files.tree import Tree
from zeno.files.walk import walk
from zeno.text.gitignore import (
    MAX_BYTES_IN_FORCE,
    MAX_FILE_BYTES,
    IgnoreRules,
    Ignores,
    _CompiledRules,
)
from zeno.text.gitignore_syntax import MAX_RULE_BYTES, _class_name

needs_git = needs("git", "git")  # it is the referee here

NAMES = ["a", "b", "ab", "x.y", ".h", "é", "a b", "-", "a[b]", "A", "#a", "!a", "b "]
FOLDERS = ["", "a/", "b/", "ab/", "a/b/", "a/b/a/", "b/a/", "é/", ".h/", "x.y/ab/"]
TOKENS = ["a", "b", "ab", "x.y", ".h", "é", "A", "*", "**", "***", "?", "/", "/", "/**/", "**/", "/**", "[ab]", "[!a]"]
TOKENS += [
    "[^b]",
    "[a-b]",
    "[b-a]",
    "[]a]",
    "[a",
    "[[:alpha:]]",
    "[[:punct:]-]",
    "[[:no:]]",
    "[[:a]",
    "[a-",
    "[\\]]",
    "]",
]
TOKENS += ["\\", "\\a", "\\*", "\\ ", " ", "  ", "!", "#", "\\#", "\\!", "-", "\t", "[a-\\b]", "[a\\-b]", "[/]", "[[a]"]
RULES = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=5).map("".join)
TEXTS = st.lists(RULES | st.sampled_from(["*", "!*/", "/*", "!a", "a/", "!a/", "**/a", "a/**", "!b"]), max_size=5)
ENDS = st.sampled_from(["\n", "\r\n"])


class Referee:
    """A repository with a fixed crowd of files, whose ignore files change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "--template=")
        for folder in FOLDERS:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for path in [root / folder / name for folder in FOLDERS for name in NAMES]:
            if not path.exists():
                path.touch()
        (root / ".git" / "info").mkdir(exist_ok=True)

    def git(self, *args: str) -> bytes:
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
        return subprocess.run(["git", *args], cwd=self.root, env=quiet, check=True, capture_output=True).stdout

    def rules(self, texts: dict[str, bytes]) -> None:
        for folder in FOLDERS:
            for name in (".gitignore", ".ignore"):
                (self.root / folder / name).unlink(missing_ok=True)
        (self.root / ".git/info/exclude").unlink(missing_ok=True)
        for path, text in texts.items():
            (self.root / path).write_bytes(text)

    def left(self, *how: str) -> list[bytes]:
        """The files that git does not ignore."""
        return sorted(name for name in self.git("ls-files", "--others", "-z", *how).split(b"\0") if name)


def ours(root: Path) -> list[bytes]:
    with Tree(str(root)) as tree:
        walked = walk(tree, NameRules(include_hidden=True, gitignore=True))
        return sorted(os.fsencode(path) for path, problem in walked if problem is None)


@pytest.fixture(scope="module")
def referee(tmp_path_factory) -> Referee:
    return Referee(tmp_path_factory.mktemp("repository"))


@needs_git
@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(
    texts=st.dictionaries(
        st.sampled_from([".gitignore", "a/.gitignore", "a/b/.gitignore", "b/.gitignore", ".git/info/exclude"]),
        st.tuples(TEXTS, ENDS, st.sampled_from(["", "\ufeff"])).map(lambda parts: parts[2] + parts[1].join(parts[0])),
        min_size=1,
    )
)
@example(texts={".gitignore": "a**/b"})
@example(texts={".gitignore": "a/*\n!a/b/\n", "a/b/.gitignore": "*\n!a\n"})
@example(texts={".gitignore": "*\n!*/\n!x.y"})
@example(texts={".gitignore": "a\r"})
@example(texts={".gitignore": "//\n/\n!\n\\"})
@example(texts={".gitignore": "?\n!\xe9"})
def test_what_is_left_is_what_git_leaves(referee, texts):
    referee.rules({path: text.encode() for path, text in texts.items()})
    assert ours(referee.root) == referee.left("--exclude-standard")


@needs_git
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    texts=st.dictionaries(st.sampled_from([".ignore", "a/.ignore", "a/b/.ignore"]), TEXTS.map("\n".join), min_size=1)
)
def test_files_named_ignore_are_read_the_same_way(referee, texts):
    referee.rules({path: text.encode() for path, text in texts.items()})
    assert ours(referee.root) == referee.left("--exclude-per-directory=.ignore")


@needs_git
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(rules=st.lists(st.binary(min_size=1, max_size=6), max_size=4))
def test_rules_of_any_bytes_are_read_as_git_reads_them(referee, rules):
    referee.rules({".gitignore": b"\n".join(rules)})
    assert ours(referee.root) == referee.left("--exclude-standard")


@needs_git
def test_a_repository_inside_knows_only_its_own_rules(tmp_path):
    outer = Referee(tmp_path)
    (tmp_path / "in").mkdir()
    inner = Referee(tmp_path / "in")
    outer.rules({".gitignore": b"ab\n", ".ignore": b"x.y\n"})
    inner.rules({".gitignore": b"b\n", ".git/info/exclude": b"A\n"})
    left = ours(tmp_path)
    own = {name for name in inner.left("--exclude-standard") if b"x.y" not in name}
    assert {name[3:] for name in left if name.startswith(b"in/")} == own
    assert b"in/ab/a" in left
    assert not any(name.startswith(b"ab/") for name in left)


def test_git_itself_is_never_shown(root, ask):
    for path in [".git/config", "a/.git/x", "b/f"]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    (root / ".gitignore").touch()
    shown = ask("list_files", include_hidden=True, gitignore=True)["result"]
    assert (shown["files"], shown["complete"]) == ([".gitignore", "b/f"], True)


def test_a_rule_in_ignore_comes_before_any_in_gitignore(root, ask):
    (root / "d").mkdir()
    for path in ["d/a", "d/b"]:
        (root / path).touch()
    (root / ".ignore").write_text("!a\n")
    (root / "d" / ".gitignore").write_text("a\nb\n")
    assert ask("list_files", gitignore=True)["result"]["files"] == ["d/a"]


def test_links_are_not_followed_to_rules(root, ask):
    (root / "rules").write_text("a\n")
    (root / ".gitignore").symlink_to("rules")
    (root / "a").touch()
    assert ask("list_files", gitignore=True)["result"]["files"] == ["a", "rules"]


@pytest.mark.parametrize("how", ["fifo", "too long"])
def test_rules_that_cannot_be_read_make_the_answer_incomplete(root, ask, how):
    (root / "a").touch()
    if how == "fifo":
        os.mkfifo(root / ".gitignore")
        expected = (["a"], True)  # no file, no rules
    else:
        (root / ".gitignore").write_text("a\n" + "#" * MAX_FILE_BYTES)
        expected = (["a"], False)
    result = ask("list_files", gitignore=True)["result"]
    assert (result["files"], result["complete"]) == expected


def nest(root: Path, levels: int, text: str) -> None:
    """Make a folder in a folder and so on, each with an ignore file and a file `a`."""
    for level in range(levels):
        folder = root / "/".join(["d"] * level)
        folder.mkdir(exist_ok=True)
        (folder / ".gitignore").write_text(text)
        (folder / "a").touch()


def test_rules_in_force_are_bounded_however_many_files_they_come_from(root, ask):
    """Compiled rules take a hundred times their text; a hundred nested files of legal size took gigabytes."""
    levels = MAX_BYTES_IN_FORCE // MAX_FILE_BYTES
    nest(root, levels, "b\n" + "#" * (MAX_FILE_BYTES - 2))
    whole = ask("list_files", gitignore=True)["result"]
    assert (whole["files"], whole["complete"]) == (["a", "d/a", "d/d/a", "d/d/d/a"], True)
    deepest = root / "/".join(["d"] * levels)
    deepest.mkdir()
    (deepest / "a").touch()
    (deepest / ".gitignore").write_text("a\n")
    beyond = ask("list_files", gitignore=True)["result"]
    assert (sorted(beyond["files"]), beyond["complete"]) == (sorted([*whole["files"], "d/d/d/d/a"]), False)


def test_rules_with_wildcards_count_many_times(root, ask):
    """A file of 256 KiB of them took 0.8 seconds for each name of 250 bytes."""
    (root / "a").touch()
    rule = b"*ab?*z\n"
    for rules, complete in ((MAX_BYTES_IN_FORCE // 32, True), (MAX_BYTES_IN_FORCE // 32 + 20_000, False)):
        (root / ".gitignore").write_bytes(rule * (rules // len(rule)))
        result = ask("list_files", gitignore=True)["result"]
        assert (result["files"], result["complete"]) == (["a"], complete)
    # Plain names, comments, and anything else take a look at the name together.
    (root / ".gitignore").write_bytes(b"# a*\nname\n" * (MAX_FILE_BYTES // 11))
    assert ask("list_files", gitignore=True)["result"]["complete"]


def test_a_policy_denies_everything_where_the_rules_in_force_are_too_large(root, pipe):
    nest(root, MAX_BYTES_IN_FORCE // MAX_FILE_BYTES + 1, "#" * MAX_FILE_BYTES)
    server = pipe("--deny", "ignored")
    assert server.ask("stat", path="d/d/d/a")["ok"]
    assert server.ask("stat", path="d/d/d/d/a")["error"]["code"] == "denied"


def test_compiled_rules_are_kept_and_bounded():
    files = [b"%d\n" % number + b"#" * (MAX_FILE_BYTES - 10) for number in range(20)]
    rules = _CompiledRules()
    first = rules.get(files[0])
    assert rules.get(files[0]) is first
    for data in files[1:]:
        rules.get(data)
        assert rules.get(data) is rules.get(data)
        assert sum(map(len, rules._kept)) <= 2 * MAX_BYTES_IN_FORCE
    assert rules.get(files[0]) is not first
    for number in range(2000):
        rules.get(b"%d" % number)
    assert len(rules._kept) <= 2 * MAX_BYTES_IN_FORCE >> 12


def test_the_servers_flag_decides_where_a_request_does_not(root, pipe):
    (root / ".gitignore").write_text("a\n")
    (root / "a").write_text("x\n")
    server = pipe("--gitignore")
    assert server.ask("list_files")["result"]["files"] == []
    assert server.ask("grep", pattern="x")["result"]["hits"] == []
    assert server.ask("list_files", gitignore=False)["result"]["files"] == ["a"]
    assert server.ask("read_file", path="a")["result"]["text"] == "x"


@pytest.mark.parametrize(
    "rule", [b"?", b"*?", b"[!a]", b"[[:punct:]]", b"a", b"**/", b"*a", b"[a-z]*", b"\\a", b"[ac-e]"]
)
def test_no_rule_of_legal_length_is_too_much_for_the_engine(rule):
    text = (rule * MAX_RULE_BYTES)[:MAX_RULE_BYTES]
    verdicts = [IgnoreRules(data).verdict(b"a/" * 30 + b"x", False) for data in (text, b"\n".join([text] * 60))]
    assert verdicts[0] == verdicts[1]


def test_a_longer_line_is_no_rule():
    assert IgnoreRules(b"*" * MAX_RULE_BYTES).verdict(b"x", False) is True
    assert IgnoreRules(b"*" * (MAX_RULE_BYTES + 1)).verdict(b"x", False) is None


def test_without_rules_nothing_is_left_out():
    assert Ignores().enter(b"", {}, None, is_repository=False).leave_out(b"a", True) is False


@given(st.text("[:]a", max_size=12).map(str.encode), st.integers(0, 11))
def test_the_name_of_a_class_is_what_stands_before_the_next_bracket_between_colons(glob, index):
    plain = re.compile(rb"\[:([^\]]*):\]").match(glob, index)
    assume(glob[index : index + 1] == b"[")
    assert _class_name(glob, index) == (plain[1] if plain else None)
