"""Compare what `zeno.code` extracts with referees, and print a row of figures for each language.

    python -m tools.code_quality.run LANGUAGE=DIR... [--worst N] [--files N]

- definitions: (name, line) pairs of the kinds that both sides know (see `ctags`), recall and precision. The
  referee is ctags; for Python ast, and a walk of the syntax tree for languages that ctags does not know well.
  confirmed: the share of ours that ctags or the walk knows;
- ends, containers: the share of common definitions whose last line, or innermost container, is the same as by the walk
  (Python: ast); ctags: the share of ends that are the same as by ctags, where it tells them;
- scopes: the share of lines with the same innermost definition;
- comment, string, import, call: of the words (per line) to which either side gives the role, the share to which both
  do. The referee is a walk of the syntax tree.

Files with lines that the grammar could not parse are counted. Such lines take no part in roles, nor their files in
scopes and in what only a walk could judge.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from tools.code_quality.ctags import COVERED, comparable, hidden_lines, plain
from tools.code_quality.referees import WALKED, ask_ctags, ask_extents
from tools.code_quality.walks import Defined, parse, roles
from zeno.code.extract import extract
from zeno.code.facts import NOTHING, Facts, Symbol, numbers
from zeno.code.facts import ROLES as KINDS_OF_TEXT
from zeno.code.kept_facts import keep
from zeno.code.tokens import ORDER, Roles
from zeno.text.file_lines import normal
from zeno.text.symbols import language_of

ROLES = ("comment", "string", "import", "call")
FIGURES = ("ends", "ctags", "containers", "scopes", *ROLES)
TYPES_AND_CALLS = "class struct union enum interface trait type function method namespace module macro"

Known = dict[tuple[str, int], Symbol]


class Comparison:
    """The figures of one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._cover = None if language in WALKED else COVERED.get(language)
        self.counts: Counter[str] = Counter()
        self.notes: list[tuple[str, str]] = []
        """Kind of a difference, and where."""

    def add(self, path: Path, tags: list[Defined]) -> None:
        """Compare one file with its tags."""
        text = normal(path.read_bytes())
        facts = extract(path.name, text)
        extents = ask_extents(self._language, path)
        self.counts.update(files=1, unparsed=bool(facts.unparsed))
        hidden = hidden_lines(text.decode()) if self._language == "rust" else set()
        ours = {(plain(one.name), one.line): one for one in facts.symbols if self._is_compared(one)}
        if self._cover is None or self._language == "python":
            tags, hidden = extents, set()
        if facts.unparsed and self._language in WALKED:
            ours, tags = {}, []
        walked = {(plain(one.name), one.line) for one in extents}
        self._compare_definitions(str(path), {key: ours[key] for key in ours if key[1] not in hidden}, tags, walked)
        self._compare_extents(str(path), ours, extents)
        if not facts.unparsed:
            self._compare_scopes(str(path), facts, extents, text.count(b"\n"))
        self._compare_roles(str(path), facts, text)

    def _is_compared(self, symbol: Symbol) -> bool:
        kinds = self._cover.ours if self._cover else TYPES_AND_CALLS
        return symbol.kind in kinds.split() and (not self._cover or comparable(self._cover, symbol.kind, symbol.name))

    def _compare_definitions(self, path: str, ours: Known, tags: list[Defined], walked: set[tuple[str, int]]) -> None:
        theirs = {(plain(one.name), one.line): one for one in tags}
        both, extra = ours.keys() & theirs.keys(), ours.keys() - theirs.keys()
        self.counts.update(both=len(both), ours=len(ours), theirs=len(theirs), wrong=len(extra - walked))
        self._note("missed", path, theirs.keys() - ours.keys())
        self._note("extra", path, extra - walked)
        for key in both:
            if theirs[key].end and ours[key].end_line:
                ends = ours[key].end_line, theirs[key].end
                self._count("ctags", ends[0] == ends[1], path, (*key, *ends))

    def _compare_extents(self, path: str, ours: Known, extents: list[Defined]) -> None:
        names = {*(plain(one.name) for one in extents), *(plain(one.container or "") for one in extents)}
        for one in extents:
            key = (plain(one.name), one.line)
            if (mine := ours.get(key)) is None:
                continue
            if mine.end_line:
                self._count("ends", mine.end_line == one.end, path, (*key, mine.end_line, one.end))
            last = next((part for part in map(plain, mine.container.split(".")[::-1]) if part in names), "")
            self._count("containers", last == plain(one.container or ""), path, (*key, last, one.container))

    def _compare_scopes(self, path: str, facts: Facts, known: list[Defined], lines: int) -> None:
        names = {plain(one.name) for one in known}
        kinds = TYPES_AND_CALLS.split()
        asked = [one for one in facts.symbols if one.kind in kinds and plain(one.name) in names]
        told = [Symbol("", plain(one.name), one.line, one.line, one.end, "") for one in known]
        mine, theirs = (keep(NOTHING._replace(symbols=symbols)) for symbols in (asked, told))
        for line in range(1, lines + 1):
            ours, other = mine.find_scope(line), theirs.find_scope(line)
            # A decorator or an attribute belongs to its definition for us, and to none for most referees.
            if ours is not None and ours.start_line <= line < ours.line:
                continue
            pair = plain(ours.name) if ours else "", other.name if other else ""
            self._count("scopes", pair[0] == pair[1], path, (line, *pair))

    def _compare_roles(self, path: str, facts: Facts, text: bytes) -> None:
        root = parse(path, text)
        # The other side does not know definitions as a role.
        parts = list(zip(*[iter(facts.stretches)] * 3, strict=True))
        flat = [number for part in parts if KINDS_OF_TEXT[part[2]] != "definition" for number in part]
        bare = keep(facts._replace(symbols=[], stretches=numbers(flat)))
        if not bare.has_grammar or root is None:
            return
        lines = text.split(b"\n")
        starts = [0]
        for raw in lines:
            starts.append(starts[-1] + len(raw) + 1)
        known: dict[bytes, Roles] = {}
        for (line, word), theirs in roles(root, self._language, text).items():
            if any(first <= line <= last for first, last in facts.unparsed):
                continue
            if word not in known:
                known[word] = Roles(bare, word.decode())
            ours = known[word].of(line, starts[line - 1], lines[line - 1])
            other = min(theirs, key=ORDER.index)
            for role in ROLES:
                if role in (ours, other):
                    self._count(role, ours == other, path, (line, word.decode(), ours, other))

    def _count(self, figure: str, agrees: bool, path: str, what: tuple[object, ...]) -> None:
        self.counts.update({figure: 1, f"{figure} same": agrees})
        if not agrees:
            self.notes.append((figure, f"{path}: {what}"))

    def _note(self, figure: str, path: str, keys: set[tuple[str, int]]) -> None:
        self.notes += [(figure, f"{path}: {key}") for key in sorted(keys, key=lambda key: key[1])]

    def row(self) -> str:
        """Return the row of the table."""
        counts = self.counts
        ours = max(1, counts["ours"])
        figures = [counts["both"] / max(1, counts["theirs"]), counts["both"] / ours, 1 - counts["wrong"] / ours]
        texts = [f"{figure:.3f}" for figure in figures]
        for figure in FIGURES:
            texts.append(f"{counts[f'{figure} same'] / counts[figure]:.3f}" if counts[figure] else "-")
        return f"| {counts['files']} | {counts['unparsed']} | {counts['theirs']} | {' | '.join(texts)} |"


def main() -> int:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description="Measure what is extracted from source code.")
    parser.add_argument("trees", nargs="+", metavar="LANGUAGE=DIR")
    parser.add_argument("--worst", type=int, default=0, help="differences of each kind to show")
    parser.add_argument("--files", type=int, default=1 << 30, help="files of each language, evenly spread")
    arguments = parser.parse_args()
    print(f"| language | files | unparsed | definitions | recall | precision | confirmed | {' | '.join(FIGURES)} |")
    for tree in arguments.trees:
        language, _, directory = tree.partition("=")
        paths = [
            path
            for path in sorted(Path(directory).rglob("*"))
            if language_of(path.name) == language and path.is_file() and not path.is_symlink() and _is_utf8(path)
        ]
        paths = paths[:: max(1, len(paths) // arguments.files)]
        known = {} if language == "python" or language in WALKED else ask_ctags(language, paths)
        comparison = Comparison(language)
        for path in paths:
            comparison.add(path, known.get(str(path), []))
        print(f"| {language} {comparison.row()}", flush=True)
        for figure in ("missed", "extra", *FIGURES):
            for note in [note for kind, note in comparison.notes if kind == figure][: arguments.worst]:
                print(f"    {figure} {note}")
    return 0


def _is_utf8(path: Path) -> bool:
    try:
        path.read_bytes().decode()
    except UnicodeDecodeError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
