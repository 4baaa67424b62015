"""Print tables and lines: fitted and in colour on a terminal, as they are elsewhere; and write files.

The progress line with the time left is on standard error and only on a terminal. It appears after one second.
"""

import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import click

from normalizer.errors import CannotRun
from normalizer.judge.calling.progress import duration
from normalizer.ledger.durable import write_whole
from normalizer.ledger.reader import is_ledger
from normalizer.tables import formats
from normalizer.tables.formats import Table
from normalizer.terminal.fitted import cut, fit_table
from normalizer.terminal.help_format import option

_META = "normalizer.terminal.wide"
Tables = Callable[[], Iterable[tuple[str, Table]]]


def _remember(ctx: click.Context, _: click.Parameter, wide: bool) -> None:
    ctx.meta[_META] = wide


WIDE = option(
    "--wide",
    "On a terminal: show whole cells and all columns, however long lines get.",
    expose_value=False,
    callback=_remember,
)
"""The option of every command that prints a table as text."""


def print_table(table: Table, form: str, *, nl: bool = False) -> None:
    """Print a table in a format. `nl`: with an empty line after it."""
    if form == "text" and _on_terminal():
        text = fit_table(table, _width(), colour=_in_colour())
    else:
        text = formats.write_table(table, form)
    # Bytes that a terminal would take for colours may be part of a name, and stay.
    click.echo(text, nl=nl, color=True)


def print_tables(named: Iterable[tuple[str, Table]], form: str) -> None:
    """Print tables with their titles."""
    for name, table in named:
        title = name
        if form == "text" and _on_terminal() and (width := _width()) is not None:
            title = textwrap.fill(title, width)
        click.echo(f"## {title}\n" if form == "md" else title)
        print_table(table, form, nl=True)


def print_document(
    document: dict[str, Any], form: str, table: Callable[[], Table], named: Tables | None = None
) -> None:
    """Print a document of numbers as JSON, as its one table, or as all its tables where the format has room."""
    if form == "json":
        click.echo(formats.dumps(document))
    elif named is not None and form in ("md", "text"):
        print_tables(named(), form)
    else:
        print_table(table(), form)


def print_line(line: str) -> None:
    """Print one line, cut to the terminal's width."""
    width = _width() if _on_terminal() else None
    click.echo(line if width is None else cut(line, width), color=True)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _width() -> int | None:
    """Columns of the terminal; None where --wide asks for all."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and ctx.meta.get(_META):
        return None
    return shutil.get_terminal_size().columns


def _in_colour() -> bool:
    return "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


DELAY = 1.0
"""Seconds before anything is shown."""
_REST = 0.1
"""Seconds between two drawings."""
_CLEAR = "\r\033[K"


class ProgressLine:
    """Draws the line over itself. Clear it before something else is printed."""

    def __init__(
        self, stream: Callable[[], TextIO] = lambda: sys.stderr, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._clock = clock
        self.prefix = ""
        """Words before the line, such as the step of a study."""
        self._forget()

    def _forget(self) -> None:
        self._first: float | None = None
        self._what = ""
        self._begun = self._drawn_at = 0.0
        self._drawn = False

    def __call__(self, what: str, done: int, of: int) -> None:
        """Show that `done` of `of` things are done; `of` is 0 if their number is not known.

        Things whose name begins with `bytes` are told in megabytes.
        """
        now = self._clock()
        if self._first is None:
            self._first = now
        if what != self._what:
            self._what, self._begun, self._drawn_at = what, now, 0.0
        if now - self._first < DELAY or now - self._drawn_at < _REST or not self.is_on_terminal():
            return
        self._drawn, self._drawn_at = True, now
        unit = "MB" if what.startswith("bytes ") else ""
        self._write(
            f"{_CLEAR}{self.prefix}{what.removeprefix('bytes ')}: {format_progress(done, of, now - self._begun, unit)}"
        )

    def is_on_terminal(self) -> bool:
        """Whether anything would be shown."""
        return self._stream().isatty()

    def since(self, what: str, seconds: float) -> None:
        """Show for how long work of unknown size has gone on."""
        self._drawn = True
        self._write(f"{_CLEAR}{self.prefix}{what}: {duration(seconds)}")

    def clear(self) -> None:
        """Remove the line, and begin anew with the next call."""
        if self._drawn:
            self._write(_CLEAR)
        self._forget()

    def _write(self, text: str) -> None:
        self._stream().write(text)
        self._stream().flush()


def format_progress(done: int, of: int, seconds: float, unit: str = "") -> str:
    """Return how much is done after `seconds`, and how long the rest will take. Bytes are told in the unit MB."""
    if not of:
        return str(done)
    text = f"{done / 1e6:.0f} of {of / 1e6:.0f} MB" if unit == "MB" else f"{done} of {of}"
    return f"{text}, about {duration(seconds / done * (of - done))} left" if 0 < done < of else text


LINE = ProgressLine()
"""The line of this process: it has one standard error."""


class Steps:
    """Counts the steps of a command that are done, on the progress line."""

    def __init__(self, what: str, of: int, line: ProgressLine = LINE) -> None:
        self._what, self._of, self._line = what, of, line
        self._done = 0
        line(what, 0, of)

    def __call__(self) -> None:
        """Count one more step as done."""
        self._done += 1
        self._line(self._what, self._done, self._of)


@contextmanager
def show_elapsed(what: str, *, shown: bool = True, line: ProgressLine = LINE, rest: float = DELAY) -> Iterator[None]:
    """Show once a second for how long the work inside has gone on, which an engine does without telling how far it is.

    Give `shown` as False where that work starts processes, which must not be forked beside a thread, or shows its own
    progress.
    """
    if not (shown and line.is_on_terminal()):
        yield
        return
    over, begun = threading.Event(), time.monotonic()

    def show() -> None:
        while not over.wait(rest):
            line.since(what, time.monotonic() - begun)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        line.clear()


def refuse_inside_ledger(*places: Path | None) -> None:
    """Raise CannotRun if a file or folder that a command is to write lies in a ledger."""
    for given in places:
        place = given.resolve() if given is not None else Path("/")
        for around in filter(is_ledger, (place, *place.parents)):
            raise CannotRun(f"{given} is in the ledger {around}, which only normalize writes to: name another place")


def write_file(path: Path, data: bytes) -> None:
    """Write a file as a whole. Raises CannotRun."""
    try:
        write_whole(path, data)
    except OSError as error:
        raise CannotRun(f"cannot write {path}: {error.strerror}") from None


def print_note(line: str) -> None:
    """Print a line about what is done on standard error."""
    click.echo(formats.printable(line), err=True)
