"""Walk the tree with two processes: from some hundred directories on, that takes little more than half as long."""

from collections.abc import Iterable, Iterator

from zeno.files.tree import Tree
from zeno.files.walk import Unlisted, WalkedNames, list_directory, walk_runs
from zeno.search.fork_helper import ForkHelper, possible
from zeno.search.selection import SelectionRules, name_rules

# With fewer directories to enter a second process costs more than it saves.
SHARED_DIRECTORIES = 256

# Levels that are listed by one process before that number is known.
_LEVELS = 4

# No name has a lone surrogate: bytes that are not UTF-8 are printed in another way.
_PATH, _RUN = "\udffe", "\udfff"


def names(
    tree: Tree, rules: SelectionRules, start: str, shared_from: int = SHARED_DIRECTORIES
) -> Iterator[WalkedNames]:
    """Yield all names under the root in order, from `start` on; the caller may stop at any point.

    A second process walks a part of them if `shared_from` directories are left to enter four levels down or higher.
    """
    by_name = name_rules(rules)

    if start or tree.policy.ignored or not possible():
        yield from walk_runs(tree, by_name, start)
        return
    items: list[WalkedNames | Unlisted] = [Unlisted("", by_name.begin())]
    for _ in range(_LEVELS):
        if not 0 < _unlisted(items) < shared_from:
            break
        items = [
            found
            for item in items
            for found in (list_directory(tree, by_name, item) if isinstance(item, Unlisted) else [item])
        ]

    def below(part: Iterable[int]) -> Iterator[WalkedNames]:
        for index in part:
            item = items[index]
            if isinstance(item, Unlisted):
                yield from walk_runs(tree, by_name, start, item)
            else:
                yield item

    if _unlisted(items) < shared_from:
        yield from below(range(len(items)))
        return
    with ForkHelper(len(items), lambda part: _packed(below(part)), 1) as helper:
        for part, packed in helper.results():
            yield from below(part) if packed is None else _unpacked(packed)


def _unlisted(items: Iterable[WalkedNames | Unlisted]) -> int:
    return sum(isinstance(item, Unlisted) for item in items)


def _packed(found: Iterable[WalkedNames]) -> bytes:
    return _RUN.join(_PATH.join((problem or "", *paths)) for paths, problem in found).encode(errors="surrogatepass")


def _unpacked(packed: bytes) -> Iterator[WalkedNames]:
    for run in packed.decode(errors="surrogatepass").split(_RUN) if packed else ():
        problem, *paths = run.split(_PATH)
        yield WalkedNames(paths, problem or None)
