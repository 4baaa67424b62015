"""Symbolic links of a cached tree and the files that they lead to."""

from collections.abc import Iterable

from zeno.files.tree import LinkTarget, Tree


class Link:
    """A symbolic link and where it led when it was last followed; before that, nowhere."""

    __slots__ = ("path", "target")

    def __init__(self, path: str) -> None:
        self.path = path
        self.target = LinkTarget()


class LinkTable:
    """All links by path. A link is followed again only if something changed at a path that it leads through."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._links: dict[str, Link] = {}
        self._new: set[Link] = set()
        self.unseen: set[Link] = set()
        """Links whose target can change without an event."""
        self._by_step: dict[str, set[Link]] = {}
        """The links that lead through each path."""

    def get(self, path: str) -> Link | None:
        return self._links.get(path)

    def add(self, path: str) -> Link:
        """Add a link. It leads nowhere until `follow` is called."""
        link = self._links[path] = Link(path)
        self._new.add(link)
        return link

    def remove(self, link: Link) -> None:
        self._links.pop(link.path, None)
        self._forget_steps(link)
        self._new.discard(link)

    def follow(self, changed: Iterable[str], *, every: bool) -> set[str]:
        """Follow links that may lead elsewhere, given the paths that changed. Return the paths of those that do."""
        if every:
            affected = set(self._links.values())
        else:
            affected = self._new | self.unseen
            for path in changed if self._links else ():
                affected |= self._by_step.get(path.rstrip("/"), set())
        self._new = set()
        return {link.path for link in affected if self._leads_elsewhere(link)}

    def _leads_elsewhere(self, link: Link) -> bool:
        before = link.target
        self._forget_steps(link)
        link.target = self._tree.link_target(link.path)
        for step in link.target.steps:
            self._by_step.setdefault(step, set()).add(link)
        if link.target.may_change_unseen:
            self.unseen.add(link)
        return link.target[:3] != before[:3]

    def _forget_steps(self, link: Link) -> None:
        self.unseen.discard(link)
        for step in link.target.steps:
            leading = self._by_step[step]
            leading.discard(link)
            if not leading:
                del self._by_step[step]
