"""peek: how a file begins and ends."""

from contract_models.zeno.ops.peek import PeekArgs, PeekResult, PeekSlice

from zeno.meter import Meter
from zeno.search.corpus import Corpus
from zeno.text import Window, last_lines
from zeno.tree import File


def peek(args: PeekArgs, corpus: Corpus, meter: Meter) -> PeekResult:
    """Head while counting lines, then the tail from the end: only what is returned is held."""
    with corpus.tree.open(args.path, "args.path") as file:
        file.require_text()
        window = Window(1, args.head_lines, meter.keep)
        window.feed(file.chunks())
        tail = _tail(file, min(args.tail_lines, window.total), meter)
    meter.scanned(file.bytes_read)
    return PeekResult(
        path=file.path,
        total_lines=window.total,
        head=_slice(1, window.lines),
        tail=_slice(window.total - len(tail) + 1, tail),
        metrics=meter.stop(),
    )


def _tail(file: File, count: int, meter: Meter) -> list[str]:
    return last_lines(file.chunks_backwards(file.size), count, meter.keep) if count else []


def _slice(start: int, lines: list[str]) -> PeekSlice:
    if not lines:
        return PeekSlice(start_line=0, end_line=0, text="")
    return PeekSlice(start_line=start, end_line=start + len(lines) - 1, text="\n".join(lines))
