"""Targets that match text: globs against fnmatch, ignore rules against git, the index against RE2."""

import io
from functools import cache

from tests.zeno.text.test_gitignore import Referee
from tests.zeno.text.test_globs import model_matches
from tools.fuzz.target import Target, make_folder, text_of
from zeno.cache.text_store import _meet
from zeno.errors import InvalidArgs, InvalidPattern
from zeno.files.rules import NameRules
from zeno.files.tree import Tree
from zeno.files.walk import walk
from zeno.index import signatures
from zeno.search.query import Plan
from zeno.text import globs
from zeno.text.path_names import Paths
from zeno.text.regex import searcher

_PATHS = ("a", "b", "ab", "a/b", "a/b/c.py", "b/a", ".a", "[", "]", "{a}", "a,b", "\n", "é/a", "!", "-", "a/.b/c")
_MOST = 200


def glob(data: bytes) -> None:
    """A glob matches what fnmatch matches, `**/` and braces aside, one path at a time or many at once."""
    text = text_of(data[:40])
    if not text or "\0" in text or text.count("**/") > 4 or text.count("{") > 4:
        return
    try:
        matches = globs.matcher([text], "glob")
    except InvalidArgs:
        return
    for path in _PATHS:
        assert matches(path) == model_matches(text, path), path
    paths = sorted(path for path in _PATHS if "\n" not in path)
    assert matches.of(Paths(paths)) == [path for path in paths if matches(path)]
    reaches = globs.reach(globs.expand(text, "glob"))
    for path in paths:
        if matches(path) and "/" in path:
            assert reaches(path.rpartition("/")[0]), path


@cache
def _referee() -> Referee:
    return Referee(make_folder("gitignore"))


def gitignore(data: bytes) -> None:
    """Ignore rules leave out what git leaves out."""
    data = data[:_MOST]
    referee = _referee()
    referee.rules({".gitignore": data})
    with Tree(str(referee.root)) as tree:
        entries = walk(tree, NameRules(include_hidden=True, exclude_dirs=frozenset([".git"]), gitignore=True))
        found = sorted(entry.path.encode() for entry in entries if entry.problem is None)
    assert found == [name for name in referee.left("--exclude-standard") if not name.startswith(b".git/")]


def index(data: bytes) -> None:
    """Neither the index nor the scan of many lines rules out a text that holds a line which RE2 matches."""
    flags, _, rest = data.partition(b"\n")
    pattern, _, text = rest.partition(b"\n")
    if len(pattern) > _MOST or b"\0" in text:
        return
    words, case_sensitive, regex = text_of(pattern), b"i" not in flags, b"l" not in flags
    text = text_of(text).encode()
    try:
        matches = searcher(words, "pattern", case_sensitive=case_sensitive, literal=not regex)
    except InvalidPattern:
        return
    plan = Plan(words, regex=regex, case_sensitive=case_sensitive)
    lines = [line for line in text.split(b"\n") if matches(line)]
    if not lines:
        return
    assert _meet(plan.demand, _bits(text).row, 1), "the index rules out a text that matches"
    for scan in (plan.scan, plan.scan_of([text])):
        for line in lines if scan else ():
            assert scan is not None
            assert scan(line, 0, len(line))[0] >= 0, "the scan rules out a line that matches"
            padded = b"x\n" + line + b"\ny"
            assert scan(padded, 0, len(padded))[0] >= 0, "the scan rules out a line among others"
    needles = plan.demand.needles
    assert not needles or all(any(needle in line for needle in needles) for line in lines), "a needle is missing"


def _bits(text: bytes) -> signatures.Block:
    asked, told = io.BytesIO(), io.BytesIO()
    signatures.send([text], 1, asked)
    asked.write(bytes(4))
    asked.seek(0)
    signatures.main(asked, told)
    told.seek(0)
    block = signatures.receive(1, told)
    assert block is not None
    return block


_GLOB_WORDS = (
    b"*",
    b"**/",
    b"?",
    b"[a-b]",
    b"[!a]",
    b"[]a]",
    b"[b-a]",
    b"{a,b}",
    b"{a,{b,c}}",
    b"[[",
    b"/",
    b"\\",
    b"{,a}",
)
_RULE_WORDS = (
    b"!",
    b"#",
    b"/",
    b"\\",
    b"**",
    b"*",
    b"[[:alpha:]]",
    b"[!a]",
    b"[a-",
    b" \n",
    b"\r\n",
    b"\\ ",
    b"a/",
    b"/b",
)
_RE2_WORDS = (
    *(
        b"(?i)",
        b"(?:a|b)",
        b"[^a]",
        b"\\b",
        b"\\pL",
        b"{2,3}",
        b"^",
        b"$",
        b"\\Qa\\E",
        b"\\x{17f}",
        b"(?-i:K)",
        b"\\z",
        b"\\A",
    ),
    *(
        b"[[:alpha:]]",
        b"\\d+",
        b".*",
        b"(?s:.)",
        b"|",
        b"\\C",
        b"(?U)",
        b"\xe2\x84\xaa",
        b"\xc5\xbf",
        b"\xc4\xb0",
        b"(?P<n>a)",
    ),
)
TARGETS = {
    "glob": Target(
        glob, (b"a/**/b", b"{a,b}.py", b"[!]-a]"), _GLOB_WORDS, "an @example in tests/zeno/text/test_globs.py"
    ),
    "gitignore": Target(
        gitignore,
        (b"*.y\n!a\n", b"/a/**\n", b"[[:punct:]-]\n"),
        _RULE_WORDS,
        "an @example in tests/zeno/text/test_gitignore.py",
    ),
    "index": Target(
        index,
        (
            b"\nhello (?:world|moon)\nhello world\n",
            b"i\nstra(ss|\xc3\x9f)e\nSTRASSE\n",
            b"l\na.b\nxa.by\n",
            b"\n^a+$\nb\naaa",
        ),
        _RE2_WORDS,
        "an @example in tests/zeno/cache/test_warm_corpus.py",
    ),
}
