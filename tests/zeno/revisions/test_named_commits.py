"""Commits of several roots, asked for together."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.repositories import COMMITTED_AT, commit, git, init
from tests.zeno.search.test_roots_corpus import pages, planted, policy, questions, told
from tools.kit.chance import Dice
from zeno.cache.warm_corpus import WarmCorpus
from zeno.errors import Denied, InvalidArgs, ObjectUnavailable, UnknownRev
from zeno.files.policy import Policy
from zeno.files.roots import Roots
from zeno.revisions.named_commits import make_revisions, split_rev
from zeno.revisions.repository import Repositories
from zeno.search.corpus import ColdCorpus, Corpus
from zeno.search.roots_corpus import corpus_of
from zeno.session.server import Server


@contextmanager
def serve(
    folders: dict[str, str], allowed: list[str] | None = None, rules: Policy | None = None, cache_bytes: int = 0
) -> Iterator[Corpus]:
    """The corpus of several roots with their commits."""
    with Roots(folders, rules) as roots, ExitStack() as stack:
        repositories = Repositories(roots.descriptors)
        stack.callback(repositories.close)
        joined = corpus_of(roots, (lambda tree: WarmCorpus(tree, cache_bytes)) if cache_bytes else ColdCorpus)
        stack.callback(joined.close)
        joined.revisions = make_revisions(roots, repositories, allowed, joined)
        yield joined


def check_out(folder: Path, to: Path) -> str:
    """Write the files of the index somewhere, without a repository, with the time of the commit."""
    to.mkdir(parents=True)
    git(folder, "checkout-index", "-a", "-f", f"--prefix={to}/")
    for above, folders, files in os.walk(to):
        for name in [*folders, *files]:
            os.utime(Path(above, name), (COMMITTED_AT, COMMITTED_AT), follow_symlinks=False)
    return str(to)


@pytest.mark.parametrize("cache_bytes", [0, 3000, 1 << 20])
@pytest.mark.parametrize("seed", range(8))
def test_commits_of_several_roots_answer_like_their_checkouts(tmp_path: Path, seed: int, cache_bytes: int) -> None:
    dice = Dice(f"named commits {seed}")
    roots, _, known = planted(dice, tmp_path)
    for folder in roots.values():
        git(Path(folder), "init", "-q", "-b", "main")
        commit(Path(folder))
    checkouts = {name: check_out(Path(folder), tmp_path / "checkout" / name) for name, folder in roots.items()}
    for folder in roots.values():
        # The working trees are others by now.
        Path(folder, "later.txt").write_text("later\n")
    rules = policy(dice, known)
    with serve(roots, rules=rules, cache_bytes=cache_bytes) as joined, Roots(checkouts, rules) as there:
        server, expected = Server(joined), Server(corpus_of(there, ColdCorpus))
        for op, args in questions(dice, known):
            answers = pages(server, op, args if op == "verify" else {**args, "rev": "main"})
            for now, then in zip(answers, pages(expected, op, args), strict=True):
                found, _ = told(now, counts=False)
                assert op == "verify" or "error" in found or found["result"].pop("rev").count("=") == len(roots)
                wanted, _ = told(then, counts=False)
                # Cursors are sealed with the commit.
                for one in (found, wanted):
                    one.get("result", {}).pop("cursor", None)
                assert op == "verify" or found == wanted, (op, args)
            for _ in range(dice.choice([0, 1, 3])):
                joined.idle() or joined.revisions.idle()


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """Two repositories, with the tag v1 and a later commit on main."""
    for name in ("a", "b"):
        folder = init(tmp_path / name)
        (folder / "x.txt").write_text(f"one {name}\n")
        commit(folder)
        git(folder, "tag", "v1")
        (folder / "x.txt").write_text(f"two {name}\n")
        (folder / "y.txt").write_text("new\n")
        commit(folder)
    return {name: str(tmp_path / name) for name in ("a", "b")}


def ids(folders: dict[str, str], **revs: str) -> str:
    return ",".join(
        f"{name}={git(Path(folders[name]), 'rev-parse', rev + '^{commit}').decode().strip()}"
        for name, rev in revs.items()
    )


def ask(corpus: Corpus, op: str, **args: Any) -> Any:
    answer = json.loads(Server(corpus).ask("1", op, args).line)
    return answer.get("result") or answer["error"]


def test_a_name_is_looked_up_in_each_root_and_the_answer_has_all_ids(folders: dict[str, str]) -> None:
    with serve(folders) as corpus:
        both = ids(folders, a="v1", b="v1")
        found = ask(corpus, "grep", pattern="o", rev="v1")
        assert [(hit["path"], hit["text"]) for hit in found["hits"]] == [("a/x.txt", "one a"), ("b/x.txt", "one b")]
        assert found["rev"] == both
        # So it can be asked for again, and each root has its own.
        assert ask(corpus, "grep", pattern="o", rev=both)["hits"] == found["hits"]
        mixed = ask(corpus, "list_files", rev="b=v1,a=main")
        assert (mixed["files"], mixed["rev"]) == (["a/x.txt", "a/y.txt", "b/x.txt"], ids(folders, a="main", b="v1"))
        assert corpus.revisions.at("v1", "rev") is corpus.revisions.at(both, "rev")


def test_changed_files_and_citations_are_compared_in_their_roots(folders: dict[str, str]) -> None:
    with serve(folders) as corpus:
        everything = ["a/x.txt", "a/y.txt", "b/x.txt", "b/y.txt"]
        assert ask(corpus, "list_files", changed_since="v1")["files"] == everything
        assert ask(corpus, "list_files", changed_since="a=main,b=v1")["files"] == everything[2:]
        assert ask(corpus, "list_files", changed_since="v1", rev="a=v1,b=main")["files"] == everything[2:]
        Path(folders["a"], "y.txt").write_text("edited\n")
        assert ask(corpus, "list_files", changed_since="main")["files"] == ["a/y.txt"]
        cited = {"path": "b/x.txt", "start_line": 1, "end_line": 1, "text": "one b"}
        found = ask(corpus, "verify", citations=[cited, {**cited, "rev": "v1"}])["items"]
        assert [one["verdict"] for one in found] == ["changed", "ok"]
        assert found[1]["rev"] == ids(folders, a="v1", b="v1")


def test_a_page_goes_on_at_the_same_commits(folders: dict[str, str]) -> None:
    with serve(folders) as corpus:
        first = ask(corpus, "list_files", rev="main", max=1)
        again = ask(corpus, "list_files", rev=first["rev"], max=1, cursor=first["cursor"])
        assert (first["files"], again["files"]) == (["a/x.txt"], ["a/y.txt"])
        commit(Path(folders["b"]))
        assert ask(corpus, "list_files", rev="main", max=1, cursor=first["cursor"])["code"] == "invalid_cursor"


def test_errors_name_the_root_and_the_path_as_it_was_given(folders: dict[str, str], tmp_path: Path) -> None:
    git(Path(folders["a"]), "tag", "only")
    with serve(folders) as corpus:
        with pytest.raises(UnknownRev, match="'only' in the root 'b'"):
            corpus.revisions.at("only", "args.rev")
        with pytest.raises(UnknownRev, match="'a=main'"):
            corpus.revisions.at("a=main", "args.rev")
        lost = git(Path(folders["b"]), "rev-parse", "v1:x.txt").decode().strip()
        Path(folders["b"], ".git", "objects", lost[:2], lost[2:]).unlink()
        with pytest.raises(ObjectUnavailable, match=r"b/x\.txt"):
            corpus.revisions.at("v1", "args.rev").tree.open("b/x.txt")
    (tmp_path / "plain").mkdir()
    with serve({**folders, "c": str(tmp_path / "plain")}) as corpus:
        assert corpus.revisions.allow_list == []
        with pytest.raises(InvalidArgs, match=r"in the root 'c': there is no \.git"):
            corpus.revisions.at("main", "args.rev")


def test_only_allowed_commits_are_served_in_every_root(folders: dict[str, str]) -> None:
    with serve(folders, ["v*"]) as corpus:
        assert corpus.revisions.at("v1", "rev").tree.rev == ids(folders, a="v1", b="v1")
        for rev in ("main", "a=v1,b=main", "none"):
            with pytest.raises(Denied):
                corpus.revisions.at(rev, "rev")
    with Roots(folders) as roots, ExitStack() as stack:
        repositories = Repositories(roots.descriptors)
        stack.callback(repositories.close)
        commits = make_revisions(roots, repositories, None)
        pinned = commits.pin("a=v1,b=main")
        assert commits.allow_list == [pinned.tree.rev] == [ids(folders, a="v1", b="main")]
        assert commits.at(commits.allow_list[0], "rev") is pinned
        with pytest.raises(Denied):
            commits.at("v1", "rev")


def test_a_rev_for_each_root_names_every_root_once() -> None:
    names = ["a", "b c"]
    assert split_rev("a=x,b c=y/z", names) == {"a": "x", "b c": "y/z"}
    assert split_rev("b c=y,a=x", names) == {"a": "x", "b c": "y"}
    for rev in ("a", "a=x", "a=x,a=y", "a=x,b c=", "a=x,b c=y,d=z", "a=x,b c=y,", "a=x=y,b c=z", ",a=x,b c=y"):
        assert split_rev(rev, names) == {}, rev


@pytest.mark.parametrize("rev", ["x" * 1_000_000, "a=" * 500_000, "a=x," * 250_000])
def test_a_rev_as_long_as_a_request_takes_no_time(rev: str) -> None:
    began = time.process_time()
    assert split_rev(rev, ["a", "b"]) == {}
    assert time.process_time() - began < 10
