"""Universal Ctags as a referee: which of its kinds are compared with which of ours, and how names are spelled.

Differences of coverage do not count as errors. Kinds that only one side knows are left out by the table, and so are
ctags' names of anonymous things, the blank name, C functions named in capitals (ctags takes `TEST(a, b) {` for a
definition of `TEST`) and bodies of Rust macros, which ctags passes over. Of a qualified name only the last part counts.
Kotlin and Objective-C are not compared: ctags 5.9 takes parameters of lambdas for methods in the one and gives the line
of the brace in the other.
"""

import re
from typing import NamedTuple

TYPES = "class struct union enum interface trait type"
CALLS = "function method"


class Cover(NamedTuple):
    """The language as ctags calls it, its kinds to compare, and our kinds."""

    ctags: str
    theirs: str
    ours: str


COVERED = {
    "c": Cover("C", "macro function enum struct typedef union", f"{TYPES} {CALLS} macro"),
    "cpp": Cover("C++", "macro function enum struct typedef union class namespace", f"{TYPES} {CALLS} macro namespace"),
    "csharp": Cover("C#", "class enum interface method struct", f"{TYPES} {CALLS}"),
    "elixir": Cover("Elixir", "function macro module protocol type", f"{TYPES} {CALLS} macro module"),
    "go": Cover("Go", "func struct interface type talias const var methodSpec", f"{TYPES} {CALLS} constant variable"),
    "java": Cover("Java", "annotation class enum interface method", f"{TYPES} {CALLS}"),
    "javascript": Cover("JavaScript", "class function generator method getter setter", f"{TYPES} {CALLS}"),
    "lua": Cover("Lua", "function", CALLS),
    "markdown": Cover("Markdown", "chapter section subsection subsubsection l4subsection l5subsection", "heading"),
    "perl": Cover("Perl", "package subroutine", f"{CALLS} module"),
    "php": Cover("PHP", "class interface function trait", f"class interface trait {CALLS}"),
    "protobuf": Cover("Protobuf", "enum message rpc service", f"{TYPES} {CALLS} message service"),
    "python": Cover("Python", "class function member", f"class {CALLS}"),
    "ruby": Cover("Ruby", "class method module singletonMethod", f"class module {CALLS}"),
    "rust": Cover(
        "Rust", "macro method enum function interface module struct typedef", f"{TYPES} {CALLS} macro module"
    ),
    "shell": Cover("Sh", "function", CALLS),
    "sql": Cover("SQL", "function index procedure table trigger view", "function index table trigger view"),
    "typescript": Cover(
        "TypeScript", "class function generator method interface enum alias namespace", f"{TYPES} {CALLS} namespace"
    ),
}
QUALIFIER = re.compile(r"^.*(?:::|[.:\\])(?=.)")
OPERATOR = re.compile(r"operator\b[^.]")
MACRO_NAME = re.compile(r"[A-Z][A-Z0-9_]+")
MACRO_BODY = re.compile(r"^([ \t]*)\S[^\n]*!.*[({\[]\n(?:(?:\1[ \t].*)?\n)*\1[)}\]]", re.MULTILINE)


def plain(name: str) -> str:
    """Spell a name as the comparison does."""
    name = name.replace(" ", "").replace("`", "")
    return name if OPERATOR.match(name) else QUALIFIER.sub("", name)


def comparable(cover: Cover, kind: str, name: str) -> bool:
    """Whether both sides can find a definition with this name."""
    if name == "_" or "__anon" in name or name.startswith("<"):
        return False
    return not (cover.ctags in ("C", "C++") and kind == "function" and MACRO_NAME.fullmatch(name))


def ctags_command(cover: Cover, fields: str) -> list[str]:
    """Return a command that prints the tags of files, whose names it reads, one JSON object a line."""
    options = ["--options=NONE", "--output-format=json", f"--fields={fields}", "--sort=no"]
    return ["ctags", *options, f"--language-force={cover.ctags}", "-L", "-", "-f", "-"]


def hidden_lines(text: str) -> set[int]:
    """Return the lines of macro bodies of Rust, which ctags passes over."""
    hidden: set[int] = set()
    for body in MACRO_BODY.finditer(text):
        first = text.count("\n", 0, body.start()) + 2
        hidden.update(range(first, first + body[0].count("\n")))
    return hidden
