"""The lines of a passage as answers of search give them, within the limits of a request."""

from collections.abc import Sequence

from contract_models.zeno.ops.search import SearchArgs, SearchLine
from pydantic import MISSING

from zeno.meter import Meter
from zeno.results.clip import clip
from zeno.text.file_lines import receipt

# Bytes that a result and a line take in an answer beside paths and text.
_FRAME = 160
_LINE_FRAME = 24


class PassagePage:
    """Counts the text of one answer."""

    def __init__(self, args: SearchArgs, meter: Meter) -> None:
        self._args = args
        self._meter = meter
        self._room = None if args.max_chars is MISSING else args.max_chars
        self._is_empty = True
        self.full_by: list[str] = []
        """The limit that was reached, if any."""

    def make_lines(self, path: str, lines: Sequence[bytes], shown: Sequence[int]) -> list[SearchLine] | None:
        """Return lines of a file, by index; None where they do not fit, which ends the page. The first ones do."""
        texts = [lines[index].decode() for index in shown]
        limit = None if self._args.max_line_chars is MISSING else self._args.max_line_chars
        if self._room is not None:
            clipped = sum(len(text) if limit is None else min(len(text), limit) for text in texts)
            if clipped > self._room and not self._is_empty:
                self.full_by = ["max_chars"]
                return None
            if clipped > self._room:
                limit = self._room // len(texts)
        made = [self._line(index, text, limit) for index, text in zip(shown, texts, strict=True)]
        self._is_empty = False
        size = sum(len(line.text) for line in made)
        if self._room is not None:
            self._room -= size
        self._meter.charge_text(size + len(path) + _FRAME + _LINE_FRAME * len(made))
        self._meter.charge_lines(len(made))
        return made

    def _line(self, index: int, text: str, limit: int | None) -> SearchLine:
        part = text if limit is None else clip(text, limit)
        return SearchLine(
            line=index + 1,
            text=part,
            clipped=True if part != text else MISSING,
            sha256=receipt(text) if self._args.receipts else MISSING,
        )
