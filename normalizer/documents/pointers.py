"""JSON pointers (RFC 6901) over values: reading, and moving members without touching the value given.

The moves that a dialect declares are done in order, recorded, and undone again.
"""

from typing import Any, NamedTuple


class DialectStep(NamedTuple):
    """Take a member; put it somewhere, or set it aside where `put` is None."""

    take: str
    put: str | None


class AppliedStep(NamedTuple):
    """A step that found something to do, and the place the member had in its object."""

    take: str
    put: str | None
    at: int


class Translated(NamedTuple):
    """A value after the steps of a dialect."""

    value: dict[str, Any]
    done: list[AppliedStep]
    aside: dict[str, Any]
    conflicts: list[str]
    """Pointers of members that could not be moved without losing something; they stay where they are."""


def steps_of(pointer: str) -> list[str]:
    """The keys a pointer names, from the root down."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def escape(key: str) -> str:
    """Return a key escaped for use in a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def parent_of(document: dict[str, Any], pointer: str) -> tuple[dict[str, Any] | None, str]:
    """The object in which a pointer's last key stands or would stand, and that key. Lists are not entered."""
    *above, last = steps_of(pointer)
    node: Any = document
    for step in above:
        node = node.get(step) if type(node) is dict else None
    return (node if type(node) is dict else None), last


def copy_along(document: dict[str, Any], pointer: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """A copy whose objects along the pointer are fresh, the innermost of them, and the pointer's last key."""
    root = node = dict(document)
    *above, last = steps_of(pointer)
    for step in above:
        node[step] = dict(node[step])
        node = node[step]
    return root, node, last


def insert_member(members: dict[str, Any], position: int, key: str, value: Any) -> dict[str, Any]:
    """The members with one more, at that place."""
    pairs = list(members.items())
    return dict([*pairs[:position], (key, value), *pairs[position:]])


def translate(value: dict[str, Any], steps: tuple[DialectStep, ...]) -> Translated:
    """Do the steps on a copy."""
    done: list[AppliedStep] = []
    aside: dict[str, Any] = {}
    conflicts: list[str] = []
    for step in steps:
        parent, key = parent_of(value, step.take)
        if parent is None or key not in parent:
            continue
        if step.put is not None:
            target, name = parent_of(value, step.put)
            inside = step.put.startswith(step.take + "/")
            if target is None or name in target or inside:
                conflicts.append(step.take)
                continue
        elif step.take in aside:
            conflicts.append(step.take)
            continue
        at = list(parent).index(key)
        value, parent, key = copy_along(value, step.take)
        member = parent.pop(key)
        if step.put is None:
            aside[step.take] = member
        else:
            value, target, name = copy_along(value, step.put)
            target[name] = member
        done.append(AppliedStep(step.take, step.put, at))
    return Translated(value, done, aside, conflicts)


def undo(value: dict[str, Any], done: list[AppliedStep], aside: dict[str, Any]) -> dict[str, Any]:
    """The value as it was before the steps."""
    for step in reversed(done):
        if step.put is None:
            member = aside[step.take]
        else:
            value, target, name = copy_along(value, step.put)
            member = target.pop(name)
        value, parent, key = copy_along(value, step.take)
        restored = insert_member(parent, step.at, key, member)
        parent.clear()
        parent.update(restored)
    return value


def original(pointer: str, done: list[AppliedStep]) -> str:
    """Where in the value as it was written a pointer into the translated one points."""
    for step in reversed(done):
        if step.put is not None and (pointer == step.put or pointer.startswith(step.put + "/")):
            pointer = step.take + pointer[len(step.put) :]
    return pointer
