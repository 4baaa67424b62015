"""read_file: return a range of lines, or several."""

from itertools import chain
from typing import NamedTuple

from contract_models.zeno.ops.read_file import ReadFileArgs, ReadFileRange, ReadFileResult, ReadFileSlice
from pydantic import MISSING

from zeno.code.facts import Symbol
from zeno.code.pool import SourceText
from zeno.errors import InvalidArgs
from zeno.meter import Meter
from zeno.results.clip import find_line_limit, fit_lines, shorten, size
from zeno.results.definitions import find_definition, read_source
from zeno.results.hints import on_pointer
from zeno.results.suggestions import suggest_paths
from zeno.search.corpus import Corpus
from zeno.text.file_lines import Window, receipt

_INSTEAD = "ask for lines with start_line and end_line"
_FEWER = "ask for fewer ranges at a time, or have --max-scan-bytes raised"


def read_file(args: ReadFileArgs, corpus: Corpus, meter: Meter) -> ReadFileResult:
    """Return the requested lines, capped. Files are streamed: only returned lines are held in memory."""
    first = ReadFileRange(path=args.path, start_line=args.start_line, end_line=args.end_line)
    hints: list[str] = []
    if args.symbol is not MISSING:
        symbol = _definition(args, args.symbol, corpus, meter)
        first = ReadFileRange(path=args.path, start_line=symbol.start_line, end_line=symbol.end_line or symbol.line)
        if not symbol.end_line:
            hints.append(f"where {symbol.path!r} ends is not known: this is its first line")
    further = [] if args.ranges is MISSING else [_name_path(one, args.path) for one in args.ranges]
    asked = [(first, "args"), *((one, f"args.ranges[{index}]") for index, one in enumerate(further))]
    for one, field in asked:
        if one.end_line is not MISSING and one.end_line < one.start_line:
            raise InvalidArgs(f"{field}.end_line must not be below start_line ({one.start_line})")
    reader = _Reader(args, corpus, meter)
    read = [reader.read(one, f"{field}.path") for one, field in asked]
    truncated_by = sorted({name for one in read for name in one.cut_by})
    whole, *rest = read
    return ReadFileResult(
        path=whole.path,
        start_line=whole.start_line,
        end_line=whole.end_line,
        total_lines=whole.total,
        truncated=bool(truncated_by),
        truncated_by=truncated_by or MISSING,
        text=whole.text,
        clipped=whole.clipped or MISSING,
        sha256=whole.sha256 or MISSING,
        ranges=[
            ReadFileSlice(
                path=one.path,
                start_line=one.start_line,
                end_line=one.end_line,
                total_lines=one.total,
                text=one.text,
                clipped=one.clipped or MISSING,
                sha256=one.sha256 or MISSING,
            )
            for one in rest
        ]
        or MISSING,
        hints=list(dict.fromkeys([*hints, *_hints_beyond(asked, read), *(hint for one in read for hint in one.hints)]))
        or MISSING,
        metrics=meter.stop(lines_returned=sum(one.end_line - one.start_line + 1 for one in read)),
    )


def _name_path(asked: ReadFileRange, path: str) -> ReadFileRange:
    """Return a range with the path of the request where it names none."""
    return asked.model_copy(update={"path": path}) if asked.path is MISSING else asked


def _definition(args: ReadFileArgs, name: str, corpus: Corpus, meter: Meter) -> Symbol:
    """Return the definition that is asked for."""
    if args.end_line is not MISSING:
        raise InvalidArgs("args.end_line does not go with args.symbol, whose lines are read; leave it out")
    with suggest_paths(args.path, corpus, meter), corpus.open(args.path, "args.path") as file:
        file.require_text()
        meter.charge_bytes(file.path, file.size, _INSTEAD)
        text = read_source(file, meter, _INSTEAD)
    facts = corpus.facts.of(SourceText(file.path, text), meter.check)
    chosen = args.start_line if "start_line" in args.model_fields_set else None
    return find_definition(facts, name, file.path, "args.symbol", chosen)


def _hints_beyond(asked: list[tuple[ReadFileRange, str]], read: list["_Read"]) -> list[str]:
    """Return a hint for each range that begins behind the last line of its file."""
    return [
        f"{field}.start_line is {one.start_line}, but total_lines of {one.path!r} is {one.total}"
        for (_, field), one in zip(asked, read, strict=True)
        if one.start_line > one.total
    ]


class _Read(NamedTuple):
    """The lines read for one range."""

    path: str
    start_line: int
    end_line: int
    total: int
    text: str
    clipped: bool
    sha256: str | None
    cut_by: list[str]
    hints: list[str]


class _Reader:
    """Reads ranges one after the other, within one limit on lines and one on characters for all of them."""

    def __init__(self, args: ReadFileArgs, corpus: Corpus, meter: Meter) -> None:
        self._args = args
        self._corpus = corpus
        self._meter = meter
        self._lines = args.max_lines
        self._chars = None if args.max_chars is MISSING else args.max_chars
        self._empty = True
        """Whether no line has been read so far."""

    def read(self, asked: ReadFileRange, field: str) -> _Read:
        """Read one range; `field` names its path in errors."""
        start, path = asked.start_line, str(asked.path)
        end = start if asked.end_line is MISSING else asked.end_line
        suggest = suggest_paths(path, self._corpus, self._meter)
        with suggest, self._corpus.open(path, field) as file:
            file.require_text()
            self._meter.charge_bytes(file.path, file.size, _FEWER)
            self._meter.expect(file.size)
            last = min(end, start + self._lines - 1)
            window = Window(start, last, self._meter.charge_text, find_line_limit(self._args))
            chunks = file.chunks()
            begin = next(chunks, b"")
            window.feed(chain([begin], chunks) if begin else (), is_normal=file.is_normal)
        self._meter.count_file(file.bytes_read)
        lines = shorten(window.lines, self._args)
        # Only the first line of an answer is clipped to the room: what follows on is read by the next request.
        kept = lines if self._chars is None else fit_lines(lines, self._chars, part=self._empty)
        self._empty = self._empty and not kept
        self._lines -= len(kept)
        if self._chars is not None:
            self._chars -= size(kept)
        self._meter.charge_lines(len(kept))
        whole = window.lines[: len(kept)]
        cut_by = {"max_chars": len(kept) < len(lines), "max_lines": last < min(end, window.total)}
        return _Read(
            file.path,
            start,
            start + len(kept) - 1,
            window.total,
            "\n".join(kept),
            kept != whole,
            receipt("\n".join(whole)) if self._args.receipts and whole else None,
            [name for name, bit in cut_by.items() if bit],
            on_pointer(file.path, begin),
        )
