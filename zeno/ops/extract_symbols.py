"""extract_symbols: list the definitions in a source file."""

from contract_models.zeno.ops.extract_symbols import (
    ExtractedSymbol,
    ExtractSymbolsArgs,
    ExtractSymbolsResult,
    UnparsedLines,
)
from pydantic import MISSING

from zeno.code.pool import SourceText
from zeno.meter import Meter
from zeno.results import cursors
from zeno.results.definitions import fields, has_name, read_source, size
from zeno.results.suggestions import suggest_paths
from zeno.search.corpus import Corpus
from zeno.text.symbols import language_of


def extract_symbols(args: ExtractSymbolsArgs, corpus: Corpus, meter: Meter) -> ExtractSymbolsResult:
    """Return the symbols in the order of the text, capped."""
    before = 0 if args.cursor is MISSING else cursors.number(cursors.position("extract_symbols", args, args.cursor))
    with suggest_paths(args.path, corpus, meter), corpus.open(args.path, "args.path") as file:
        file.require_text()
        text = read_source(file, meter, "search it with grep, or read parts of it with read_file")
    meter.count_file(file.bytes_read)
    facts = corpus.facts.of(SourceText(file.path, text), meter.check)
    found = [
        symbol
        for symbol in facts.symbols
        if (args.name is MISSING or has_name(symbol, args.name))
        and (args.kinds is MISSING or symbol.kind in args.kinds)
    ][before:]
    kept = found[: args.max_symbols]
    truncated = len(found) > len(kept)
    # Refused before a model is made of each: a file within the limit can hold a million symbols.
    meter.charge_text(sum(map(size, kept)))
    return ExtractSymbolsResult(
        path=file.path,
        language=language_of(file.path) or MISSING,
        extractor=facts.extractor or MISSING,
        symbols=[ExtractedSymbol(**fields(symbol)) for symbol in kept],
        unparsed=[UnparsedLines(start_line=first, end_line=last) for first, last in facts.unparsed] or MISSING,
        truncated=truncated,
        truncated_by=["max_symbols"] if truncated else MISSING,
        cursor=cursors.issue("extract_symbols", args, str(before + len(kept))) if truncated else MISSING,
        metrics=meter.stop(symbols=len(kept)),
    )
