"""The reading of a file that needs no choice: a shipped dialect that lacks nothing, or one reading without a doubt."""

from collections import defaultdict
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from normalizer.containers import shipped
from normalizer.containers.readers.opening import unpack
from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import BY_NAME
from normalizer.errors import CannotRun
from normalizer.guess import shipped_fit
from normalizer.guess.fields.values import widest_scale
from normalizer.guess.propose import propose
from normalizer.regular_files import shell_word


class CertainReading(NamedTuple):
    """How a file is read: a dialect, unless it is a judge bundle, the rubric of a reading, and what is stated."""

    name: str
    dialect: bytes | None = None
    rubric: dict[str, Any] | None = None
    """The scales as they were observed."""
    stated: dict[str, Any] = {}  # noqa: RUF012 - a tuple's default, never changed


def certain_reading(path: Path, stream: BinaryIO) -> CertainReading:
    """Return how a file is read, if that is certain. Raises CannotRun with what to do if it is not."""
    told = f"it is not certain how {path} is read"
    try:
        stream = unpack(stream)
        best = shipped_fit.best(stream)
        stream.seek(0)
        if best is None and shipped_fit.is_bundle(stream.read(MAX_ROW_BYTES)):
            return CertainReading("judge bundle")
        found = propose(stream) if best is None else ""
    except UnreadableContainer as error:
        raise CannotRun(f"cannot read {path}: {error}") from None
    hint = f"give --dialect; `normalizer guess {shell_word(path)}` shows how"
    if best is not None:
        if lacking := shipped_fit.list_lacking(best):
            raise CannotRun(f"{path} is of {best.name} and does not say its {' or '.join(lacking)}: {hint}")
        document = shipped.read_dialect(best.name)
        document = shipped.in_container(document, best.container) if best.container else document
        return CertainReading(best.name, document, stated={"self_judged": BY_NAME})
    if isinstance(found, str):
        # `guess` has no reading to show either.
        raise CannotRun(f"{told}: {found}; give --dialect: `normalizer docs dialects` explains how to write one")
    [(reading, _), *others] = found.readings
    if others or reading.doubts:
        why = f"{len(others) + 1} readings are about as likely" if others else reading.doubts[0]
        raise CannotRun(f"{told}: {why}; {hint}")
    return CertainReading("guessed", dumps(reading.dialect).encode(), reading.rubric)


def with_common_rubric(readings: list[CertainReading]) -> list[CertainReading]:
    """Return the readings with one rubric for files of the same dimensions, wide enough for what each has."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for reading in readings:
        if reading.rubric is not None:
            groups[tuple(sorted(reading.rubric["dimensions"]))].append(reading.rubric["dimensions"])
    found = []
    for reading in readings:
        if reading.rubric is not None:
            same = groups[tuple(sorted(reading.rubric["dimensions"]))]
            scales = {name: {"scale": widest_scale([each[name]["scale"] for each in same])} for name in sorted(same[0])}
            reading = reading._replace(rubric={"name": "guessed", "dimensions": scales})
        found.append(reading)
    return found
