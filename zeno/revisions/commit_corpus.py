"""A commit as operations search it."""

from zeno.code.table import FactTable
from zeno.meter import Meter
from zeno.revisions.commit_tree import CommitTree
from zeno.revisions.commit_walk import walk_commit
from zeno.search.cold import PART, SHARED_FROM
from zeno.search.corpus import Corpus, Query, Revisions, Sink, Skipped, Snapshot
from zeno.search.loop import SearchFiles, Sharing, search
from zeno.search.selection import Candidates, RulesKey, Selection, SelectionRules, name_rules, rules_key, select

# Clients repeat few combinations of rules.
MAX_SNAPSHOTS = 8


class CommitCorpus(Corpus):
    """The files of a commit. It never changes, so that what was listed once stays right."""

    tree: CommitTree

    def __init__(self, tree: CommitTree, facts: FactTable, revisions: Revisions) -> None:
        super().__init__(tree, facts)
        self.revisions = revisions
        self._snapshots: dict[RulesKey, CommitSnapshot] = {}

    def snapshot(self, rules: SelectionRules, start: str = "") -> "CommitSnapshot":
        """List the commit, or return an earlier list."""
        key = rules_key(rules, start)
        found = self._snapshots.get(key)
        if found is None:
            while len(self._snapshots) >= MAX_SNAPSHOTS:
                del self._snapshots[next(iter(self._snapshots))]
            found = CommitSnapshot(self, select(walk_commit(self.tree, name_rules(rules)), rules, start))
            self._snapshots[key] = found
        return found


class CommitSnapshot(Snapshot):
    """The candidates of some rules."""

    def __init__(self, corpus: CommitCorpus, candidates: Candidates) -> None:
        super().__init__(candidates)
        self._corpus = corpus

    def search(self, selection: Selection, query: Query, sink: Sink, meter: Meter) -> Skipped:
        """Read them and search them."""
        files = SearchFiles(self.paths(selection))
        return search(self._corpus.tree, files, query, sink, meter, Sharing(SHARED_FROM, PART))
