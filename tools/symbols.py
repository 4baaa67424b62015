"""Measure the symbol rules against Universal Ctags.

    python tools/symbols.py DIR [--language L] [--worst N] [--typescript FILE]

What is compared is the set of (name, line) pairs, file by file, of the
definitions that both sides claim to cover: the ctags kinds in `COVERED`, and of
our symbols the kinds that stand beside them there. Recall is the share of the
ctags pairs that we find, precision the share of our pairs that ctags knows.

Normalisation, so that differences of coverage do not count as errors:

- kinds only one side knows (fields, enumerators, locals, imports, packages) are
  left out by the table;
- ctags' made-up names of anonymous things (`__anon...`, `<lambda>`) and the blank
  name `_` are left out;
- spaces inside names are dropped (`operator ==` and `operator==`), so are the
  backquotes of quoted names, and of a qualified name only the last part counts;
- C and C++: functions named in capitals are left out, as ctags takes `TEST(a, b) {`
  for a definition of `TEST`;
- Rust: what stands in the body of a macro call or of `macro_rules!` is left out,
  as ctags passes over it (the indentation tells where such a body ends);
- Kotlin and Objective-C are not compared: ctags 5.9 takes parameters of lambdas for
  methods in the one and gives the line of the brace for methods in the other;
- a file that is no UTF-8 is left out.

For JavaScript and TypeScript, `--typescript` names the file `lib/typescript.js` of
the compiler's package: then its syntax tree (see `symbols_typescript.js`, which
needs Node) is the reference instead of ctags 5.9, which knows neither async
methods nor most of the present syntax, and calls object literals classes.

ctags is a second opinion, not the truth: `--worst` shows the files with the most
disagreements, `-` what only ctags has, `+` what only we have.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from zeno.text.symbols import language_of, symbols_of

TYPES = "class struct union enum interface trait type"
CALLS = "function method"


class Cover(NamedTuple):
    """The language as ctags calls it, its kinds to compare, and our kinds."""

    ctags: str
    theirs: str
    ours: str


COVERED = {
    "c": Cover("C", "macro function enum struct typedef union", f"{TYPES} {CALLS} macro"),
    "cpp": Cover(
        "C++",
        "macro function enum struct typedef union class namespace",
        f"{TYPES} {CALLS} macro namespace",
    ),
    "csharp": Cover("C#", "class enum interface method struct", f"{TYPES} {CALLS}"),
    "elixir": Cover("Elixir", "function macro module protocol type", f"{TYPES} {CALLS} macro module"),
    "go": Cover(
        "Go",
        "func struct interface type talias const var methodSpec",
        f"{TYPES} {CALLS} constant variable",
    ),
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
        "Rust",
        "macro method enum function interface module struct typedef",
        f"{TYPES} {CALLS} macro module",
    ),
    "shell": Cover("Sh", "function", CALLS),
    "sql": Cover("SQL", "function index procedure table trigger view", "function index table trigger view"),
    "typescript": Cover(
        "TypeScript",
        "class function generator method interface enum alias namespace",
        f"{TYPES} {CALLS} namespace",
    ),
}
Pairs = set[tuple[str, int]]
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


def theirs(cover: Cover, paths: list[Path], compiler: Path | None) -> dict[str, Pairs]:
    """Ask ctags, or a compiler, for the definitions in files of one language."""
    command = ctags_command(cover, "NFKn")
    if compiler and cover.ctags in ("JavaScript", "TypeScript"):
        script = Path(__file__).with_name("symbols_typescript.js")
        command = ["node", str(script), str(compiler.resolve())]
    listing = "\n".join(map(str, paths))
    output = subprocess.run(command, input=listing.encode(), capture_output=True, check=True).stdout
    kinds = set(cover.theirs.split())
    found: dict[str, Pairs] = {}
    for line in output.decode(errors="replace").strip().split("\n"):
        tag = json.loads(line)
        if tag["kind"] in kinds and comparable(cover, tag["kind"], tag["name"]):
            found.setdefault(tag["path"], set()).add((plain(tag["name"]), tag["line"]))
    return found


def hidden_lines(text: str) -> set[int]:
    """Return the lines of macro bodies of Rust, which ctags passes over."""
    hidden: set[int] = set()
    for body in MACRO_BODY.finditer(text):
        first = text.count("\n", 0, body.start()) + 2
        hidden.update(range(first, first + body[0].count("\n")))
    return hidden


def ours(cover: Cover, path: Path) -> Pairs | None:
    """Run our rules over one file."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return None
    kinds = set(cover.ours.split())
    hidden = hidden_lines(text) if cover.ctags == "Rust" else set()
    return {
        (plain(symbol.name), symbol.line)
        for symbol in symbols_of(path.name, text)
        if symbol.kind in kinds and symbol.line not in hidden and comparable(cover, symbol.kind, symbol.name)
    }


def measure(cover: Cover, paths: list[Path], compiler: Path | None, worst: int) -> str:
    """Compare one language; give its row of the table and print the worst files."""
    reference = theirs(cover, paths, compiler)
    total: Counter[str] = Counter()
    differences: list[tuple[int, str, Pairs, Pairs]] = []
    for path in paths:
        expected = reference.get(str(path), set())
        found = ours(cover, path)
        if found is None or not expected | found:
            continue
        missed, extra = expected - found, found - expected
        total.update(files=1, both=len(expected & found), missed=len(missed), extra=len(extra))
        differences.append((len(missed) + len(extra), str(path), missed, extra))
    differences.sort(key=lambda item: (-item[0], item[1]))
    for count, name, missed, extra in differences[:worst]:
        if count:
            print(f"{name}: {count}")
            marked = [(line, "-", name) for name, line in missed]
            marked += [(line, "+", name) for name, line in extra]
            for line, sign, text in sorted(marked)[:20]:
                print(f"  {sign} {line}: {text}")
    both = total["both"]
    recall = both / max(1, both + total["missed"])
    precision = both / max(1, both + total["extra"])
    return f"| {total['files']} | {both + total['missed']} | {recall:.3f} | {precision:.3f} |"


def main() -> int:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description="Measure the symbol rules against ctags.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--language", choices=sorted(COVERED), help="only this language")
    parser.add_argument("--typescript", type=Path, help="typescript.js, to compare JavaScript with")
    parser.add_argument("--worst", type=int, default=0, help="files to show per language")
    arguments = parser.parse_args()
    by_language: dict[str, list[Path]] = {}
    for path in sorted(arguments.directory.rglob("*")):
        language = language_of(path.name)
        if language in COVERED and arguments.language in (None, language) and path.is_file():
            by_language.setdefault(str(language), []).append(path)
    rows = {
        language: measure(COVERED[language], paths, arguments.typescript, arguments.worst)
        for language, paths in sorted(by_language.items())
    }
    print("| language | files | definitions | recall | precision |")
    print("| --- | --- | --- | --- | --- |")
    for language, row in rows.items():
        print(f"| {language} {row}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
