"""JSON pointers (RFC 6901) over values: reading, and moving members without touching the value given."""

from typing import Any


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


def inserted(members: dict[str, Any], position: int, key: str, value: Any) -> dict[str, Any]:
    """The members with one more, at that place."""
    pairs = list(members.items())
    return dict([*pairs[:position], (key, value), *pairs[position:]])
