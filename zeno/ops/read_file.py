"""read_file: a range of lines."""

from contract_models.zeno.ops.read_file import ReadFileArgs, ReadFileResult
from pydantic import MISSING

from zeno.errors import InvalidArgs
from zeno.meter import Meter
from zeno.results.clip import fitting, needed, shortened
from zeno.results.receipts import receipt
from zeno.search.corpus import Corpus
from zeno.text.file_lines import Window


def read_file(args: ReadFileArgs, corpus: Corpus, meter: Meter) -> ReadFileResult:
    """The asked lines, capped. The file is streamed: only what is returned is held."""
    end = args.start_line if args.end_line is MISSING else args.end_line
    if end < args.start_line:
        raise InvalidArgs(f"args.end_line must not be below start_line ({args.start_line})")
    with corpus.tree.open(args.path, "args.path") as file:
        file.require_text()
        meter.expect(file.size)
        last = min(end, args.start_line + args.max_lines - 1)
        window = Window(args.start_line, last, meter.keep, needed(args))
        window.feed(file.chunks())
    meter.scanned(file.bytes_read)
    lines = shortened(window.lines, args)
    kept = lines if args.max_chars is MISSING else fitting(lines, args.max_chars)
    meter.returned(len(kept))
    whole = window.lines[: len(kept)]
    limits = {"max_chars": len(kept) < len(lines), "max_lines": last < min(end, window.total)}
    truncated_by = [name for name, bit in limits.items() if bit]
    return ReadFileResult(
        path=file.path,
        start_line=args.start_line,
        end_line=args.start_line + len(kept) - 1,
        total_lines=window.total,
        truncated=bool(truncated_by),
        truncated_by=truncated_by or MISSING,
        text="\n".join(kept),
        clipped=True if kept != whole else MISSING,
        sha256=receipt("\n".join(whole)) if args.receipts and whole else MISSING,
        metrics=meter.stop(lines_returned=len(kept)),
    )
