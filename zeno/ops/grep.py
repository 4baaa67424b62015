"""grep: which lines match."""

from collections import Counter
from itertools import islice

from contract_models.zeno.ops.grep import GrepArgs, GrepHit, GrepLine, GrepResult
from pydantic import MISSING

from zeno.meter import Meter
from zeno.patterns import searcher
from zeno.search.corpus import Corpus, Query
from zeno.search.lines import Lines
from zeno.search.selection import under


def grep(args: GrepArgs, corpus: Corpus, meter: Meter) -> GrepResult:
    """Search the candidates in order until the hit cap is reached."""
    matches = searcher(args.pattern, "args.pattern", case_sensitive=args.case_sensitive, literal=not args.regex)
    wanted = under(corpus.tree, args.paths, "args.paths") if args.paths is not MISSING else None
    paths, cut = corpus.candidates(args)
    if wanted is not None:
        paths = wanted.of(paths)
    query = Query(args.pattern, args.regex, args.case_sensitive, matches, args.max_bytes)
    skipped: Counter[str] = Counter()
    hits: list[GrepHit] = []
    # Taken to its end even when the hits are enough: what was skipped is counted over all files.
    for found in corpus.search(paths, query, meter, skipped):
        for index in islice(found.matching, args.max_hits - len(hits)):
            hits.append(_hit(found.path, index, found.lines, args.context, meter))
    limits = [name for name, bit in (("max_files", cut), ("max_hits", len(hits) == args.max_hits)) if bit]
    return GrepResult(
        hits=hits,
        truncated=bool(limits),
        truncated_by=limits or MISSING,
        metrics=meter.stop(
            hits=len(hits),
            files_skipped_binary=skipped["binary"],
            files_skipped_large=skipped["large"],
            files_skipped_unreadable=skipped["unreadable"],
        ),
    )


def _hit(path: str, index: int, lines: Lines, context: int, meter: Meter) -> GrepHit:
    line = lines[index]
    first = max(0, index - context)
    around = lines[first : index + context + 1] if context else []
    meter.keep(len(line) + sum(map(len, around)))
    return GrepHit(
        path=path,
        line=index + 1,
        text=line.decode(),
        context=[GrepLine(line=first + 1 + offset, text=line.decode()) for offset, line in enumerate(around)]
        or MISSING,
    )
