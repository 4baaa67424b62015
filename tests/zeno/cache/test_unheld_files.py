"""Files whose texts are not held under their own names: links, and files beyond the limit of the cache."""

import json

import pytest

from tests.support.planting import prepare, without_metrics
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server


def grep(server, **args):
    return json.loads(server.answer(json.dumps({"id": "1", "op": "grep", "args": args}).encode()))


def scanned(server, **args):
    return grep(server, **args)["result"]["metrics"]["files_scanned"]


def alike(server, cold, **args):
    warm = without_metrics(grep(server, **args))
    assert warm == without_metrics(grep(cold, **args))
    return [hit["path"] for hit in warm["result"]["hits"]]


def test_a_linked_file_is_searched_in_the_text_of_its_target(planted, both):
    corpus, server, cold = both
    prepare(corpus)
    assert alike(server, cold, pattern="beta") == ["d/b.txt", "far.txt", "ln.txt", "near.txt", "own.txt"]
    assert scanned(server, pattern="no such thing") == 0


CHANGES = {
    "its target is edited": lambda root: (root / "d/b.txt").write_text("needle\n"),
    "its target is replaced": lambda root: (root / "d/a.txt").replace(root / "d/b.txt"),
    "its target is gone": lambda root: (root / "d/b.txt").unlink(),
    "its target is a directory now": lambda root: ((root / "d/b.txt").unlink(), (root / "d/b.txt").mkdir()),
    "it leads elsewhere": lambda root: ((root / "ln.txt").unlink(), (root / "ln.txt").symlink_to("e2/c.txt")),
    "it is a file now": lambda root: ((root / "ln.txt").unlink(), (root / "ln.txt").write_text("needle\n")),
    "its way leads elsewhere": lambda root: (
        (root.parent / "way").unlink(),
        (root.parent / "way").symlink_to("out"),
    ),
    "its way leads to another file": lambda root: (
        (root / "via").unlink(),
        (root / "e2/b.txt").write_text("needle\n"),
        (root / "via").symlink_to("e2"),
    ),
    "its target is out of sight": lambda root: (root / "d").rename(root.parent / "out" / "d"),
    "its target is binary now": lambda root: (root / "d/b.txt").write_bytes(b"needle\0beta\n"),
    "its target is edited by another name": lambda root: (
        (root.parent / "out" / "other").hardlink_to(root / "d/b.txt"),
        (root.parent / "out" / "other").write_text("needle\n"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_link_or_its_target_is_seen_at_once(planted, both, change):
    corpus, server, cold = both
    prepare(corpus)
    alike(server, cold, pattern="beta")
    CHANGES[change](planted)
    for _ in range(2):
        for pattern in ("beta", "needle", "gamma", "a"):
            alike(server, cold, pattern=pattern)
        prepare(corpus)


@pytest.fixture
def tight(planted):
    """A server with room for the texts of a few files."""
    (planted / "g.bin").write_bytes(b"\0")
    with Tree(str(planted)) as tree:
        corpus = WarmCorpus(tree, 3000)
        prepare(corpus)
        yield corpus, Server(corpus), Server(ColdCorpus(tree))
        corpus.close()


def test_size_and_kind_are_known_of_files_without_room_for_their_texts(planted, tight):
    corpus, server, cold = tight
    assert all(entry.size >= 0 for path, entry in corpus._cache.entries.items() if not path.startswith("."))
    assert any(entry.text is None and entry.no_text is None for entry in corpus._cache.entries.values())
    # A page that is full needs no more of them: only the links have no text of their own.
    assert scanned(server, pattern="alphabe", max_hits=1) <= 2
    alike(server, cold, pattern="filler", max_hits=1)
    (planted / "f9.txt").write_bytes(b"filler\0")
    alike(server, cold, pattern="filler", max_hits=1)
    (planted / "f8.txt").write_text("filler\n" * 200)
    alike(server, cold, pattern="filler", max_hits=1, max_bytes=1000)


def test_texts_are_held_when_there_is_room_again(planted, tight):
    corpus, server, cold = tight
    # Of those that are held all but a few go.
    for path in [path for path, entry in corpus._cache.entries.items() if entry.text is not None][1:]:
        (planted / path).unlink()
    alike(server, cold, pattern="filler")
    before = sum(entry.text is not None for entry in corpus._cache.entries.values())
    prepare(corpus)
    alike(server, cold, pattern="filler")
    held = sum(entry.text is not None for entry in corpus._cache.entries.values())
    assert held > before
    assert corpus._cache.store.size < 4000
