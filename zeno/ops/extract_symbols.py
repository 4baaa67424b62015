"""extract_symbols: list the definitions in a source file."""

import contract_spec as spec
from contract_models.zeno.ops.extract_symbols import ExtractedSymbol, ExtractSymbolsArgs, ExtractSymbolsResult
from pydantic import MISSING

from zeno.errors import FileTooLarge
from zeno.meter import Meter
from zeno.results import cursors
from zeno.results.suggestions import suggesting
from zeno.search.corpus import Corpus
from zeno.text.symbols import symbols_of

MAX_BYTES: int = spec.resource("rules/request_limits.json")["max_symbols_file_bytes"]
"""Larger files are refused: their text is held several times over."""
# Time to find the symbols of a text, relative to counting its lines.
_COST_OF_A_BYTE = 64
_AROUND = len('{"kind":"","name":"","line":1}')


def extract_symbols(args: ExtractSymbolsArgs, corpus: Corpus, meter: Meter) -> ExtractSymbolsResult:
    """Return the symbols in the order of the text, capped."""
    before = 0 if args.cursor is MISSING else cursors.number(cursors.position("extract_symbols", args, args.cursor))
    with suggesting(args.path, corpus, meter), corpus.open(args.path, "args.path") as file:
        file.require_text()
        if file.size > MAX_BYTES:
            raise FileTooLarge(
                file.path, file.size, MAX_BYTES, "search it with grep, or read parts of it with read_file"
            )
        meter.expect(file.size * _COST_OF_A_BYTE)
        text = file.read_text().decode().removesuffix("\n")
    meter.scanned(file.bytes_read)
    found = symbols_of(file.path, text)[before:]
    kept = found[: args.max_symbols]
    truncated = len(found) > len(kept)
    # Refused before a model is made of each: a file within the limit can hold a million symbols.
    meter.keep(sum(len(symbol.kind) + len(symbol.name) + _AROUND for symbol in kept))
    return ExtractSymbolsResult(
        path=file.path,
        symbols=[ExtractedSymbol(kind=symbol.kind, name=symbol.name, line=symbol.line) for symbol in kept],
        truncated=truncated,
        truncated_by=["max_symbols"] if truncated else MISSING,
        cursor=cursors.issue("extract_symbols", args, str(before + len(kept))) if truncated else MISSING,
        metrics=meter.stop(symbols=len(kept)),
    )
