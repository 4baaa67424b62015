"""Commits of several roots: one of each, as one tree whose first level are the names of the roots."""

from zeno.files.file_tree import FileTree
from zeno.files.policy import Policy
from zeno.files.roots import NamedTrees, Roots
from zeno.files.tree import Tree
from zeno.revisions.commit_tree import CommitTree
from zeno.revisions.repository import Repositories
from zeno.revisions.served_commits import MAX_COMMITS, ServedCommits
from zeno.search.corpus import Corpus, Revisions
from zeno.search.roots_corpus import RootsCorpus


def make_revisions(
    tree: FileTree, repositories: Repositories, allowed: list[str] | None, around: Corpus | None = None
) -> "ServedCommits | NamedCommits":
    """Return the commits of the repository at a root, or at each of several; see `ServedCommits`."""
    if isinstance(tree, Roots):
        corpora = around.corpora if isinstance(around, RootsCorpus) else {}
        parts = {
            name: ServedCommits(root, repository, allowed, corpora.get(name), name)
            for (name, root), repository in zip(tree.trees.items(), repositories.at_roots, strict=True)
        }
        return NamedCommits(tree, parts, allowed)
    assert isinstance(tree, Tree)  # noqa: S101 - for the type checker: there are no other trees with a repository
    return ServedCommits(tree, repositories.at_roots[0], allowed, around)


class NamedCommits(Revisions):
    """The commits of the repositories at several roots. Every root must be one.

    A name is looked up in each root. `NAME=REV` for each root, with commas, names a commit of each: so are those of an
    answer written.
    """

    def __init__(self, roots: Roots, parts: dict[str, ServedCommits], stated: list[str] | None) -> None:
        self._roots = roots
        self._parts = parts
        self._stated = stated
        self._pinned: str | None = None
        self._corpora: dict[str, RootsCorpus] = {}
        """Those asked for last, the latest at the end."""

    @property
    def allow_list(self) -> list[str]:
        """The commits that may be asked for; none where a root is no repository."""
        each = [part.allow_list for part in self._parts.values()]
        if not all(each):
            return []
        return each[0] if self._pinned is None else [self._pinned, *(self._stated or ())]

    @property
    def has_pending_work(self) -> bool:
        """Whether texts of commits are left to read."""
        return any(part.has_pending_work for part in self._parts.values())

    def idle(self) -> bool:
        """Read some texts of commits; return False when nothing is left."""
        return any(part.idle() for part in self._parts.values())

    def at(self, rev: str, field: str) -> RootsCorpus:
        """Return the corpus of a commit of each root. Raises what `ServedCommits.at` raises for one of them."""
        revs = split_rev(rev, self._roots.names)
        return self._join({name: part.at(revs.get(name, rev), field) for name, part in self._parts.items()})

    def pin(self, rev: str) -> RootsCorpus:
        """Return the corpus of a commit of each root; see `ServedCommits.pin`."""
        revs = split_rev(rev, self._roots.names)
        corpus = self._join({name: part.pin(revs.get(name, rev)) for name, part in self._parts.items()})
        self._pinned = corpus.tree.rev
        return corpus

    def _join(self, corpora: dict[str, Corpus]) -> RootsCorpus:
        tree = NamedCommitTrees(self._roots, {name: _commit_tree(one) for name, one in corpora.items()})
        known = self._corpora.pop(tree.rev, None)
        # Of a commit that was not asked for in a while, its root has another corpus now.
        is_same = known is not None and all(known.corpora[name] is one for name, one in corpora.items())
        corpus = known if known is not None and is_same else RootsCorpus(tree, corpora)
        corpus.revisions = self
        self._corpora[tree.rev] = corpus
        while len(self._corpora) > MAX_COMMITS:
            del self._corpora[next(iter(self._corpora))]
        return corpus


class NamedCommitTrees(NamedTrees[CommitTree]):
    """The trees of a commit of each root."""

    def __init__(self, roots: Roots, trees: dict[str, CommitTree]) -> None:
        super().__init__(roots.names, trees, roots.policy)
        self._roots = roots

    @property
    def rev(self) -> str:
        """The ids of the commits, with the names of the roots."""
        return ",".join(f"{name}={self.trees[name].rev}" for name in self.names)

    @property
    def descriptors(self) -> list[int]:
        """The descriptors of the roots."""
        return self._roots.descriptors

    def under(self, policy: Policy) -> "NamedCommitTrees":
        """Return these trees under another policy."""
        trees = {name: tree.under(policy.below(name)) for name, tree in self.trees.items()}
        return NamedCommitTrees(self._roots.under(policy), trees)

    def inside(self, path: bytes) -> list[bytes] | None:
        """Return the components of an absolute path, the name of its root first; None if it leads under no root."""
        return self._roots.inside(path)

    def find_covered(self, path: bytes) -> list[str]:
        """Return the directories that an absolute path covers; see `FileTree`."""
        return self._roots.find_covered(path)


def split_rev(rev: str, names: list[str]) -> dict[str, str]:
    """Return the names of commits by root, if a text names one for each root; else it is the name of one for all."""
    parts = [part.split("=") for part in rev.split(",")]
    found = {part[0]: part[-1] for part in parts if len(part) == 2 and part[1]}
    return found if len(found) == len(parts) and found.keys() == set(names) else {}


def _commit_tree(corpus: Corpus) -> CommitTree:
    assert isinstance(corpus.tree, CommitTree)  # noqa: S101 - for the type checker: names of commits lead to commits
    return corpus.tree
