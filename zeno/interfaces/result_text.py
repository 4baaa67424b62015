"""Results as text for language models and people: numbered lines under their path, and a last line about completeness.

The text leaves out digests and measurements; the structured content beside it has everything. Every line of a file
follows its number and a tab, so that no content of a file can be mistaken for a path, another line or the last line.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module

from zeno.interfaces.plain_text import pairs
from zeno.interfaces.rows import Asked, Result, visible
from zeno.interfaces.texts import other

_PACKAGE = "zeno.interfaces.texts"


def text_of(op: str, result: Result, request_id: str | None = None, args: Asked | None = None) -> str:
    """Return the text of the result of a call with these arguments.

    Hints stand before the last line. With `request_id`, the last line names it, for claims to cite.
    """
    body, status = _writer(op)(result, args or {})
    told = [status] if status else []
    if "budget" in result.get("metrics", {}):
        told.append(f"budget left: {pairs(result['metrics']['budget'])}")
    if request_id is not None:
        told.append(f"request {request_id}")
    return "\n".join([*body, *_hints(result), *([f"[{'; '.join(told)}]"] if told else [])])


@cache
def _writer(op: str) -> Callable[[Result, Asked], tuple[list[str], str]]:
    """Return the function that writes the text of an operation: that of the module with its name, if there is one."""
    name = f"{_PACKAGE}.{op}"
    try:
        write: Callable[[Result, Asked], tuple[list[str], str]] = import_module(name).write_text
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return other.write_text
    return write


def _hints(result: Result) -> list[str]:
    return [f"hint: {visible(str(hint))}" for hint in result.get("hints", ())]
