"""The contents that a commit has at paths. Submodules are looked into where they are checked out."""

from contextlib import ExitStack
from typing import NamedTuple, Self

from zeno.files.absolute_paths import MAX_LINKS
from zeno.revisions.commit_tree import CommitTree, InSubmodule, LeadsOut
from zeno.revisions.objects import Objects, Unavailable
from zeno.revisions.repository import NoRepository, open_submodule
from zeno.revisions.trees import Trees
from zeno.text.path_names import decode_name


class KnownContent(NamedTuple):
    """The content of a file, by its id among some objects."""

    objects: Objects
    id: bytes


class Contents:
    """The contents of a commit's files by path. A context manager: it closes the repositories of submodules."""

    def __init__(self, tree: CommitTree) -> None:
        self._tree = tree
        self._stack = ExitStack()
        self._submodules: dict[tuple[bytes, bytes], CommitTree | None] = {}
        """By path and commit; None for those that cannot be read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def find(self, path: str) -> KnownContent | None:
        """Return the content at a path; None if no file is there, or its submodule cannot be read.

        A file of a submodule is the one in the commit that the submodule is fixed to. Raises what `follow` raises.
        """
        tree: CommitTree | None = self._tree
        place = b""
        """The submodule that the tree is of, with a slash."""
        for _ in range(MAX_LINKS):
            if tree is None:
                return None
            try:
                entry = tree.follow(path).entry
                return None if entry is None or not entry.is_file else KnownContent(tree.trees.objects, entry.id)
            except InSubmodule as inside:
                place, path = place + inside.place, inside.rest
                tree = self._open(tree, place, inside.commit)
                place += b"/"
            except LeadsOut as out:
                if not place:
                    raise
                path = decode_name(out.rest if out.from_root else place + out.rest)
                tree, place = self._tree, b""
        return None

    def _open(self, around: CommitTree, place: bytes, commit: bytes) -> CommitTree | None:
        if (place, commit) not in self._submodules:
            try:
                trees = Trees(self._stack.enter_context(open_submodule(around.descriptors[0], place)))
                self._submodules[place, commit] = around.in_submodule(trees, trees.read_commit(commit))
            except (NoRepository, Unavailable):
                self._submodules[place, commit] = None
        return self._submodules[place, commit]
