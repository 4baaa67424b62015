"""Targets that match text: globs against fnmatch, ignore rules against git, the index against RE2."""

from functools import cache

from tests.zeno.text.test_gitignore import Referee
from tests.zeno.text.test_globs import model_matches
from tools.fuzz.target import Target, make_folder, text_of
from tools.random_patterns import find_differences, hold_texts
from zeno.errors import InvalidArgs, InvalidPattern
from zeno.files.rules import NameRules
from zeno.files.tree import Tree
from zeno.files.walk import walk
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
    """The index and every scan of a text find the lines that RE2 matches, and the sieve rules none of them out."""
    flags, _, rest = data.partition(b"\n")
    pattern, _, text = rest.partition(b"\n")
    if len(pattern) > _MOST or b"\0" in text or not text:
        return
    words, case_sensitive, regex = text_of(pattern), b"i" not in flags, b"l" not in flags
    try:
        matches = searcher(words, "pattern", case_sensitive=case_sensitive, literal=not regex)
    except InvalidPattern:
        return
    plan = Plan(words, regex=regex, case_sensitive=case_sensitive)
    assert not list(find_differences(plan, matches, [text], *hold_texts([text])))


_GLOB_WORDS = tuple(rb"* **/ ? [a-b] [!a] []a] [b-a] {a,b} {a,{b,c}} [[ / \ {,a}".split())
_RULE_WORDS = (*rb"! # / \ ** * [[:alpha:]] [!a] [a- a/ /b".split(), b" \n", b"\r\n", b"\\ ")
_RE2_WORDS = (
    *rb"(?i) (?:a|b) [^a] \b \pL {2,3} ^ $ \Qa\E \x{17f} (?-i:K) \z \A [[:alpha:]] \d+ .* (?s:.) | \C (?U)".split(),
    *"\u212a \u017f \u0130 (?P<n>a)".encode().split(),
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
