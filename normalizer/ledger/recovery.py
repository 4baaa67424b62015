"""Complete a run that was cut while it moved its files into place, or clear away one that was cut or refused before.

A ledger may come from another person, `.staging` included. So everything in `.staging` is checked before
anything is moved or removed: only names that a run makes are accepted, no link is followed, and bundles and settings
documents must have the bytes that their names promise. Only writers recover; readers refuse such a ledger.
"""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NoReturn

from normalizer.documents.lossless import loads_plain
from normalizer.errors import UnusableLedger
from normalizer.ledger.buckets import place_named
from normalizer.ledger.commit_record import NAME
from normalizer.ledger.durable import create_folder, sync
from normalizer.ledger.line_format import DOCUMENT_NAME, FILES, settings_in
from normalizer.ledger.reader import COMMIT, LOCK, STAGING, hold_lock
from normalizer.regular_files import READING_LIMITS, whole_lines

_REPLACED = "replaced"
"""The first word of COMMIT when bundles were replaced, so that settings documents may be unused now."""
_KINDS = "|".join(FILES)
_LINES = rf"(?:{_KINDS})(?:-[0-9a-f]{{1,64}})?(?:\.[1-9][0-9]*)?\.(?:jsonl|index)"
_STAGED_FOLDER = re.compile(r"incoming|known|parts|new|settings|(?:incoming|known)/[0-9a-f]{2}")
_STAGED_FILE = re.compile(
    r"COMMIT|marker|taking-[0-9]+|(?:incoming|known)/[0-9a-f]{2}/[0-9a-f]{64}\.json|settings/[0-9a-f]{64}\.json|"
    rf"parts/[0-9a-f]{{2}}\.(?:{_KINDS})|new/(?:{_LINES}|commit(?:-[0-9a-f]{{1,64}})?\.json)"
)
_OBSOLETE = re.compile(rf"{_LINES}|commit-[0-9a-f]{{1,64}}\.json")
_MOST_MARKER = 1 << 24

RecoveryOutcome = Literal["completed", "cleared", "nothing"]


@contextmanager
def make_and_lock(folder: Path) -> Iterator[None]:
    """Make a folder and hold its lock to write. A block that fails leaves no lock file in a folder without a ledger."""
    fresh = not os.path.lexists(folder / LOCK)
    with create_folder(folder), hold_lock(folder, "write"):
        try:
            yield
        except BaseException:
            if fresh and os.listdir(folder) == [LOCK]:
                os.unlink(folder / LOCK)
            raise


def recover(folder: Path) -> RecoveryOutcome:
    """Complete a run that was cut after its COMMIT; remove what is left of one that was cut before.

    The ledger's lock must be held. Raises UnusableLedger, and changes nothing, if the ledger or its `.staging` holds
    something that no run makes.
    """
    refuse_links(folder)
    root = folder / STAGING
    if not _is_there(root):
        return "nothing"
    if not root.is_dir():
        _refuse(root, "is not a folder")
    committed = _is_there(root / COMMIT)
    with _enter(folder, follow=True) as ledger, _enter(STAGING, ledger) as staged:
        _check(staged, root, hashed=committed)
        if committed:
            _check_targets(folder, staged)
    if committed:
        put_in_place(folder)
        return "completed"
    shutil.rmtree(root)
    return "cleared"


def refuse_links(folder: Path) -> None:
    """Raise UnusableLedger if a part of the ledger is a link: a run would write to wherever it leads."""
    parts = [
        *sorted((folder / "bundles").glob("[0-9a-f][0-9a-f]")),
        *(folder / name for name in ("bundles", "settings")),
    ]
    for path in (*parts, folder / STAGING, *_present(folder)):
        if path.is_symlink():
            _refuse(path, "is a link, and no run follows one")


def put_in_place(folder: Path) -> None:
    """Move everything that a committed run has staged to its place, then remove `.staging`.

    Can be repeated after it was cut at any point. The caller holds the lock, and has made or checked `.staging`.
    """
    replaced, obsolete = _read_marker((folder / STAGING / COMMIT).read_bytes())
    used = _find_used_settings(folder, obsolete) if replaced else None
    for name in ("bundles", "settings"):
        (folder / name).mkdir(exist_ok=True)
    synced = [folder / "settings"]
    with _enter(folder, follow=True) as ledger, _enter(STAGING, ledger) as staged:
        with _enter("bundles", ledger) as bundles, _enter_if_there("incoming", staged) as incoming:
            for bucket in _names(incoming):
                with suppress(FileExistsError):
                    os.mkdir(bucket, dir_fd=bundles)
                with _enter(bucket, incoming) as source, _enter(bucket, bundles) as target:
                    _move_all(source, target)
                synced.append(folder / "bundles" / bucket)
        with _enter("settings", ledger) as settings, _enter_if_there("settings", staged) as source:
            _move_all(source, settings)
        with _enter_if_there("new", staged) as source:
            _move_all(source, ledger)
        for name in obsolete:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=ledger)
        if used is not None:
            with _enter("settings", ledger) as settings:
                for name in _names(settings):
                    if DOCUMENT_NAME.fullmatch(name) and name not in used:
                        os.unlink(name, dir_fd=settings)
    # Only when every move is on the disk may the staging folder go: a power cut must not undo a move without it.
    for path in (*synced, folder / "bundles", folder):
        sync(path)
    shutil.rmtree(folder / STAGING)
    sync(folder)


def commit_marker(obsolete: list[str], *, replaced: bool) -> bytes:
    """Return the content of COMMIT: whether bundles were replaced, and which files are there no more."""
    return "\n".join([*([_REPLACED] if replaced else []), *obsolete]).encode()


def _read_marker(data: bytes) -> tuple[bool, list[str]]:
    words = data.decode().split("\n") if data else []
    replaced = words[:1] == [_REPLACED]
    return replaced, words[replaced:]


def _present(folder: Path) -> list[Path]:
    """Return the files of lines and commit records that are there."""
    found = os.listdir(folder) if folder.is_dir() else []
    names = sorted(name for name in found if name == NAME or _OBSOLETE.fullmatch(name))
    return [folder / name for name in names]


def _check(staged: int, root: Path, *, hashed: bool) -> None:
    """Raise UnusableLedger unless everything in `.staging` is what a run makes there."""
    for where, folders, files, inside in os.fwalk(".", onerror=_raise, dir_fd=staged):
        folders.sort()
        for name in sorted([*folders, *files]):
            relative = os.path.normpath(os.path.join(where, name))
            mode = os.lstat(name, dir_fd=inside).st_mode
            if stat.S_ISLNK(mode):
                _refuse(root / relative, "is a link, and no run makes one")
            expected = _STAGED_FOLDER if stat.S_ISDIR(mode) else _STAGED_FILE
            if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) or not expected.fullmatch(relative):
                _refuse(root / relative, "is nothing that a run makes")
            if relative == COMMIT:
                _check_marker(inside, root)
            if hashed and stat.S_ISREG(mode) and relative.startswith(("incoming/", "settings/")):
                _check_hash(inside, name, root / relative, root)


def _check_marker(staged: int, root: Path) -> None:
    with open(COMMIT, "rb", opener=_within(staged)) as file:
        data = file.read(_MOST_MARKER)
    _, obsolete = _read_marker(data) if data.isascii() else (False, ["not ours"])
    if not all(_OBSOLETE.fullmatch(name) for name in obsolete):
        _refuse(root / COMMIT, "does not say what a run writes there")


def _check_hash(inside: int, name: str, path: Path, root: Path) -> None:
    with open(name, "rb", opener=_within(inside)) as file:
        if path.parent.name == "settings":
            if os.fstat(file.fileno()).st_size > READING_LIMITS["max_kept_bytes"]:
                _refuse(path, "is larger than anything that a run makes there")
            found = hashlib.sha256(file.read().removesuffix(b"\n"))
        else:
            found = hashlib.file_digest(file, "sha256")
    if found.hexdigest() != path.stem:
        advice = f"remove {root} to give that run up, and normalize its bundles again with --replace"
        _refuse(path, f"does not have the bytes of its hash: {advice}")


def _check_targets(folder: Path, staged: int) -> None:
    """Raise UnusableLedger if something that cannot be replaced or read, as a FIFO, stands where a file belongs."""
    for name in ("bundles", "settings"):
        if (folder / name).exists() and not (folder / name).is_dir():
            _refuse(folder / name, "is not a folder")
    targets = _present(folder)
    with _enter_if_there("incoming", staged) as incoming:
        for bucket in _names(incoming):
            place = folder / "bundles" / bucket
            if place.exists() and not place.is_dir():
                _refuse(place, "is not a folder")
            with _enter(bucket, incoming) as source:
                targets += [place / name for name in _names(source)]
    with _enter_if_there("settings", staged) as source:
        targets += [folder / "settings" / name for name in _names(source)]
    for target in targets:
        if target.exists() and not target.is_file():
            _refuse(target, "is not a file, and one belongs there")


def _find_used_settings(folder: Path, obsolete: list[str]) -> set[str]:
    """Return the names of the settings documents that the next state of the ledger refers to."""
    used: set[str] = set()
    gone = set(obsolete)
    new = folder / STAGING / "new"
    staged = set(os.listdir(new)) if new.is_dir() else set[str]()
    paths = [new / name for name in staged]
    paths += [path for path in _present(folder) if path.name not in staged | gone]
    for path in sorted(paths):
        place = place_named(path.name)
        if place is None or place.kind not in ("headers", "audit"):
            continue
        with path.open("rb") as file:
            for line in whole_lines(file):
                try:
                    named = loads_plain(settings_in(place.kind, line))
                except ValueError:
                    named = {}
                if not named:
                    _refuse(path, "has a line that no run writes")
                used.update(f"{digest}.json" for digest in named.values())
    return used


def _is_there(path: Path) -> bool:
    """Whether there is something. Unlike `os.path.lexists`, raises OSError if the disk does not tell."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _names(folder: int | None) -> list[str]:
    return [] if folder is None else sorted(os.listdir(folder))


def _move_all(source: int | None, target: int) -> None:
    for name in _names(source):
        os.replace(name, name, src_dir_fd=source, dst_dir_fd=target)


@contextmanager
def _enter(name: str | Path, within: int | None = None, *, follow: bool = False) -> Iterator[int]:
    """Open a folder, and fail if it is a link, which only the ledger's own path may be."""
    flags = os.O_RDONLY | os.O_DIRECTORY | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(name, flags, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _enter_if_there(name: str, within: int) -> Iterator[int | None]:
    """Open a folder as `_enter` does; None if an earlier recovery has removed it already."""
    try:
        os.lstat(name, dir_fd=within)
    except FileNotFoundError:
        yield None
        return
    with _enter(name, within) as descriptor:
        yield descriptor


def _within(folder: int) -> Callable[[str, int], int]:
    """An opener for files of a folder that follows no link and waits for no FIFO."""
    return lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)


def _raise(error: OSError) -> NoReturn:
    raise error


def _refuse(path: Path, why: str) -> NoReturn:
    raise UnusableLedger(f"{path} {why}; nothing was changed")
