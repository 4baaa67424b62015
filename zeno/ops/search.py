"""search: rank files by how likely they are about a query, each with its best passage."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from contract_models.zeno.ops.search import (
    SearchArgs,
    SearchItem,
    SearchMatched,
    SearchResult,
    SearchSkipped,
    SearchTerm,
)
from pydantic import MISSING

from zeno.code.kept_facts import KeptFacts
from zeno.code.pool import SourceText
from zeno.meter import Meter
from zeno.ranking.definitions import collect_keys, collect_runs, find_best_name, may_have, share_names
from zeno.ranking.passage import find_passage
from zeno.ranking.places import PlaceTable, read_path
from zeno.ranking.question import Question, read_query
from zeno.ranking.ranker import best, round_score, score_files
from zeno.ranking.rules import DEFINITION_FILES
from zeno.results.definitions import find_scope
from zeno.results.passages import PassagePage
from zeno.results.selected_files import SelectedFiles
from zeno.search.corpus import Corpus, Snapshot
from zeno.search.query import Query
from zeno.search.selection import EVERYTHING, Rules, Selection, under
from zeno.search.sink import SearchedFile, Wish
from zeno.search.word_counts import WordCounts
from zeno.text.symbols import language_of

# A word that more than one of so many files have is common.
_COMMON = 2
# Among so few files nothing is rare.
_FEW = 10


def search(args: SearchArgs, corpus: Corpus, meter: Meter) -> SearchResult:
    """Give every selected file a score from its words and its path, then look at the texts of the best."""
    asked = EVERYTHING if args.paths is MISSING else under(corpus.tree, args.paths, "args.paths")
    snapshot = corpus.snapshot(Rules.of(args))
    ranked = _Ranked(read_query(args.query), _Texts(snapshot, asked, args, corpus, meter))
    ranked.prefer_definitions()
    page = PassagePage(args, meter)
    results = list(ranked.show(args.max_results, page))
    unseen = ["max_files"] if snapshot.candidates.cut else []
    cut = [*unseen, *page.full_by, *(["max_results"] if ranked.count > args.max_results else [])]
    selected = SelectedFiles(args, corpus, asked, snapshot, ranked.skipped, "")
    fields = selected.fields(sorted(cut))
    # Limits on what is shown leave no file unseen.
    fields["complete"] = bool(fields["files_selected"]) and not unseen and fields["skipped_files"] is MISSING
    if fields["hints"] is MISSING:
        fields["hints"] = ranked.hints() or MISSING
    return SearchResult(
        results=results,
        terms=ranked.terms(),
        **fields,
        skipped=SearchSkipped(**selected.count_skipped()),
        metrics=meter.stop(results=len(results), **selected.metrics()),
    )


class _Ranked:
    """Files in the order of their scores."""

    def __init__(self, question: Question, texts: "_Texts") -> None:
        self._question = question
        self._texts = texts
        self._defined: dict[int, str] = {}
        """The name of the query that a file defines."""
        self._table = texts.find_places()
        self._counts = counts = texts.count_words(question.terms)
        self.skipped = counts.skipped
        """Files that cannot be searched."""
        self._files = counts.words.has_text.count(1)
        self._ranking = score_files(question, self._table, counts.words)
        self.scores = self._ranking.scores
        """By index of the file."""

    @property
    def count(self) -> int:
        """How many files have a score."""
        return len(self.scores) - self.scores.count(0)

    def prefer_definitions(self) -> None:
        """Raise the scores of the best files that define what the query names."""
        runs, paths = collect_runs(self._question), self._table.paths
        keys = collect_keys(runs)
        leading = [
            file
            for file in best(self.scores, paths, DEFINITION_FILES)
            if language_of(paths[file]) is not None and self._counts.may_define(file, keys)
        ]
        texts = self._texts.read([paths[file] for file in leading])
        known = self._texts.find_facts({path: text for path, text in texts.items() if may_have(text, runs)})
        shares: dict[int, dict[str, int]] = {}
        for file in leading:
            symbols = known[paths[file]].symbols if paths[file] in known else []
            shares[file] = share_names(self._question, ((one.name, bool(one.container)) for one in symbols))
        definers = Counter(name for own in shares.values() for name in own)
        for file, own in shares.items():
            if own:
                share, self._defined[file] = find_best_name(self._question, own, definers)
                self.scores[file] = self.scores[file] * (100 + share) // 100

    def show(self, count: int, page: PassagePage) -> Iterator[SearchItem]:
        """Yield the best files with their passages, until the page is full."""
        shown = best(self.scores, self._table.paths, count)
        texts = self._texts.read([self._table.paths[file] for file in shown])
        known = self._texts.find_facts(texts)
        for file in shown:
            path = self._table.paths[file]
            if path not in texts:
                continue
            lines = texts[path].split(b"\n")[:-1]
            name, facts = self._defined.get(file), known[path]
            passage = find_passage(
                texts[path], self._ranking.weights, [symbol.line - 1 for symbol in facts.symbols if symbol.name == name]
            )
            made = page.make_lines(path, lines, passage.shown)
            if made is None:
                return
            yield SearchItem(
                path=path,
                score=round_score(self.scores[file]) / 10_000,
                start_line=passage.first + 1,
                end_line=passage.last + 1,
                scope=find_scope(facts, passage.first + 1),
                lines=made,
                matched=self._describe_match(file, passage.terms),
            )

    def terms(self) -> list[SearchTerm]:
        """Return the words that counted, in the order of the query."""
        frequencies = self._ranking.frequencies
        return [SearchTerm(term=term.spelling, files=frequencies[word]) for word, term in self._question.terms.items()]

    def hints(self) -> list[str]:
        """Return what to do where no file stands out."""
        if not self.count:
            return ["nothing relevant: no file has a word of the query; grep finds parts of words and other characters"]
        files, found = self._files, [having for having in self._ranking.frequencies.values() if having]
        if not self._defined and files > _FEW and min(found) * _COMMON > files:
            return ["nothing relevant stands out: every word is in most files; add a rarer one, or grep an exact text"]
        return []

    def _describe_match(self, file: int, words: Collection[bytes]) -> SearchMatched:
        place, terms = read_path(self._table.paths[file]), self._question.terms
        in_path = [term.spelling for word, term in terms.items() if word in place.name or word in place.directories]
        body = [term.spelling for word, term in terms.items() if word in words]
        return SearchMatched(path=in_path or MISSING, definition=self._defined.get(file, MISSING), body=body or MISSING)


class _Texts:
    """The texts of selected files, and their facts."""

    def __init__(self, snapshot: Snapshot, asked: Selection, args: SearchArgs, corpus: Corpus, meter: Meter) -> None:
        self._snapshot = snapshot
        self._asked = asked
        self._everything = Query("^", "args.query", args.max_bytes, meter, regex=True)
        self._corpus = corpus
        self._meter = meter

    def find_places(self) -> PlaceTable:
        """Return the words in the paths of all files."""
        return self._corpus.places.find(self._snapshot.paths(self._asked))

    def count_words(self, words: Collection[bytes]) -> WordCounts:
        """Return which files have these words."""
        return self._snapshot.count_words(self._asked, self._everything, words, self._meter)

    def read(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the texts of some files; those that are gone have none."""
        reader, wanted = _Reader(), frozenset(paths)
        exactly = Selection(wanted.__contains__, lambda _: True, lambda _: sorted(wanted))
        self._snapshot.search(exactly, self._everything, reader, self._meter)
        return reader.texts

    def find_facts(self, texts: Mapping[str, bytes]) -> dict[str, KeptFacts]:
        """Return the facts of some files."""
        known = self._corpus.facts.of_all([SourceText(*item) for item in texts.items()], self._meter.check)
        return dict(zip(texts, known, strict=True))


class _Reader:
    """A sink that keeps the texts of files."""

    def __init__(self) -> None:
        self.wish = Wish.MORE
        self.texts: dict[str, bytes] = {}

    def take(self, found: SearchedFile) -> None:
        """Take a file."""
        self.texts[found.path] = found.lines.text
