"""read_file: a range of lines."""

from contract_models.zeno.ops.read_file import ReadFileArgs, ReadFileResult
from pydantic import MISSING

from zeno.errors import InvalidArgs
from zeno.meter import Meter
from zeno.search.corpus import Corpus
from zeno.text import Window


def read_file(args: ReadFileArgs, corpus: Corpus, meter: Meter) -> ReadFileResult:
    """The asked lines, capped. The file is streamed: only what is returned is held."""
    end = args.start_line if args.end_line is MISSING else args.end_line
    if end < args.start_line:
        raise InvalidArgs(f"args.end_line must not be below start_line ({args.start_line})")
    with corpus.tree.open(args.path, "args.path") as file:
        file.require_text()
        window = Window(args.start_line, min(end, args.start_line + args.max_lines - 1), meter.keep)
        window.feed(file.chunks())
    meter.scanned(file.bytes_read)
    last = args.start_line + len(window.lines) - 1
    truncated = last < min(end, window.total)
    return ReadFileResult(
        path=file.path,
        start_line=args.start_line,
        end_line=last,
        total_lines=window.total,
        truncated=truncated,
        truncated_by=["max_lines"] if truncated else MISSING,
        text="\n".join(window.lines),
        metrics=meter.stop(lines_returned=len(window.lines)),
    )
