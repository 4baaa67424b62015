"""Every vector is a test, twice: on a server in this process, and on `zeno serve` as a process of its own."""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.lacking import lacking
from tests.support.patience import PATIENCE
from tools.conformance import planted
from tools.kit.peer import OUR_SERVER, Peer, Trouble, converse, missing
from tools.kit.trees import Site
from tools.kit.vectors import Change, Vector, disagreements, read
from zeno.cli.flags import add_server, read_options
from zeno.cli.policy_flags import policy_of
from zeno.cli.servers import find_repositories, make_corpus
from zeno.files.tree import Tree
from zeno.interfaces.stdio import serve
from zeno.session.server import Server

# A corpus is planted once by each worker that needs it; the group keeps its vectors on one.
VECTORS = [pytest.param(vector, id=vector.name, marks=pytest.mark.xdist_group(vector.corpus)) for vector in read()]


class Grounds:
    """Planted trees, and the servers that run on them, each made when it is first asked for."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        self._sites: dict[str, Site] = {}
        self._peers: dict[str, Peer] = {}

    def site(self, name: str) -> Site:
        if name not in self._sites:
            self._sites[name] = self._stack.enter_context(planted(name, self.folder))
        return self._sites[name]

    def peer(self, name: str) -> Peer:
        if name not in self._peers:
            self._peers[name] = self._stack.enter_context(Peer(OUR_SERVER, self.site(name), PATIENCE))
        return self._peers[name]

    def fallen(self, name: str) -> None:
        self._peers.pop(name, None)


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        yield Grounds(Path(folder), stack)


def skip_where_impossible(vector: Vector, grounds: Grounds) -> None:
    if why := missing(vector, OUR_SERVER, grounds.folder):
        lacking(why)


def on_site(vector: Vector, grounds: Grounds, play: Callable[[Site], None]) -> None:
    """Play on the shared tree, or on one of its own where the vector changes it."""
    if vector.alone:
        with planted(vector.corpus, grounds.folder) as site:
            play(site)
    else:
        play(grounds.site(vector.corpus))


@pytest.mark.parametrize("vector", VECTORS)
def test_our_server_agrees_in_this_process(vector: Vector, grounds: Grounds) -> None:
    skip_where_impossible(vector, grounds)
    if "permissions" in vector.requires and os.geteuid() == 0:
        pytest.skip("root may open everything; the server in a process of its own is held to permissions")

    def play(site: Site) -> None:
        answers: list[bytes] = []
        options = flags_of(vector)
        with Tree(str(site.root), policy=policy_of(options)) as tree, ExitStack() as stack:
            repository = find_repositories(options, tree, stack)
            server = Server(make_corpus(options, tree, repository), options=read_options(options))
            for step in vector.steps:
                if isinstance(step, Change):
                    site.change(step.entries)
                else:
                    payload = step.payload(site)
                    answers += served(server, payload[:-1] if vector.input_ends else payload)
        assert disagreements(vector, answers) == []

    on_site(vector, grounds, play)


def flags_of(vector: Vector) -> argparse.Namespace:
    """The flags that a vector asks for, as the command line reads them."""
    parser = argparse.ArgumentParser()
    add_server(parser)
    return parser.parse_args(["--root", "unused", "--no-cache", *vector.flags])


def served(server: Server, payload: bytes) -> list[bytes]:
    """The lines that the server writes for an input."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(payload)
        source.seek(0)
        serve(server, source.fileno(), sink.fileno())
        sink.seek(0)
        text = sink.read()
    assert text.endswith(b"\n") or not text
    return text.split(b"\n")[:-1]


@pytest.mark.parametrize("vector", VECTORS)
def test_our_server_agrees_in_a_process_of_its_own(vector: Vector, grounds: Grounds) -> None:
    skip_where_impossible(vector, grounds)

    def play(site: Site) -> None:
        if vector.alone:
            with Peer(OUR_SERVER, site, PATIENCE, vector.flags) as peer:
                assert disagreements(vector, converse(vector, peer, site)) == []
            return
        try:
            answers = converse(vector, grounds.peer(vector.corpus), site)
        except Trouble:
            grounds.fallen(vector.corpus)  # so that the next vector finds a server
            raise
        assert disagreements(vector, answers) == []

    on_site(vector, grounds, play)
