"""verify: check whether cited lines are still in the tree."""

from contract_models.zeno.ops.verify import CitationVerdict, VerifyArgs, VerifyCitation, VerifyResult
from pydantic import MISSING

from zeno.errors import InvalidArgs, PermissionDenied
from zeno.meter import Meter
from zeno.results.receipts import Checker, receipt
from zeno.search.corpus import Corpus

# Time to look for lines that moved, relative to counting lines.
_COST_OF_A_BYTE = 16


def verify(args: VerifyArgs, corpus: Corpus, meter: Meter) -> VerifyResult:
    """Return a verdict on each citation, in the order given."""
    for index, citation in enumerate(args.citations):
        _require_sense(citation, f"args.citations[{index}]")
    checker = Checker(corpus.tree, meter, corpus.open)
    items: dict[int, CitationVerdict] = {}
    # One file after the other, so that each is read once.
    expected = ""
    for index in sorted(range(len(args.citations)), key=lambda index: args.citations[index].path):
        citation, field = args.citations[index], f"args.citations[{index}]"
        if citation.path != expected:
            meter.expect(_size(citation.path, f"{field}.path", corpus) * _COST_OF_A_BYTE)
            expected = citation.path
        items[index] = checker.check(citation, field)
    return VerifyResult(items=[items[index] for index in range(len(items))], metrics=meter.stop())


def _size(path: str, field: str, corpus: Corpus) -> int:
    try:
        status = corpus.tree.place(path, field).status
    except PermissionDenied:
        return 0
    return 0 if status is None else status.st_size


def _require_sense(citation: VerifyCitation, field: str) -> None:
    """Refuse citations that the schema accepts but that cite nothing or contradict themselves."""
    count = citation.end_line - citation.start_line + 1
    if count < 1:
        raise InvalidArgs(f"{field}.end_line must not be below start_line ({citation.start_line})")
    if citation.text is MISSING:
        if citation.sha256 is MISSING:
            raise InvalidArgs(f"{field} must have sha256 or text: what did the lines say?")
        return
    lines = citation.text.count("\n") + 1
    if lines != count:
        raise InvalidArgs(f"{field}.text has {lines} lines where start_line to end_line are {count}")
    if citation.sha256 not in (MISSING, receipt(citation.text)):
        raise InvalidArgs(f"{field}.sha256 is not that of text; give the one that is right")
