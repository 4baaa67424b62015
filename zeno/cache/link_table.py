"""Symbolic links of a cached tree and the files that they lead to."""

from collections.abc import Iterable, Iterator

from zeno.files.tree import Tree


class Link:
    """A symbolic link and its target when it was last followed."""

    __slots__ = ("denied", "path", "steps", "target", "to_folder")

    def __init__(self, path: str) -> None:
        self.path = path
        self.target: str | None = None
        """The path of the regular file that it leads to, or None."""
        self.to_folder = False
        """Whether it leads to a directory."""
        self.denied = False
        """Whether it leads to a path that the policy denies: then it is as good as absent."""
        self.steps: frozenset[str] = frozenset()
        """Every path at which something was looked up on the way: while nothing there changes, its target stays."""


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

    def __iter__(self) -> Iterator[Link]:
        return iter(self._links.values())

    def get(self, path: str) -> Link | None:
        """Return the link at a path, if there is one."""
        return self._links.get(path)

    def add(self, path: str) -> Link:
        """Add a link. It leads nowhere until `follow` is called."""
        link = self._links[path] = Link(path)
        self._new.add(link)
        return link

    def remove(self, link: Link) -> None:
        """Remove a link."""
        self._links.pop(link.path, None)
        self._forget_steps(link)
        self._new.discard(link)

    def follow(self, changed: Iterable[str], *, every: bool) -> set[str]:
        """Follow links that may lead elsewhere, given the paths that changed. Return the paths of those that do."""
        if every:
            affected = set(self)
        else:
            affected = self._new | self.unseen
            for path in changed if self._links else ():
                affected |= self._by_step.get(path.rstrip("/"), set())
        self._new = set()
        return {link.path for link in affected if self._leads_elsewhere(link)}

    def _leads_elsewhere(self, link: Link) -> bool:
        before = (link.target, link.to_folder, link.denied)
        self._forget_steps(link)
        found = self._tree.link_target(link.path)
        link.target, link.to_folder, may_change_unseen, link.denied, link.steps = found
        for step in link.steps:
            self._by_step.setdefault(step, set()).add(link)
        if may_change_unseen:
            self.unseen.add(link)
        return (link.target, link.to_folder, link.denied) != before

    def _forget_steps(self, link: Link) -> None:
        self.unseen.discard(link)
        for step in link.steps:
            leading = self._by_step[step]
            leading.discard(link)
            if not leading:
                del self._by_step[step]
        link.steps = frozenset()
