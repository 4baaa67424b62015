"""Which commits of a repository a server serves, and the corpora of those that were asked for last."""

from functools import cached_property
from typing import TYPE_CHECKING

from zeno.cache.warm_corpus import WarmCorpus
from zeno.code.table import FactTable
from zeno.errors import Denied, InvalidArgs, ObjectUnavailable, UnknownRev
from zeno.files.tree import Tree
from zeno.revisions.commit_tree import CommitTree
from zeno.revisions.objects import Unavailable
from zeno.revisions.refs import Named, Unknown, is_matched
from zeno.revisions.repository import NoRepository, RepositoryAtRoot
from zeno.revisions.trees import Trees
from zeno.search.corpus import Corpus, Revisions

if TYPE_CHECKING:
    from zeno.revisions.blob_texts import BlobTexts
    from zeno.revisions.commit_corpus import CommitCorpus

ALL = "all"
"""Every commit of the repository."""
# Commits whose listings are kept.
MAX_COMMITS = 4


class ServedCommits(Revisions):
    """The commits of the repository at a root. A name is looked up for every request: branches move."""

    def __init__(
        self,
        root: Tree,
        at_root: RepositoryAtRoot,
        allowed: list[str] | None,
        around: Corpus | None = None,
        name: str | None = None,
    ) -> None:
        """Allow names of commits, globs over references, or `all`, which None means too.

        Facts, and texts if it is warm, are kept in the memory of the corpus `around`. Errors have the name of the root.
        """
        self._where = "" if name is None else f" in the root {name!r}"
        self._root = root
        self._at_root = at_root
        self._allowed = [ALL] if allowed is None else allowed
        """The commits that may be asked for."""
        self._stated = allowed
        self._facts = FactTable() if around is None else around.facts
        self.memory = around if isinstance(around, WarmCorpus) else None
        self._texts: BlobTexts | None = None
        """Made with the first commit."""
        self._corpora: dict[bytes, CommitCorpus] = {}
        """Those asked for last, the latest at the end."""

    @property
    def allow_list(self) -> list[str]:
        """The commits that may be asked for; none where there is no repository."""
        try:
            self._at_root.open()
        except NoRepository:
            return []
        return self._allowed

    @cached_property
    def _trees(self) -> Trees:
        return Trees(self._at_root.open().objects)

    @property
    def has_pending_work(self) -> bool:
        """Whether texts of commits are left to read."""
        return self._texts is not None and self._texts.has_pending_work

    def idle(self) -> bool:
        """Read some texts of commits; return False when nothing is left."""
        return self._texts is not None and self._texts.has_pending_work and self._texts.idle()

    def at(self, rev: str, field: str) -> "CommitCorpus":
        """Return the corpus of a commit, given by its name.

        Raises UnknownRev, ObjectUnavailable, Denied, and InvalidArgs where there is no repository.
        """
        if not self._allowed:
            raise Denied.of_rev(rev)
        try:
            named = self._at_root.open().refs.find(rev)
            if not self._is_allowed(named):
                raise Denied.of_rev(rev)
            return self._corpus(named.commit)
        except NoRepository as error:
            raise InvalidArgs(f"{field} cannot be given{self._where}: {error}") from None
        except Unknown as error:
            if ALL not in self._allowed:
                # Nothing is told of commits that may not be asked for.
                raise Denied.of_rev(rev) from None
            raise UnknownRev(f"{field}: {rev!r}{self._where}: {error}") from None
        except Unavailable as error:
            if not {ALL, rev} & set(self._allowed):
                raise Denied.of_rev(rev) from None
            raise ObjectUnavailable(rev + self._where, str(error)) from None

    def pin(self, rev: str) -> "CommitCorpus":
        """Return the corpus of a commit, which may be asked for from now on. Raises what `at` raises.

        Where nothing else was stated, it is the only one.
        """
        self._allowed = [ALL]
        corpus = self.at(rev, "--rev")
        self._allowed = [corpus.tree.commit.id.hex(), *(self._stated or ())]
        return corpus

    def _is_allowed(self, named: Named) -> bool:
        if ALL in self._allowed:
            return True
        refs = self._at_root.open().refs
        globs = [entry for entry in self._allowed if _is_glob(entry)]
        if named.ref is not None and any(is_matched(named.ref, glob) for glob in globs):
            return True
        for entry in self._allowed:
            if entry not in globs:
                try:
                    if refs.find(entry).commit == named.commit:
                        return True
                except (Unknown, Unavailable):
                    continue
        return bool(globs) and refs.has_match(globs, named.commit)

    def _corpus(self, commit: bytes) -> "CommitCorpus":
        corpus = self._corpora.pop(commit, None)
        if corpus is None:
            from zeno.revisions.commit_corpus import CommitCorpus  # not needed to start

            tree = CommitTree(self._root, self._trees, self._trees.read_commit(commit))
            if self._texts is None and self.memory is not None:
                from zeno.revisions.blob_texts import BlobTexts  # not needed to start

                find_cached = self.memory.find_cached
                self._texts = BlobTexts(self._trees.objects, self.memory.texts, self._facts, find_cached)
            corpus = CommitCorpus(tree, self._facts, self, self._texts)
        self._corpora[commit] = corpus
        while len(self._corpora) > MAX_COMMITS:
            del self._corpora[next(iter(self._corpora))]
        return corpus


def _is_glob(entry: str) -> bool:
    return any(character in entry for character in "*?[")
