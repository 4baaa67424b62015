"""verify: check whether cited lines are still in the tree."""

from contract_models.zeno.ops.verify import CitationVerdict, VerifyArgs, VerifyCitation, VerifyResult
from pydantic import MISSING

from zeno.errors import Denied, InvalidArgs, OutsideRoot, PermissionDenied
from zeno.meter import Meter
from zeno.results.receipts import Checker
from zeno.search.corpus import Corpus

# Time to look for lines that moved, relative to counting lines.
_COST_OF_A_BYTE = 16


def verify(args: VerifyArgs, corpus: Corpus, meter: Meter) -> VerifyResult:
    """Return a verdict on each citation, in the order given."""
    checker = Checker(corpus.tree, meter, corpus.open)
    items: dict[int, CitationVerdict] = {}
    # One file after the other, so that each is read once.
    expected = ""
    for index in sorted(range(len(args.citations)), key=lambda index: args.citations[index].path):
        citation, field = args.citations[index], f"args.citations[{index}]"
        if citation.path != expected:
            meter.expect(_size(citation.path, f"{field}.path", corpus) * _COST_OF_A_BYTE)
            expected = citation.path
        if citation.sha256 is MISSING and citation.text is MISSING:
            items[index] = _refuse(citation)
        else:
            items[index] = checker.check(citation, field)
    return VerifyResult(items=[items[index] for index in range(len(items))], metrics=meter.stop())


def _size(path: str, field: str, corpus: Corpus) -> int:
    try:
        entry = corpus.tree.place(path, field).entry
    except (PermissionDenied, OutsideRoot, Denied, InvalidArgs):
        return 0
    return 0 if entry is None else entry.size


def _refuse(citation: VerifyCitation) -> CitationVerdict:
    return CitationVerdict(
        path=citation.path,
        start_line=citation.start_line,
        end_line=citation.end_line,
        verdict="invalid",
        reason="a citation needs sha256 or text: what did the lines say?",
    )
