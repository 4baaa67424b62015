"""search: rank files by how likely they are about a query, each with its best passage."""

from collections.abc import Iterator, Mapping, Sequence

from contract_models.zeno.ops.search import (
    SearchArgs,
    SearchItem,
    SearchMatched,
    SearchResult,
    SearchSkipped,
    SearchTerm,
)
from pydantic import MISSING

from zeno.code.facts import NOTHING, Facts
from zeno.code.pool import SourceText
from zeno.meter import Meter
from zeno.ranking.definitions import find_defined_share
from zeno.ranking.passage import find_passage
from zeno.ranking.places import PlaceTable
from zeno.ranking.question import Question, read_query
from zeno.ranking.ranker import Occurrences, Ranking, best, round_score, score_files
from zeno.ranking.rules import DEFINITION_FILES
from zeno.ranking.words import count_words, strength
from zeno.results.definitions import ScopeFinder
from zeno.results.passages import PassagePage
from zeno.results.selected_files import SelectedFiles
from zeno.search.corpus import Corpus, Snapshot
from zeno.search.query import Query
from zeno.search.selection import EVERYTHING, Rules, Selection, under
from zeno.search.sink import SearchedFile, Skipped, Wish
from zeno.text.symbols import language_of

# Time to count the words of a text, relative to counting its lines.
_COST_OF_A_BYTE = 64
# A word that more than one of so many files have is common.
_COMMON = 2
# Among so few files nothing is rare.
_FEW = 10


def search(args: SearchArgs, corpus: Corpus, meter: Meter) -> SearchResult:
    """Give every selected file a score from its words and its path, then look at the texts of the best."""
    asked = EVERYTHING if args.paths is MISSING else under(corpus.tree, args.paths, "args.paths")
    snapshot = corpus.snapshot(Rules.of(args))
    ranked = _Ranked(read_query(args.query), _Texts(snapshot, args, corpus, meter))
    skipped = ranked.rank(asked)
    page = PassagePage(args, meter)
    results = list(ranked.show(args.max_results, page))
    unseen = ["max_files"] if snapshot.candidates.cut else []
    cut = [*unseen, *page.full_by, *(["max_results"] if len(ranked.scores) > args.max_results else [])]
    selected = SelectedFiles(args, corpus, asked, snapshot, skipped, "")
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
        self._words = _Words(question, texts.meter)
        self._table = PlaceTable(())
        self._ranking = Ranking({}, {}, {})
        self._defined: dict[int, str] = {}
        """The name of the query that a file defines."""
        self.scores: dict[int, int] = {}

    def rank(self, asked: Selection) -> Skipped:
        """Score the selected files; return those that cannot be searched."""
        skipped = self._texts.search(asked, self._words)
        self._table = PlaceTable(self._words.paths)
        self._ranking = score_files(self._question, self._table, self._words.occurrences)
        self.scores = dict(self._ranking.scores)
        leading = best(self.scores, self._table.paths, DEFINITION_FILES)
        named = [path for file in leading if language_of(path := self._table.paths[file]) is not None]
        known = self._texts.find_facts(self._texts.read(named))
        for file in leading:
            symbols = known.get(self._table.paths[file], NOTHING).symbols
            share, name = find_defined_share(self._question, ((one.name, bool(one.container)) for one in symbols))
            if share:
                self.scores[file] = self.scores[file] * (100 + share) // 100
                self._defined[file] = name
        return skipped

    def show(self, count: int, page: PassagePage) -> Iterator[SearchItem]:
        """Yield the best files with their passages, until the page is full."""
        shown = best(self.scores, self._table.paths, count)
        texts = self._texts.read([self._table.paths[file] for file in shown])
        known = self._texts.find_facts(texts)
        scopes = ScopeFinder()
        for file in shown:
            path = self._table.paths[file]
            if path not in texts:
                continue
            lines = texts[path].split(b"\n")[:-1]
            name, facts = self._defined.get(file), known[path]
            passage = find_passage(
                lines, self._ranking.weights, [symbol.line - 1 for symbol in facts.symbols if symbol.name == name]
            )
            made = page.make_lines(path, lines, passage.shown)
            if made is None:
                return
            yield SearchItem(
                path=path,
                score=round_score(self.scores[file]) / 10_000,
                start_line=passage.first + 1,
                end_line=passage.last + 1,
                scope=scopes.find(facts, passage.first + 1),
                lines=made,
                matched=self._describe_match(file),
            )

    def terms(self) -> list[SearchTerm]:
        """Return the words that counted, in the order of the query."""
        frequencies = self._ranking.frequencies
        return [SearchTerm(term=term.spelling, files=frequencies[word]) for word, term in self._question.terms.items()]

    def hints(self) -> list[str]:
        """Return what to do where no file stands out."""
        if not self.scores:
            return ["nothing relevant: no file has a word of the query; grep finds parts of words and other characters"]
        files, found = len(self._table.paths), [having for having in self._ranking.frequencies.values() if having]
        if not self._defined and files > _FEW and min(found) * _COMMON > files:
            return ["nothing relevant stands out: every word is in most files; add a rarer one, or grep an exact text"]
        return []

    def _describe_match(self, file: int) -> SearchMatched:
        place, terms = self._table.places[file], self._question.terms
        in_path = [term.spelling for word, term in terms.items() if word in place.name or word in place.directories]
        body = [terms[word].spelling for word in self._words.words[file]]
        return SearchMatched(path=in_path or MISSING, definition=self._defined.get(file, MISSING), body=body or MISSING)


class _Words:
    """A sink that counts the terms of a query in the files of a search."""

    def __init__(self, question: Question, meter: Meter) -> None:
        self.wish = Wish.MORE
        self._meter = meter
        self._terms = question.terms
        self.paths: list[str] = []
        self.words: list[list[bytes]] = []
        """The terms in each file, in the order of the query."""
        self.occurrences: dict[bytes, Occurrences] = {word: Occurrences([], []) for word in question.terms}

    def take(self, found: SearchedFile) -> None:
        """Take a file. One without text has nothing to show."""
        text = found.lines.text
        if not text:
            return
        # Nothing interrupts this, nor the search for the passage of this text later.
        self._meter.expect(len(text) * _COST_OF_A_BYTE)
        counts = count_words(text)
        self.words.append([word for word in self._terms if word in counts])
        for word in self.words[-1]:
            files, strengths = self.occurrences[word]
            files.append(len(self.paths))
            strengths.append(strength(counts[word], len(text)))
        self.paths.append(found.path)


class _Texts:
    """The texts of selected files, and their facts."""

    def __init__(self, snapshot: Snapshot, args: SearchArgs, corpus: Corpus, meter: Meter) -> None:
        self._snapshot = snapshot
        self._everything = Query("^", "args.query", args.max_bytes, meter, regex=True)
        self._corpus = corpus
        self.meter = meter

    def search(self, selection: Selection, sink: "_Words | _Reader") -> Skipped:
        """Give all selected files to a sink."""
        return self._snapshot.search(selection, self._everything, sink, self.meter)

    def read(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the texts of some files; those that are gone have none."""
        reader, wanted = _Reader(), frozenset(paths)
        self.search(Selection(wanted.__contains__, lambda _: True, lambda _: sorted(wanted)), reader)
        return reader.texts

    def find_facts(self, texts: Mapping[str, bytes]) -> dict[str, Facts]:
        """Return the facts of some files."""
        known = self._corpus.facts.of_all([SourceText(*item) for item in texts.items()], self.meter.check)
        return dict(zip(texts, known, strict=True))


class _Reader:
    """A sink that keeps the texts of files."""

    def __init__(self) -> None:
        self.wish = Wish.MORE
        self.texts: dict[str, bytes] = {}

    def take(self, found: SearchedFile) -> None:
        """Take a file."""
        self.texts[found.path] = found.lines.text
