"""peek: return the first and last lines of a file."""

from itertools import chain

from contract_models.zeno.ops.peek import PeekArgs, PeekResult, PeekSlice
from pydantic import MISSING

from zeno.files.open_file import TextFile
from zeno.meter import Meter
from zeno.results.clip import find_line_limit, fit_lines, shorten, size
from zeno.results.hints import on_pointer
from zeno.results.suggestions import suggest_paths
from zeno.search.corpus import Corpus
from zeno.text.file_lines import Window, last_lines, receipt


def peek(args: PeekArgs, corpus: Corpus, meter: Meter) -> PeekResult:
    """Read the head while counting lines, then the tail from the end. Only returned lines are held in memory."""
    with suggest_paths(args.path, corpus, meter), corpus.open(args.path, "args.path") as file:
        file.require_text()
        meter.charge_bytes(file.path, file.size, "have --max-scan-bytes raised")
        meter.expect(file.size)
        window = Window(1, args.head_lines, meter.charge_text, find_line_limit(args))
        chunks = file.chunks()
        begin = next(chunks, b"")
        window.feed(chain([begin], chunks) if begin else (), is_normal=file.is_normal)
        tail_lines = _tail(file, window.total, args, meter)
    meter.count_file(file.bytes_read)
    head, tail = shorten(window.lines, args), shorten(tail_lines, args)
    cut = False
    if args.max_chars is not MISSING:
        asked = len(head) + len(tail)
        half = args.max_chars // 2
        head = fit_lines(head, args.max_chars - min(half, size(tail)))
        tail = fit_lines(tail[::-1], args.max_chars - size(head))[::-1]
        cut = len(head) + len(tail) < asked
    meter.charge_lines(len(head) + len(tail))
    return PeekResult(
        path=file.path,
        total_lines=window.total,
        head=_slice(1, head, window.lines[: len(head)], args),
        tail=_slice(window.total - len(tail) + 1, tail, tail_lines[len(tail_lines) - len(tail) :], args),
        truncated=MISSING if args.max_chars is MISSING else cut,
        truncated_by=["max_chars"] if cut else MISSING,
        hints=on_pointer(file.path, begin) or MISSING,
        metrics=meter.stop(),
    )


def _tail(file: TextFile, total: int, args: PeekArgs, meter: Meter) -> list[str]:
    count = min(args.tail_lines, total)
    if not count:
        return []
    limit = find_line_limit(args)
    if limit is None:
        return last_lines(file.chunks_backwards(), count, meter.charge_text, is_normal=file.is_normal)
    # Long last lines may begin far before the end: read more rather than hold more.
    window = Window(total - count + 1, total, meter.charge_text, limit)
    window.feed(file.chunks(), is_normal=file.is_normal)
    return window.lines


def _slice(start: int, lines: list[str], whole: list[str], args: PeekArgs) -> PeekSlice:
    if not lines:
        return PeekSlice(start_line=0, end_line=0, text="")
    return PeekSlice(
        start_line=start,
        end_line=start + len(lines) - 1,
        text="\n".join(lines),
        clipped=True if lines != whole else MISSING,
        sha256=receipt("\n".join(whole)) if args.receipts else MISSING,
    )
