"""Declared dialects: renames and moves of members, done in order, recorded, and undone again."""

from typing import Any, NamedTuple

from normalizer.documents.pointers import copy_along, inserted, parent_of

STATED = ("phase", "protocol_version", "self_judged")
"""Run metadata that a dialect may state."""


class DialectStep(NamedTuple):
    """Take a member; put it somewhere, or set it aside where `put` is None."""

    take: str
    put: str | None


class AppliedStep(NamedTuple):
    """A step that found something to do, and the place the member had in its object."""

    take: str
    put: str | None
    at: int


class Dialect(NamedTuple):
    """How one judge or tool writes."""

    name: str
    bundle: tuple[DialectStep, ...]
    entry: tuple[DialectStep, ...]
    rows: dict[str, Any] | None
    """The document itself where it declares a container, whose rows are read; None for judge bundles."""
    metadata: dict[str, Any]
    """Run metadata that it states for the files it reads."""


class Translated(NamedTuple):
    """A value after the steps of a dialect."""

    value: dict[str, Any]
    done: list[AppliedStep]
    aside: dict[str, Any]
    conflicts: list[str]
    """Pointers of members that could not be moved without losing something; they stay where they are."""


def dialect_of(document: dict[str, Any]) -> Dialect:
    """The dialect a valid document declares."""
    steps = {
        part: tuple(DialectStep(step["take"], step.get("put")) for step in document.get(part, []))
        for part in ("bundle", "entry")
    }
    rows = document if "container" in document else None
    metadata = {name: document[name] for name in STATED if name in document}
    return Dialect(document["name"], steps["bundle"], steps["entry"], rows, metadata)


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
        restored = inserted(parent, step.at, key, member)
        parent.clear()
        parent.update(restored)
    return value


def original(pointer: str, done: list[AppliedStep]) -> str:
    """Where in the value as it was written a pointer into the translated one points."""
    for step in reversed(done):
        if step.put is not None and (pointer == step.put or pointer.startswith(step.put + "/")):
            pointer = step.take + pointer[len(step.put) :]
    return pointer
