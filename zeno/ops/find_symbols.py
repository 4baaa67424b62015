"""find_symbols: find definitions by name in many files, or outline a selection."""

import re
from collections.abc import Callable, Iterator

from contract_models.zeno.ops.find_symbols import FindSymbolsArgs, FindSymbolsResult, FindSymbolsSkipped, FoundSymbol
from pydantic import MISSING

from zeno.code.facts import Symbol
from zeno.code.pool import SourceText
from zeno.meter import Meter
from zeno.results import cursors
from zeno.results.definitions import fields, has_name, size
from zeno.results.selected_files import SelectedFiles
from zeno.search.corpus import Corpus
from zeno.search.query import Query
from zeno.search.selection import EVERYTHING, Rules, Selection, under
from zeno.search.sink import SearchedFile, Wish
from zeno.text.path_names import Paths
from zeno.text.regex import searcher
from zeno.text.symbols import language_of

# Texts that are parsed side by side before their symbols are returned.
_AT_ONCE = 32
_BYTES_AT_ONCE = 4 << 20
_WORD = re.compile("[0-9A-Za-z_]+")
# Marks kept selections: no path has this character.
_CODE = "\0code"

AddSymbols = Callable[[str, list[Symbol]], bool]
"""Takes the symbols of the file at a path; returns whether there is room for more."""


def find_symbols(args: FindSymbolsArgs, corpus: Corpus, meter: Meter) -> FindSymbolsResult:
    """Look into the files that have the name, in order, until the page is full."""
    wanted = _predicate(args)
    query = _query(args, meter)
    asked = EVERYTHING if args.paths is MISSING else under(corpus.tree, args.paths, "args.paths")
    start, seen = ("", 0) if args.cursor is MISSING else _position(args)
    snapshot = corpus.snapshot(Rules.of(args, start))
    candidates = snapshot.candidates
    page = _Page(args, meter)

    def add(path: str, symbols: list[Symbol]) -> bool:
        page.add(path, sorted(filter(wanted, symbols), key=_order), seen if path == start else 0)
        return not page.full

    words = _words(args)
    # Members may have any name.
    end = f"{words[-1]}\n" if words and not _asks_for_members(args) else "\n"
    sink = _Sink(corpus, meter, words, end, add)
    skipped = snapshot.search(_in_known_languages(asked), query, sink, meter)
    sink.flush()
    truncated_by = sorted([*(["max_files"] if candidates.cut else []), *(["max_symbols"] if page.full else [])])
    selected = SelectedFiles(args, corpus, asked, snapshot, skipped, start)
    end = page.end or (f"0:{candidates.paths[-1]}" if truncated_by else "")
    return FindSymbolsResult(
        symbols=page.symbols,
        **selected.fields(truncated_by),
        cursor=cursors.issue("find_symbols", args, end) if truncated_by else MISSING,
        skipped=FindSymbolsSkipped(
            **selected.count_skipped(),
            unsupported=snapshot.paths(asked).of_no_language,
            unparsed=sink.unparsed,
        ),
        metrics=meter.stop(symbols=len(page.symbols), **selected.metrics()),
    )


class _Page:
    """The symbols of one answer."""

    def __init__(self, args: FindSymbolsArgs, meter: Meter) -> None:
        self._limit = args.max_symbols
        self._meter = meter
        self._done = 0
        self.symbols: list[FoundSymbol] = []

    @property
    def full(self) -> bool:
        """Whether no more symbols may be added."""
        return len(self.symbols) == self._limit

    @property
    def end(self) -> str | None:
        """The position after the last symbol, for a cursor, if the page is full."""
        return f"{self._done}:{self.symbols[-1].path}" if self.full else None

    def add(self, path: str, symbols: list[Symbol], seen: int) -> None:
        """Add the symbols of a file behind the first `seen` ones, as far as there is room."""
        kept = symbols[seen : seen + self._limit - len(self.symbols)]
        self._done = seen + len(kept)
        self._meter.charge_text(sum(size(symbol) + len(path) for symbol in kept))
        self.symbols += [FoundSymbol(path=path, **fields(symbol)) for symbol in kept]


class _Sink:
    """Passes the symbols of files on to `add`, some files at a time, until that returns False."""

    def __init__(self, corpus: Corpus, meter: Meter, words: list[str], end: str, add: AddSymbols) -> None:
        """Leave out files without one of the words, and those that define no name with this end."""
        self._words = [word.encode() for word in words]
        self._end = end
        self._corpus = corpus
        self._meter = meter
        self._add = add
        self._some: list[SourceText] = []
        self._room = _BYTES_AT_ONCE
        # The first files are looked at in small groups, since the page may be full soon.
        self._at_once = 2
        self.wish = Wish.MORE
        self.unparsed = 0
        """How many files had errors."""

    def take(self, found: SearchedFile) -> None:
        """Take a file that may match."""
        if next(found.matching, None) is None:
            return
        # The search has found one of them.
        if len(self._words) > 1 and any(word not in found.lines.text for word in self._words):
            return
        self._some.append(found.source)
        self._room -= found.lines.size
        if len(self._some) == self._at_once or self._room < 0:
            self.flush()
            self._at_once = min(2 * self._at_once, _AT_ONCE)

    def flush(self) -> None:
        """Pass on the files that were taken."""
        some, self._some, self._room = self._some, [], _BYTES_AT_ONCE
        if self.wish is not Wish.MORE:
            return
        known = self._corpus.facts.of_all(some, self._meter.check)
        for file, facts in zip(some, known, strict=True):
            self.unparsed += bool(facts.unparsed)
            if not self._add(file.path, facts.list_symbols(self._end)):
                # Skipped files are counted over all files.
                self.wish = Wish.COUNT
                return


def _query(args: FindSymbolsArgs, meter: Meter) -> Query:
    """Return a query for the files that may define what is asked for: a name stands in its file as it is."""
    pattern, regex = "^", True
    if args.name is not MISSING and args.match != "regex":
        last = args.name.removesuffix(".").rpartition(".")[2] if args.match == "exact" else ""
        pattern, regex = last or args.name, False
        # A name ends where a word ends, and the longest word stands in the fewest files.
        if words := _words(args):
            pattern, regex = rf"\b{max(words, key=len)}\b", True
    return Query(pattern, "args.name", args.max_bytes, meter, regex=regex, case_sensitive=args.case_sensitive)


def _words(args: FindSymbolsArgs) -> list[str]:
    """Return words that stand in every file with what is asked for: its name comes last, its containers before.

    Of members these are the words of their containers. RE2 knows words of ASCII only, and without case other letters
    fold to some of these.
    """
    if args.name is MISSING or args.match != "exact" or not args.case_sensitive:
        return []
    *containers, last = args.name.removesuffix(".").split(".")
    return [*filter(_WORD.fullmatch, containers), last] if _WORD.fullmatch(last) else []


def _asks_for_members(args: FindSymbolsArgs) -> bool:
    """Whether the name ends in a dot, and so asks for what the definitions with the name before it contain."""
    return args.name is not MISSING and args.match == "exact" and args.name.strip(".") != "" and args.name[-1] == "."


def _predicate(args: FindSymbolsArgs) -> Callable[[Symbol], bool]:
    """Return whether a symbol is asked for."""
    named = _make_name_test(args)

    def is_wanted(symbol: Symbol) -> bool:
        if args.kinds is not MISSING and symbol.kind not in args.kinds:
            return False
        if args.max_depth is not MISSING and _depth(symbol) > args.max_depth:
            return False
        return named(symbol)

    return is_wanted


def _make_name_test(args: FindSymbolsArgs) -> Callable[[Symbol], bool]:
    if args.name is MISSING:
        return lambda _: True
    name = args.name
    if args.match == "regex":
        matches = searcher(name, "args.name", case_sensitive=args.case_sensitive)
        return lambda symbol: matches(symbol.name.encode())
    if args.match == "substring":
        found = searcher(name, "args.name", case_sensitive=args.case_sensitive, literal=True)
        return lambda symbol: found(symbol.name.encode())
    prefix = args.match == "prefix"
    if args.case_sensitive:
        if _asks_for_members(args):
            # A heading may end in a dot itself.
            return lambda symbol: f".{symbol.container}.".endswith(f".{name}") or has_name(symbol, name)
        return lambda symbol: symbol.name.startswith(name) if prefix else has_name(symbol, name)
    # Case is folded as the search for files folds it: another way would find a name only where others are near.
    if prefix:
        begins = searcher(rf"\A{re.escape(name)}", "args.name", case_sensitive=False)
        return lambda symbol: begins(symbol.name.encode())
    equals = searcher(rf"\A{re.escape(name)}\z", "args.name", case_sensitive=False)
    members = _asks_for_members(args)
    return lambda symbol: any(equals(one.encode()) for one in _names(symbol, members=members))


def _names(symbol: Symbol, *, members: bool) -> Iterator[str]:
    """Yield the name of a definition, alone and behind one and more of its containers; for members also these alone,
    each chain of them with a dot at its end."""
    yield (name := symbol.name)
    chain = ""
    for container in reversed(symbol.container.split(".")):
        yield (name := f"{container}.{name}")
        chain = f"{container}.{chain}"
        if members:
            yield chain


def _depth(symbol: Symbol) -> int:
    return symbol.container.count(".") + 2 if symbol.container else 1


def _order(symbol: Symbol) -> tuple[int, str]:
    return symbol.line, symbol.name


def _in_known_languages(asked: Selection) -> Selection:
    """Return a selection without files in no known language, which define nothing."""

    def is_wanted(path: str) -> bool:
        return asked.wanted(path) and language_of(path) is not None

    def pick(paths: Paths) -> list[str]:
        return [path for path in asked.pick(paths) if language_of(path) is not None]

    # Equal entries pick the same files, so kept selections of grep must not be taken for these.
    entries = None if asked.entries is None else (*asked.entries, _CODE)
    return Selection(is_wanted, asked.reaches, pick, entries)


def _position(args: FindSymbolsArgs) -> tuple[str, int]:
    """Return where to continue: the first path, and how many of its symbols are done."""
    count, _, path = cursors.position("find_symbols", args, str(args.cursor)).partition(":")
    seen = cursors.number(count)
    return (path, seen) if seen else (path + "\0", 0)
