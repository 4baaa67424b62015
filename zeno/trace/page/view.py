"""view: a trace as one page that fetches nothing. The same trace and tree give the same bytes.

What the trace and the tree say goes into the page as data, in a block that no content can close, and the page's own
script puts it on the screen as text only: its policy forbids every other script, style, request and HTML from strings.
"""

import base64
import hashlib
import html
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from zeno.trace.events import Entry, Exchange, Pairing
from zeno.trace.page.page_data import tell
from zeno.trace.replay import Replayer


def page(
    steps: Iterable[Entry | Exchange], pairing: Pairing, replayer: Replayer | None, *, title: str, text: str
) -> tuple[bytes, dict[str, Any]]:
    """The page of a trace, and a few numbers about it. `text` is delivered, cited or none."""
    story = tell(steps, pairing, replayer, text=text)
    script, style = _asset("view.js"), _asset("view.css")
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
        "data": _data({"title": title, **story.data}),
        "script": script,
    }
    # One pass from left to right, so that nothing put in is looked at again.
    pieces = _asset("view.html").split("{{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        out += [parts[name], rest]
    told = {"claims": len(story.data["claims"]), "text_left_out": story.data["text_left_out"]}
    return "".join(out).encode(), told


def _asset(name: str) -> str:
    return (files("zeno.trace.page") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(value: Any) -> str:
    """JSON that stays inside a script element whatever it holds."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
