"""verify: check whether cited lines and definitions are still in the tree."""

from contract_models.zeno.ops.find_symbols import FindSymbolsArgs
from contract_models.zeno.ops.verify import CitationVerdict, LineRange, VerifyArgs, VerifyCitation, VerifyResult
from pydantic import MISSING

from zeno.code.facts import Symbol
from zeno.code.pool import SourceText
from zeno.errors import (
    Denied,
    FileTooLarge,
    InvalidArgs,
    ObjectUnavailable,
    OutsideRoot,
    PermissionDenied,
    UnknownRev,
    ZenoError,
)
from zeno.meter import Meter
from zeno.ops.find_symbols import find_symbols
from zeno.results.definitions import has_name, read_source
from zeno.results.receipts import Checker, CitedLines, Verdict, compare, judge
from zeno.search.corpus import Corpus
from zeno.text.line_index import LineIndex

# Time to look for lines that moved, relative to counting lines.
_COST_OF_A_BYTE = 16
_NO_LIMIT = (1 << 53) - 1
# Definitions of one name that are looked at to find one that moved.
MAX_DEFINITIONS = 1000
_INSTEAD = "cite its lines instead of a symbol"


def verify(args: VerifyArgs, corpus: Corpus, meter: Meter) -> VerifyResult:
    """Return a verdict on each citation, in the order given."""
    by_rev: dict[str | None, list[int]] = {}
    for index, citation in enumerate(args.citations):
        by_rev.setdefault(None if citation.rev is MISSING else citation.rev, []).append(index)
    items: dict[int, CitationVerdict] = {}
    for rev, indexes in meter.check_each(by_rev.items()):
        field = f"args.citations[{indexes[0]}].rev"
        try:
            there = corpus if rev is None else corpus.revisions.at(rev, field)
        except (UnknownRev, ObjectUnavailable, Denied, InvalidArgs) as error:
            items |= {index: _refuse_rev(args.citations[index], error) for index in indexes}
            continue
        found = _check(args, indexes, there, meter)
        if rev is not None:
            found = {index: one.model_copy(update={"rev": there.tree.rev}) for index, one in found.items()}
        items |= found
    return VerifyResult(items=[items[index] for index in range(len(items))], metrics=meter.stop())


def _check(args: VerifyArgs, indexes: list[int], corpus: Corpus, meter: Meter) -> dict[int, CitationVerdict]:
    """Return verdicts on some citations, by their indexes."""
    checker = Checker(corpus.tree, meter, corpus.open)
    definitions = _Definitions(corpus, meter)
    items: dict[int, CitationVerdict] = {}
    # One file after the other, so that each is read once.
    expected = ""
    for index in sorted(indexes, key=lambda index: args.citations[index].path):
        citation, field = args.citations[index], f"args.citations[{index}]"
        if citation.path != expected:
            meter.expect(_size(citation.path, f"{field}.path", corpus) * _COST_OF_A_BYTE)
            expected = citation.path
        if citation.sha256 is MISSING and citation.text is MISSING:
            items[index] = _refuse(citation)
        elif citation.symbol is MISSING:
            items[index] = checker.check(citation, field)
        else:
            items[index] = definitions.check(citation, citation.symbol, field)
    return items


class _Definitions:
    """Compares citations of definitions with the tree."""

    def __init__(self, corpus: Corpus, meter: Meter) -> None:
        self._corpus = corpus
        self._meter = meter

    def check(self, citation: VerifyCitation, name: str, field: str) -> CitationVerdict:
        """Return the verdict: a definition of the name in the file, else one in the tree, says what was cited."""
        tree = self._corpus.tree
        found = judge(citation, tree, field, lambda path: self._look_in(path, citation, name))
        if found.verdict not in ("changed", "missing"):
            return found
        args = FindSymbolsArgs(
            name=name, max_files=_NO_LIMIT, max_symbols=MAX_DEFINITIONS, gitignore=self._meter.options.gitignore
        )
        others = {symbol.path: None for symbol in find_symbols(args, self._corpus, self._meter).symbols}
        for path in others:
            if path != found.path and (place := self._stands_in(path, citation, name)) is not None:
                return CitationVerdict(path=found.path, symbol=name, verdict="moved", moved_to=place)
        return found

    def _stands_in(self, path: str, citation: VerifyCitation, name: str) -> LineRange | None:
        """Return where another file defines the name with the cited text, or None."""
        try:
            found = self._look_in(path, citation.model_copy(update={"start_line": MISSING}), name)
        except ZenoError:
            return None
        # A run of lines may stand in any function.
        if found.verdict != "ok" or found.match in ("run", "part") or found.found_at is None:
            return None
        return found.found_at.model_copy(update={"path": path})

    def _look_in(self, path: str, citation: VerifyCitation, name: str) -> Verdict:
        """Return the verdict on the definitions of a name in one file. Raises ZenoError if it cannot be read."""
        with self._corpus.open(path, "path") as file:
            file.require_text()
            self._meter.charge_bytes(file.path, file.size, _INSTEAD)
            try:
                text = read_source(file, self._meter, _INSTEAD)
            except FileTooLarge as error:
                return Verdict("missing", reason=str(error))
        self._meter.count_file(file.bytes_read)
        symbols = self._corpus.facts.of(SourceText(file.path, text), self._meter.check).symbols
        lines = LineIndex(text)
        verdicts = [_compare(citation, symbol, lines) for symbol in symbols if has_name(symbol, name)]
        if not verdicts:
            return Verdict("missing", reason=f"{path!r} defines no {name!r}")
        return min(verdicts, key=lambda one: ("ok", "moved", "changed").index(one.verdict))


def _compare(citation: VerifyCitation, symbol: Symbol, lines: LineIndex) -> Verdict:
    """Return whether a definition says what was cited, and stands where it was cited, if that was told."""
    first, last = symbol.start_line, symbol.end_line or symbol.line
    cited = lines.text[lines.start(first - 1) : lines.start(last) - 1]
    found = compare(CitedLines(citation.path, first, last, citation.sha256, citation.text), cited)
    place = LineRange(start_line=first, end_line=last)
    if found.verdict == "ok" and citation.start_line not in (MISSING, first):
        return Verdict("moved", moved_to=place)
    return found._replace(found_at=place)


def _size(path: str, field: str, corpus: Corpus) -> int:
    try:
        entry = corpus.tree.place(path, field).entry
    except (PermissionDenied, OutsideRoot, Denied, InvalidArgs):
        return 0
    return 0 if entry is None else entry.size


def _refuse(citation: VerifyCitation) -> CitationVerdict:
    cited = citation.model_dump(include={"symbol", "start_line", "end_line"})
    return CitationVerdict(
        path=citation.path,
        verdict="invalid",
        reason="a citation needs sha256 or text: what did the lines say?",
        **cited,
    )


def _refuse_rev(citation: VerifyCitation, error: ZenoError) -> CitationVerdict:
    """Return the verdict on a citation of a commit that cannot be looked at."""
    verdict = {"denied": "denied", "object_unavailable": "missing"}.get(error.code, "invalid")
    told = citation.model_dump(include={"path", "symbol", "start_line", "end_line"})
    return CitationVerdict.model_validate({**told, "verdict": verdict, "reason": str(error)})
