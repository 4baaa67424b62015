"""Join the corpora of several roots into one, in which the names of the roots are the first level of paths.

Roots lie one after the other in the order of paths, because no name contains a slash. Each corpus lists and searches
its own root. Globs, caps and cursors are about whole paths, so they are applied here.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from zeno.files.file_tree import FileTree
from zeno.files.open_file import TextFile
from zeno.files.policy import DENIED
from zeno.files.roots import Roots
from zeno.files.rules import EXCLUDED
from zeno.files.tree import Tree
from zeno.files.walk import WalkedNames
from zeno.meter import Meter
from zeno.search.corpus import Corpus, Snapshot
from zeno.search.query import Query
from zeno.search.selection import EVERYTHING, MAX_SELECTIONS, Candidates, Recent, Rules, Selection, select
from zeno.search.sink import SearchedFile, Sink, Skipped, Wish
from zeno.search.word_counts import WordCounts
from zeno.text.path_names import Paths

NO_LIMIT = 1 << 53


def corpus_of(tree: FileTree, make: Callable[[Tree], Corpus]) -> Corpus:
    """Return the corpus that `make` makes of a root; of several roots one that joins theirs."""
    if isinstance(tree, Roots):
        return RootsCorpus(tree, {name: make(root) for name, root in tree.trees.items()})
    assert isinstance(tree, Tree)  # noqa: S101 - for the type checker: there are no other trees
    return make(tree)


class _Part(NamedTuple):
    """The candidates of one root."""

    name: str
    prefix: str
    """The name and a slash."""
    snapshot: Snapshot


class RootsCorpus(Corpus):
    """The corpora of several roots, in the order of paths."""

    def __init__(self, tree: FileTree, corpora: Mapping[str, Corpus]) -> None:
        self.corpora = dict(corpora)
        """By the name of the root."""
        # Facts are kept by content, so one table does for all.
        super().__init__(tree, next(iter(self.corpora.values())).facts, self.corpora.values())
        self._snapshots: Recent[Rules, RootsSnapshot] = Recent()
        """Recent snapshots of warm corpora."""

    def snapshot(self, rules: Rules) -> "RootsSnapshot":
        """Join snapshots of the roots until there are enough files; or return an earlier one that is still right."""
        if not self.is_warm:
            return self._join(rules)
        kept = self._snapshots.get(rules)
        # A warm corpus returns one snapshot until something changes.
        if kept is None or any(self._part(part.name, rules).snapshot is not part.snapshot for part in kept.parts):
            kept = self._join(rules)
        return self._snapshots.keep(rules, kept)

    def find_text(self, path: str) -> TextFile | None:
        name, slash, below = path.partition("/")
        held = self.corpora[name].find_text(below) if slash and name in self.corpora else None
        if held is None or self.tree.policy.verdict(name) == DENIED:
            return None
        held.path = f"{name}/{held.path}"
        return held

    def is_slow_to_open(self, path: str, /) -> bool:
        name, slash, below = path.partition("/")
        return bool(slash) and name in self.corpora and self.corpora[name].is_slow_to_open(below)

    def _part(self, name: str, rules: Rules) -> _Part:
        prefix = f"{name}/"
        below = rules.start.removeprefix(prefix) if rules.start > prefix else ""
        # One more than may be listed shows that there are more. Names that exclude globs leave out do not count.
        enough = NO_LIMIT if rules.exclude_globs else rules.max_files + 1
        inner = rules._replace(exclude_globs=(), max_files=enough, start=below)
        return _Part(name, prefix, self.corpora[name].snapshot(inner))

    def _join(self, rules: Rules) -> "RootsSnapshot":
        parts: list[_Part] = []
        return RootsSnapshot(select(self._walk(rules, parts), rules), parts)

    def _walk(self, rules: Rules, parts: list[_Part]) -> Iterator[WalkedNames]:
        """Yield what a walk over all roots would find, and add a part for each root that was asked."""
        start = rules.start
        denied = {name for name in self.corpora if self.tree.policy.verdict(name) == DENIED}
        # A root that is asked for is never hidden.
        top = rules.names._replace(include_hidden=True)
        excluded = top.leave_out((name, True) for name in sorted(self.corpora) if name not in denied)
        # As in a walk, the names left out of a directory come before those that are in it.
        yield WalkedNames([f"{name}/" for name in excluded], EXCLUDED)
        for name in self.corpora:
            prefix = f"{name}/"
            if name not in denied and name not in excluded and (start <= prefix or start.startswith(prefix)):
                part = self._part(name, rules)
                parts.append(part)
                yield from _with_name(part)

    def close(self) -> None:
        self._snapshots.clear()
        super().close()


class RootsSnapshot(Snapshot):
    """The candidates of several roots. Each root searches its own."""

    def __init__(self, candidates: Candidates, parts: list[_Part]) -> None:
        self.candidates = candidates
        self._paths = Recent(MAX_SELECTIONS)
        self.parts = parts
        """Snapshots of the roots that it is made of."""
        self._whole = len(candidates.paths) == sum(len(part.snapshot.candidates.paths) for part in parts)

    def search(self, selection: Selection, query: Query, sink: Sink, meter: Meter) -> Skipped:
        skipped = Skipped()
        for part, _, inner in self._divide(self.paths(selection), selection):
            below = _Below(sink, part.prefix)
            skipped.add_all(part.snapshot.search(inner, query, below, meter), part.prefix)
        return skipped

    def count_words(self, selection: Selection, query: Query, words: Collection[bytes], meter: Meter) -> WordCounts:
        paths = self.paths(selection)
        counts = WordCounts(paths, words, meter)
        for part, start, inner in self._divide(paths, selection):
            found = part.snapshot.count_words(inner, query, words, meter)
            counts.add_part(found, start)
            counts.skipped.add_all(found.skipped, part.prefix)
        return counts

    def _divide(self, paths: Paths, selection: Selection) -> Iterator[tuple[_Part, int, Selection]]:
        """Yield the roots that have some of the paths, the index of the first one, and the selection of them."""
        # Where no file of a root was left out here, equal entries pick the same files of it.
        entries = selection.entries if self._whole else None
        for part in self.parts:
            # Paths with one prefix stand together, and 0 is the character after the slash.
            start = bisect_left(paths, part.prefix)
            wanted = paths[start : bisect_left(paths, part.prefix[:-1] + "0")]
            if wanted:
                yield part, start, _exactly(wanted, part.prefix, part.snapshot, entries)


class _Below:
    """Hands files of one root on to a sink, with the name of the root in front."""

    def __init__(self, sink: Sink, prefix: str) -> None:
        self._sink = sink
        self._prefix = prefix

    @property
    def wish(self) -> Wish:
        return self._sink.wish

    def take(self, found: SearchedFile) -> None:
        self._sink.take(found._replace(path=self._prefix + found.path))


def _with_name(part: _Part) -> Iterator[WalkedNames]:
    """Yield the candidates of a root as a walk would, with its name in front; those left out come first."""
    prefix, candidates = part.prefix, part.snapshot.candidates
    for rule, (names, directories) in candidates.left_out.items():
        yield WalkedNames([prefix + path for path in [*names, *directories]], rule)
    for path, problem in candidates.problems:
        # The root itself is `./` if it cannot be listed.
        yield WalkedNames([prefix + path.removeprefix("./")], problem)
    yield WalkedNames([prefix + path for path in candidates.paths], None)


def _exactly(wanted: list[str], prefix: str, snapshot: Snapshot, entries: tuple[str, ...] | None) -> Selection:
    """Return a selection of these files of one root; `entries` describes it if it can be kept."""
    if len(wanted) == len(snapshot.candidates.paths):
        return EVERYTHING

    def pick(_paths: Paths) -> Paths:
        return Paths(path[len(prefix) :] for path in wanted)

    return Selection(lambda path: prefix + path in wanted, lambda _: True, pick, entries)
