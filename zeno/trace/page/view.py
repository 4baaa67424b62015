"""view: make one HTML page of a trace. It fetches nothing, and equal traces and trees give equal bytes.

Content of the trace and the tree goes into a data block that no content can close. The page's script shows it as text
only: the Content-Security-Policy forbids every other script, style and request, and HTML made from strings.
"""

import base64
import hashlib
import html
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from contract_spec.operations import operations

from zeno.trace.events import Exchange, Pairing, TraceLine
from zeno.trace.page.page_data import collect
from zeno.trace.replay import Replayer


def page(
    steps: Iterable[TraceLine | Exchange], pairing: Pairing, replayer: Replayer | None, *, title: str, text: str
) -> tuple[bytes, dict[str, Any]]:
    """Return the page and its counts of claims and of lines left out. `text` is delivered, cited or none."""
    story = collect(steps, pairing, replayer, text=text)
    script, style = _asset("view.js"), _colors() + _asset("view.css")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "style": style,
        "data": _data({"title": title, "operations": _legend(), **story.data}),
        "script": script,
    }
    # One pass from left to right, so that inserted text is not searched for placeholders.
    pieces = _asset("view.html").split("{{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        out += [parts[name], rest]
    told = {"claims": len(story.data["claims"]), "text_left_out": story.data["text_left_out"]}
    return "".join(out).encode(), told


def _legend() -> list[tuple[str, str | None]]:
    """Return the operations that the page shows, each with the word for what it counts."""
    known = operations().items()
    return [
        (name, operation.unit if operation.list is not None else None) for name, operation in known if operation.color
    ]


def _colors() -> str:
    """Return the colours of operations as variables of the style sheet."""
    pairs = ((name, operation.color) for name, operation in operations().items())
    rules = (f"--{name}: light-dark({color[0]}, {color[1]});" for name, color in pairs if color)
    return f":root {{ {' '.join(rules)} }}\n"


def _asset(name: str) -> str:
    return (files("zeno.trace.page") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(value: Any) -> str:
    """Return JSON that cannot end the script element it stands in."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
