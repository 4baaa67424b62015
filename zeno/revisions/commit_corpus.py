"""A commit as operations search it."""

from zeno.code.table import FactTable
from zeno.revisions.commit_tree import CommitTree
from zeno.revisions.commit_walk import walk_commit
from zeno.search.corpus import PART, SHARED_FROM, Corpus, Revisions, Snapshot
from zeno.search.loop import Sharing
from zeno.search.selection import Recent, Rules, select


class CommitCorpus(Corpus):
    """The files of a commit. It never changes, so that what was listed once stays right."""

    tree: CommitTree

    def __init__(self, tree: CommitTree, facts: FactTable, revisions: Revisions) -> None:
        super().__init__(tree, facts)
        self.revisions = revisions
        self._snapshots: Recent[Rules, Snapshot] = Recent()

    def snapshot(self, rules: Rules) -> Snapshot:
        """List the commit, or return an earlier list."""
        if rules not in self._snapshots:
            candidates = select(walk_commit(self.tree, rules.names), rules)
            self._snapshots.keep(rules, Snapshot(candidates, self.tree, Sharing(SHARED_FROM, PART)))
        return self._snapshots[rules]
