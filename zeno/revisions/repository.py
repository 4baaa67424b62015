"""The repository at a root: where its objects are, and whether they may be read.

Nothing of a repository is run: no program, hook, filter or helper. Of its settings only the format is read. Links,
alternates and other ways out of it are refused, and so is a `.git` file, unless it belongs to a worktree that the
repository names.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from zeno.files.sealed_folder import LeadsAway, SealedFolder
from zeno.revisions.objects import Objects
from zeno.revisions.refs import Refs

_MAX_BYTES = 1 << 20
_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"[^"]*")?\s*\](.*)', re.DOTALL)
# Extensions that change nothing about reading objects by id.
_HARMLESS = {"noop", "noop-v1", "partialclone", "preciousobjects", "worktreeconfig", "relativeworktrees"}
_FORMATS = {"sha1": "sha1", "sha256": "sha256"}


class NoRepository(Exception):
    """There is no repository at the root, or none that may be read. The message says why."""


class Repository:
    """An open repository: its objects and its references. `close` it."""

    def __init__(self, root: int) -> None:
        """Open the repository of the open directory `root`. Raises NoRepository."""
        with ExitStack() as stack:
            try:
                top = SealedFolder(os.dup(root))
                stack.callback(top.close)
                self.folder, self.common = _find(top, stack)
                digest = _read_format(self.common)
                _refuse_alternates(self.common)
                self.objects = Objects(self.common, digest)
            except LeadsAway as error:
                raise NoRepository(f"{str(error)!r} in the repository is a link or cannot be read") from None
            stack.callback(self.objects.close)
            self.refs = Refs(self.folder, self.common, self.objects)
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Close everything."""
        self._stack.close()

    @property
    def descriptors(self) -> list[int]:
        """The directories that are read, which may be outside the root for a worktree."""
        return [self.folder.descriptor, self.common.descriptor]


class RepositoryAtRoot:
    """The repository at an open root, opened when it is first asked for. `close` it."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._opened: Repository | str | None = None
        """Or why there is none: an exception that is raised again would keep the frames of all who met it."""

    def open(self) -> Repository:
        """Return the repository. Raises NoRepository, with the same reason each time."""
        if self._opened is None:
            try:
                self._opened = Repository(self._root)
            except NoRepository as error:
                self._opened = str(error)
        if isinstance(self._opened, str):
            raise NoRepository(self._opened)
        return self._opened

    def prepare(self) -> None:
        """Open it now if it is outside the root: a confined process can open it no more."""
        top = SealedFolder(os.dup(self._root))
        try:
            status = top.status(b".git")
            if status is not None and stat.S_ISREG(status.st_mode):
                self.open()
        except (LeadsAway, NoRepository):
            pass
        finally:
            top.close()

    @property
    def descriptors(self) -> list[int]:
        """The directories of the repository, if it was opened: in a worktree they are outside the root."""
        return self._opened.descriptors if isinstance(self._opened, Repository) else []

    def close(self) -> None:
        """Close the repository, if it was opened."""
        if isinstance(self._opened, Repository):
            self._opened.close()


class Repositories:
    """The repositories at open roots, in the order of these. `close` them."""

    def __init__(self, roots: list[int]) -> None:
        self.at_roots = [RepositoryAtRoot(root) for root in roots]

    def prepare(self) -> None:
        """Open those outside the roots now: a confined process can open them no more."""
        for one in self.at_roots:
            one.prepare()

    @property
    def descriptors(self) -> list[int]:
        """The directories of those that were opened."""
        return [descriptor for one in self.at_roots for descriptor in one.descriptors]

    def close(self) -> None:
        """Close those that were opened."""
        for one in self.at_roots:
            one.close()


def _find(top: SealedFolder, stack: ExitStack) -> tuple[SealedFolder, SealedFolder]:
    """Return the directory of the repository, and the one that has its objects. Raises NoRepository and LeadsAway."""
    status = top.status(b".git")
    if status is None:
        if all(top.status(name) is not None for name in (b"HEAD", b"objects", b"refs")):
            _require_owner(top.status(b""))
            _refuse_common(top)
            return top, top
        raise NoRepository("there is no .git at the root, and the root is no bare repository")
    for one in (top.status(b""), status):
        _require_owner(one)
    if stat.S_ISREG(status.st_mode):
        return _find_of_worktree(top, status, stack)
    folder = top.below(b".git") if stat.S_ISDIR(status.st_mode) else None
    if folder is None:
        raise NoRepository("the .git at the root is a link or no directory, and is not followed")
    stack.callback(folder.close)
    _refuse_common(folder)
    return folder, folder


def _refuse_common(folder: SealedFolder) -> None:
    if folder.status(b"commondir") is not None:
        raise NoRepository("the repository keeps its objects elsewhere (commondir), which is not followed")
    if folder.status(b"objects") is None:
        raise NoRepository("the repository has no objects")


def _find_of_worktree(top: SealedFolder, status: os.stat_result, stack: ExitStack) -> tuple[SealedFolder, SealedFolder]:
    """Follow the `.git` file of a worktree, if the repository that it leads to names this worktree in its turn."""
    text = os.fsdecode(top.read(b".git", _MAX_BYTES) or b"")
    refused = NoRepository(
        "the .git at the root is a file that leads elsewhere, and the repository there names no worktree at this root"
    )
    if not text.startswith("gitdir: "):
        raise refused
    try:
        place = os.path.join(top.path, os.fsencode(text.removeprefix("gitdir: ").rstrip("\n")))
        folder = SealedFolder.at(place)
        stack.callback(folder.close)
        named = (folder.read(b"gitdir", _MAX_BYTES) or b"").rstrip(b"\n")
        back = SealedFolder.at(os.path.dirname(os.path.join(place, named)))
        stack.callback(back.close)
        there = back.status(os.path.basename(named))
        if there is None or not os.path.samestat(there, status) or folder.read(b"commondir", 64) != b"../..\n":
            raise refused
        common = SealedFolder.at(os.path.join(place, b"../.."))
        stack.callback(common.close)
    except (OSError, LeadsAway, ValueError):
        raise refused from None
    for one in (folder.status(b""), common.status(b"")):
        _require_owner(one)
    _refuse_common(common)
    return folder, common


@contextmanager
def open_submodule(root: int, place: bytes) -> Iterator[Objects]:
    """Open the objects of the submodule that is checked out at a path below an open directory. Raises NoRepository.

    Its repository is the `.git` in it, or where git keeps those of submodules: in `.git/modules` at the root.
    """
    with ExitStack() as stack:
        try:
            top = SealedFolder(os.dup(root))
            stack.callback(top.close)
            where = place + b"/.git"
            status = top.status(where)
            if status is not None and stat.S_ISREG(status.st_mode):
                text = (top.read(where, _MAX_BYTES) or b"").rstrip(b"\n")
                where = text.removeprefix(b"gitdir: " + b"../" * (place.count(b"/") + 1))
                if not where.startswith(b".git/modules/") or b".." in where.split(b"/") or b"\0" in where:
                    raise NoRepository("the submodule keeps its repository elsewhere, which is not followed")
            folder = top.below(where)
            if folder is None:
                raise NoRepository("the submodule is not checked out")
            stack.callback(folder.close)
            _require_owner(folder.status(b""))
            _refuse_common(folder)
            _refuse_alternates(folder)
            objects = Objects(folder, _read_format(folder))
        except LeadsAway as error:
            raise NoRepository(f"{str(error)!r} in the repository is a link or cannot be read") from None
        stack.callback(objects.close)
        yield objects


def _require_owner(status: os.stat_result | None) -> None:
    """Raise NoRepository for a directory or file of another user: like git, trust none of these."""
    users = {os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        users.add(int(os.environ["SUDO_UID"]))
    if status is None or status.st_uid not in users:
        raise NoRepository("the repository belongs to another user, and git would refuse it too; serve it as its owner")


def _refuse_alternates(common: SealedFolder) -> None:
    for name in (b"alternates", b"http-alternates"):
        data = common.read(b"objects/info/" + name, _MAX_BYTES) or b""
        if any(line.strip() and not line.startswith(b"#") for line in data.splitlines()):
            raise NoRepository(
                "the repository takes objects from another one (alternates), which is not read; "
                "git repack -a -d makes it whole"
            )


def _read_format(common: SealedFolder) -> str:
    """Return the digest that ids are. Raises NoRepository for a format that is not known."""
    settings = read_settings((common.read(b"config", _MAX_BYTES) or b"").decode("utf-8", "replace"))
    version = settings.get("core.repositoryformatversion", "0")
    extensions = {name.removeprefix("extensions."): value for name, value in settings.items() if "extensions." in name}
    if version not in ("0", "1"):
        raise NoRepository(f"the repository has the format {version[:20]!r}, which is not known")
    digest = _FORMATS.get(extensions.pop("objectformat", "sha1") if version == "1" else "sha1")
    if digest is None:
        raise NoRepository("the repository has ids of a kind that is not known")
    if extensions.pop("refstorage", "files") != "files":
        raise NoRepository("the repository keeps its references in another way than files, which is not known")
    unknown = sorted(extensions.keys() - _HARMLESS) if version == "1" else []
    if unknown:
        raise NoRepository(f"the repository has the extension {unknown[0][:40]!r}, which is not known")
    return digest


def read_settings(text: str) -> dict[str, str]:
    """Return the settings of a config file by section and name in lower case, without those of subsections."""
    found: dict[str, str] = {}
    section: str | None = None
    for line in text.splitlines():
        line = line.strip()
        match = _SECTION.fullmatch(line)
        if match is not None:
            section = None if '"' in line.partition("]")[0] else match[1].lower()
            line = match[2].strip()
        name, equals, value = line.partition("=")
        name = name.strip().lower()
        if section is not None and name and name[0] not in "#;":
            value = re.split(r"\s*[#;]", value.strip(), maxsplit=1)[0].strip().strip('"')
            found[f"{section}.{name}"] = value.lower() if equals else "true"
    return found
