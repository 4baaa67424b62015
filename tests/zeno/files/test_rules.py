"""The rules about names against their plain definition, one name at a time."""

import os

from hypothesis import given
from hypothesis import strategies as st

from zeno.files.rules import NameRules
from zeno.text.gitignore import Ignores

NAMES = [".git", ".gitignore", ".h", "a", "b", "build", "caf\u00e9", os.fsdecode(b"\xff"), "x.log"]
PRINTED = {os.fsdecode(b"\xff"): "\0ff"}


def plain(rules: NameRules, name: str, is_directory: bool, ignored: bool) -> str | None:
    """The first rule that applies to a name."""
    if name.startswith(".") and not rules.include_hidden:
        return "hidden"
    if rules.gitignore and (name == ".git" or ignored):
        return "ignored"
    if is_directory and PRINTED.get(name, name) in rules.exclude_dirs:
        return "excluded"
    return None


@given(
    rules=st.builds(
        NameRules, st.booleans(), st.frozensets(st.sampled_from(["a", "build", "\0ff", ".git"])), st.booleans()
    ),
    entries=st.dictionaries(st.sampled_from(NAMES), st.booleans()),
    base=st.sampled_from([b"", b"d/"]),
)
def test_each_name_is_left_out_by_the_first_rule_that_applies(rules, entries, base):
    lines = b"*.log\nbuild/\ncaf\xc3\xa9\n"
    inside = rules.begin()
    if inside is not None:
        inside = inside.enter(base, {".gitignore": lines}, None, is_repository=False)
    expected = {}
    for name, is_directory in entries.items():
        ignored = name in ("x.log", "caf\u00e9") or (name == "build" and is_directory)
        rule = plain(rules, name, is_directory, ignored)
        if rule is not None:
            expected[name] = rule
    assert rules.leave_out(entries.items(), base, inside) == expected


def test_rules_that_leave_everything_say_so():
    assert NameRules(include_hidden=True).leave_all
    assert not NameRules().leave_all
    assert not NameRules(include_hidden=True, gitignore=True).leave_all
    assert NameRules().begin() is None
    assert NameRules(gitignore=True).begin() == Ignores()
