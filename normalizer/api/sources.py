"""Ledgers where a command is given files: each file becomes a temporary ledger while the command runs."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

from normalizer.api.ledgers import Ledgers
from normalizer.api.reading import normalize_paths
from normalizer.batch.intake import file_globs, open_bundle
from normalizer.containers import shipped
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import Settings, load, parse_document
from normalizer.errors import CannotRun
from normalizer.guess.certain import CertainReading, certain_reading, with_common_rubric
from normalizer.ledger.reader import is_ledger
from normalizer.regular_files import document_bytes

_ALL = [f"*.{kind}{packed}" for kind, packed in product(("json", "jsonl", "csv", "tsv"), ("", ".gz", ".zst"))]
_ALL.append("*.eval")
"""Names of files that may hold judgements."""


@contextmanager
def ledgers_of(
    paths: Sequence[Path],
    dialect: str | None,
    rubric: Path | None,
    *,
    marked: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Path, ...]]:
    """Yield a ledger for each path: itself, or one made of the file, which is removed afterwards.

    Without a dialect a file is read only if it is certain how. With `marked`, the records of each file have the factor
    `file` with its name. `tell` is given a line about each file.
    """
    files = [path for path in paths if not path.is_dir()]
    readings = dict(zip(files, with_common_rubric([_reading(path, dialect) for path in files]), strict=True))
    made: list[Ledgers] = []
    names: dict[str, str] = {}
    for path in paths:
        if path not in readings:
            if not is_ledger(path):
                raise CannotRun(f"{path} is a folder and no ledger: give ledgers or files")
            made.append(Ledgers((path,)))
            continue
        reading = readings[path]
        ledger = normalize_paths([str(path)], _settings(reading, rubric, {"file": path.name} if marked else {}))
        tell(f"{path}: read as {reading.name}; {ledger.notes[1]}")
        names |= {str(folder): str(path) for folder in ledger.folders}
        made.append(ledger)
    try:
        yield tuple(folder for each in made for folder in each.folders)
    except CannotRun as error:
        raise type(error)(_with_given_names(str(error), names)) from None


@contextmanager
def study_of(
    folder: Path, dialect: str | None, rubric: Path | None, tell: Callable[[str], None] = lambda _: None
) -> Iterator[Path]:
    """Yield a folder with a ledger for each file of a study; the folder itself if there are ledgers below it.

    A file of which it is not certain how it is read is left out, which `tell` is told.
    """
    if dialect is None and any(is_ledger(path) for path in (folder, *folder.rglob("*")) if path.is_dir()):
        yield folder
        return
    if not folder.is_dir():
        raise CannotRun(f"{folder} is not a folder: give one with ledgers or files below it")
    globs = file_globs(parse_document("dialect", shipped.read_dialect(dialect))) if dialect is not None else _ALL
    with tempfile.TemporaryDirectory(prefix="normalizer-") as made:
        count = left_out = 0
        below = (path for path in sorted(folder.rglob("*")) if any(fnmatchcase(path.name, glob) for glob in globs))
        for name in (str(path) for path in below if path.is_file()):
            try:
                settings = _settings(_reading(Path(name), dialect), rubric, {})
            except CannotRun as error:
                tell(f"left out: {error}")
                left_out += 1
                continue
            ledger = normalize_paths([name], settings, Path(made) / Path(name).relative_to(folder))
            tell(f"{name}: {ledger.notes[1]}")
            count += 1
        if left_out:
            tell(f"{left_out} of {count + left_out} files are left out: what follows is about the others")
        if count == 0:
            raise CannotRun(f"no ledger is below {folder}, and no file of which it is certain how it is read")
        yield Path(made)


def _with_given_names(message: str, names: dict[str, str]) -> str:
    """Return a message about temporary ledgers with the names of the files that they were made of."""
    for folder, name in names.items():
        message = message.replace(folder, name)
    return message


def _reading(path: Path, dialect: str | None) -> CertainReading:
    if dialect is not None:
        return CertainReading(dialect, shipped.read_dialect(dialect))
    with open_bundle(str(path)) as stream:
        return certain_reading(path, stream)


def _settings(reading: CertainReading, rubric: Path | None, factors: dict[str, str]) -> Settings:
    scale = None if reading.rubric is None else dumps(reading.rubric).encode()
    stated = {**reading.stated, "factors": factors} if factors else reading.stated
    return load(
        rubric=document_bytes(rubric) if rubric is not None else scale,
        dialect=reading.dialect,
        stated=dumps(stated).encode() if stated else None,
    )
