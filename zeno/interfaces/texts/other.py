"""A result as text for models where its operation has no text of its own: pairs of names and values."""

from zeno.interfaces.plain_text import plain
from zeno.interfaces.rows import Asked, Result, visible


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return the result as plain text, without its metrics."""
    return [visible(plain({name: value for name, value in result.items() if name != "metrics"}))], ""
