"""A policy holds where the file system takes several spellings for one name.

Such a file system is emulated at the system calls: a name that is not listed is looked for as the file system would.
"""

import json
import os
import unicodedata
from typing import Any

import pytest

from zeno.cache.warm_corpus import WarmCorpus
from zeno.files import openat2
from zeno.files.policy import Policy
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

FILES = [".env", "key.pem", "local.cfg", "caf\u00e9.key", "d/id_rsa", "open.txt", "D2/Open.TXT"]
DENIED = [".env", "key.pem", "local.cfg", "caf\u00e9.key", "d/id_rsa"]
POLICY = Policy([".env", "*.pem", "local.cfg", "caf\u00e9.key", "id_rsa"])


def folded(name: str) -> str:
    """A name as HFS+, APFS, FAT and NTFS together would compare it."""
    name = unicodedata.normalize("NFD", name).replace("\u200c", "").casefold()
    return name.rstrip(". ") or name


def short(name: str) -> str:
    """A short name as FAT makes it."""
    return name.lstrip(".").replace(".", "").upper()[:6] + "~1"


def spellings(path: str) -> list[str]:
    folder, slash, name = path.rpartition("/")
    names = [name.upper(), name.swapcase(), f"{name[:2]}\u200c{name[2:]}", f"{name}.", f"{name} ", short(name)]
    names += [unicodedata.normalize("NFD", name)] if not name.isascii() else []
    return [f"{folder}{slash}{one}" for one in names] + ([f"{folder.upper()}/{name.upper()}"] if folder else [])


@pytest.fixture
def folding(root, monkeypatch) -> Any:
    """A root on such a file system."""
    for path in FILES:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(f"text of {path}\n")

    def listed(name: Any, directory: int | None) -> Any:
        text = os.fsdecode(name)
        if directory is None or "/" in text or text in (".", ".."):
            return name
        entries = os.listdir(f"/proc/self/fd/{directory}")
        if text in entries:
            return name
        for entry in entries:
            if folded(entry) == folded(text) or short(entry) == text.upper():
                return os.fsencode(entry)
        return name

    for function in ("stat", "open", "readlink"):
        real = getattr(os, function)

        def call(path: Any, *args: Any, dir_fd: int | None = None, _real: Any = real, **kwargs: Any) -> Any:
            return _real(listed(path, dir_fd), *args, dir_fd=dir_fd, **kwargs)

        monkeypatch.setattr(os, function, call)

    def opener(flags: int) -> Any:
        def open_beneath(directory: int, path: bytes) -> int:
            *folders, name = path.split(b"/")
            held = os.dup(directory)
            try:
                for step in folders:
                    below = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=held)
                    os.close(held)
                    held = below
                return os.open(name, flags, dir_fd=held)
            except OSError:
                return -1
            finally:
                os.close(held)

        return open_beneath

    monkeypatch.setattr(openat2, "opener", opener)
    return root


def ask(server: Server, op: str, **args: Any) -> Any:
    return json.loads(server.answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))


@pytest.mark.parametrize("quick", [False, True], ids=["step by step", "by openat2"])
@pytest.mark.parametrize("corpus", [ColdCorpus, lambda tree: WarmCorpus(tree, 1 << 20)], ids=["cold", "warm"])
def test_no_spelling_of_a_denied_name_is_served(folding, corpus, quick):
    with Tree(str(folding), POLICY) as tree:
        if quick:
            tree.speed_up_lookups()
        server = Server(corpus(tree))
        for path in DENIED:
            assert ask(server, "read_file", path=path)["error"]["code"] == "denied"
            for spelling in spellings(path):
                answer = ask(server, "read_file", path=spelling)
                assert not answer["ok"], spelling
                # By its own name it is denied; otherwise it is not told whether there is such a file.
                assert answer["error"]["code"] in ("denied", "not_found"), spelling
                item = ask(server, "stat", path=spelling)
                assert not item["ok"] or not item["result"]["items"][0]["exists"], spelling
        server.close()


def test_the_emulation_serves_every_spelling_where_nothing_is_denied(folding):
    with Tree(str(folding)) as tree:
        server = Server(ColdCorpus(tree))
        for path in DENIED:
            for spelling in spellings(path):
                assert ask(server, "read_file", path=spelling)["result"]["text"] == f"text of {path}", spelling


@pytest.mark.parametrize("quick", [False, True], ids=["step by step", "by openat2"])
def test_other_files_are_served_by_every_spelling_under_the_name_that_is_listed(folding, quick):
    with Tree(str(folding), POLICY) as tree:
        if quick:
            tree.speed_up_lookups()
        server = Server(ColdCorpus(tree))
        for spelling in ["open.txt", *spellings("open.txt")]:
            assert ask(server, "read_file", path=spelling)["result"]["path"] == "open.txt", spelling
        assert ask(server, "read_file", path="d2/open.txt")["result"]["path"] == "D2/Open.TXT"


def test_a_link_that_leads_to_another_spelling_of_a_denied_name_is_no_file(folding):
    (folding / "link.txt").symlink_to(".ENV")
    (folding / "alias.txt").symlink_to("KEY.PEM.")
    with Tree(str(folding), POLICY) as tree:
        server = Server(ColdCorpus(tree))
        assert ask(server, "list_files")["result"]["files"] == ["D2/Open.TXT", "open.txt"]
        assert not ask(server, "read_file", path="alias.txt")["ok"]
