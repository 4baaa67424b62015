"""Which files differ from those in a commit, for reviews."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.file_tree import FileTree
from zeno.files.roots import NamedTrees
from zeno.meter import Meter
from zeno.revisions.commit_tree import CommitTree
from zeno.revisions.submodules import Contents
from zeno.search.corpus import Corpus
from zeno.search.selection import Selection
from zeno.text.path_names import Paths


def select_changed(paths: Sequence[str], rev: str, selection: Selection, corpus: Corpus, meter: Meter) -> Selection:
    """Return a selection of those of the selected paths whose content a commit does not have at the same path.

    A file that cannot be read counts as changed.
    """
    now, since = (_by_prefix(tree) for tree in (corpus.tree, corpus.revisions.at(rev, "args.changed_since").tree))
    with ExitStack() as stack:
        then = {prefix: stack.enter_context(Contents(tree)) for prefix, tree in since.items()}

        def is_changed(path: str) -> bool:
            prefix = path[: path.index("/") + 1] if "" not in then else ""
            return _differs(path[len(prefix) :], now[prefix], then[prefix])

        changed = Paths(path for path in meter.check_each(paths) if is_changed(path))
    known = frozenset(changed)
    return Selection(known.__contains__, selection.reaches, lambda _: changed)


def _by_prefix(tree: FileTree) -> dict[str, Any]:
    """Return the trees of named roots by the beginning of their paths; of one root without a name it is empty."""
    return {f"{name}/": one for name, one in tree.trees.items()} if isinstance(tree, NamedTrees) else {"": tree}


def _differs(path: str, tree: FileTree, then: Contents) -> bool:
    """Compare contents by the id that the commit has for one: its object is not read, and may be missing."""
    try:
        content = then.find(path)
        if content is None:
            return True
        if isinstance(tree, CommitTree):
            entry = tree.follow(path).entry
            return entry is None or entry.id != content.id
        with tree.open(path) as file:
            return content.objects.compute_blob_id(file.size, file.chunks()) != content.id
    except (Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied):
        return True
