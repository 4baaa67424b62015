"""A commit as operations search it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from zeno.cache.located import HeldSnapshot, Located
from zeno.code.table import FactTable
from zeno.errors import ZenoError
from zeno.files.open_file import HeldFile, TextFile
from zeno.meter import Meter
from zeno.revisions.blob_opener import BlobOpener
from zeno.revisions.commit_tree import CommitTree
from zeno.revisions.commit_walk import list_blobs, walk_commit
from zeno.revisions.objects import Unavailable
from zeno.search.corpus import Corpus, Revisions, Snapshot
from zeno.search.selection import Recent, Rules, select
from zeno.text.path_names import raw

if TYPE_CHECKING:
    from zeno.cache.text_store import CachedFile
    from zeno.revisions.blob_texts import BlobTexts, NamedBlobs

# Bytes of a blob that may take longer than others should wait: tens of milliseconds with its chain of differences.
SLOW_FROM = 1 << 18


class CommitCorpus(Corpus):
    """The files of a commit. It never changes, so that what was listed once stays right."""

    tree: CommitTree

    def __init__(self, tree: CommitTree, facts: FactTable, revisions: Revisions, texts: "BlobTexts | None") -> None:
        """Take the texts in memory; None where none are kept."""
        super().__init__(tree, facts)
        self.revisions = revisions
        self._texts = texts
        self._files = None if texts is None else CommitFiles(tree, texts)
        self._snapshots: Recent[Rules, Snapshot] = Recent()

    def snapshot(self, rules: Rules) -> Snapshot:
        """List the commit, or return an earlier list."""
        if rules not in self._snapshots:
            candidates = select(walk_commit(self.tree, rules.names), rules)
            self._snapshots.keep(
                rules,
                Snapshot(candidates, self.tree)
                if self._files is None
                else HeldSnapshot(self.tree, self._files, self.facts, candidates),
            )
        return self._snapshots[rules]

    def preparations(self) -> list[Callable[[], object]]:
        """Read the texts from the start on, where no other tree is served."""
        return [self.warm_up]

    def close(self) -> None:
        """Release everything."""
        super().close()
        if self._texts is not None:
            self._texts.store.index.close()

    @property
    def is_warm(self) -> bool:
        """Whether its texts are in memory."""
        return self._texts is not None and self._texts.is_complete(self.tree.commit.id)

    def warm_up(self) -> None:
        """Read its texts in idle moments."""
        if self._files is not None:
            self._files.want()

    def find_text(self, path: str, /) -> TextFile | None:
        """Return the file at a relative path if its text is in memory."""
        # Where a policy is in force, only the way through the tree checks it.
        if self._files is None or self.tree.policy.active:
            return None
        found = self._files.find_plain(path)
        if found is None or found.text is None or found.text.segment is None:
            return None
        return HeldFile(path, found.text.read(), found.size)

    def is_slow_to_open(self, path: str, /) -> bool:
        """Whether the file at a path is large: all of it is inflated before a line of it is read."""
        entry = self.tree.place(path).entry
        return entry is not None and entry.size > SLOW_FROM and self.find_text(path) is None


class CommitFiles:
    """The files of a commit, as far as their texts are in memory."""

    def __init__(self, tree: CommitTree, texts: "BlobTexts") -> None:
        self._tree = tree
        self._texts = texts
        self.store = texts.store
        self._opener = BlobOpener(tree.trees.objects, tree.find_folder)

    @property
    def content_version(self) -> int:
        """Increases whenever more or less is known of blobs."""
        return self._texts.content_version

    def find(self, path: str, /) -> "CachedFile | None":
        """Return what is known of a listed file, or of the one that a link leads to."""
        blob = self._find_blob(path)
        if blob is None:
            try:
                path = self._tree.place(path).path
            except ZenoError:
                return None
            blob = self._find_blob(path)
        return None if blob is None else self._texts.find(blob, path, self._tree.commit.id)

    def find_plain(self, path: str) -> "CachedFile | None":
        """Return what is known of the file at a path, unless it has links in it, or is spelt in another way."""
        try:
            blob = self._find_blob(path)
        except ZenoError:
            return None
        return None if blob is None else self._texts.find(blob, path, self._tree.commit.id)

    def _find_blob(self, path: str) -> bytes | None:
        try:
            return self._opener.find_blob(raw(path, "path"))
        except Unavailable:
            return None

    def review(self, located: Located, _meter: Meter) -> None:
        """Read the texts in idle moments if some that are searched are not in memory."""
        if located.unheld:
            self.want()

    def want(self) -> None:
        """Read the texts in idle moments."""
        self._texts.want(self._tree.commit.id, self._list)

    def _list(self) -> "NamedBlobs":
        return list_blobs(self._tree)
