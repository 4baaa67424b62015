"""Make HTML from values. All text is escaped, and invisible or reordering characters are made visible."""

import html
import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from normalizer.tables.formats import PValue

_UNSEEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
NA = "NA"


class Html(str):
    """Markup that is ready: not escaped again."""

    __slots__ = ()


def visible(text: str) -> str:
    """Return text with visible characters only: controls as Unicode pictures, others as their code point."""
    return _UNSEEN.sub(lambda found: _picture(found[0]), text)


def _picture(char: str) -> str:
    code = ord(char)
    if code < 32:
        return chr(0x2400 + code)
    return f"\u27e8U+{code:04X}\u27e9" if unicodedata.category(char) != "Zs" else char


def text(value: Any) -> Html:
    """Any value as text."""
    return value if isinstance(value, Html) else Html(html.escape(visible(str(value))))


def el(tag: str, *children: Any, **attributes: Any) -> Html:
    """Return an element. `class_` is the attribute class, `_` stands for `-`, and None omits an attribute."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not None}
    opened = "".join(f' {name}="{text(value)}"' for name, value in named.items())
    return Html(f"<{tag}{opened}>{join(children)}</{tag}>")


def join(children: Iterable[Any]) -> Html:
    """Children one after the other."""
    return Html("".join(text(child) for child in children if child is not None))


def brief(value: Decimal | int, places: int = 3) -> str:
    """Return a number of six places with fewer. A tie keeps all its places, so that the result is always what the exact
    value rounds to."""
    if isinstance(value, int):
        return str(value)
    step = Decimal(1).scaleb(-places)
    if isinstance(value, PValue) and value < step / 2:
        return value.to_text(step)
    near = value.quantize(step, ROUND_HALF_EVEN)
    shown = value if abs(value - near) == step / 2 else near
    return f"{abs(shown) if shown == 0 else shown:f}".replace("-", "\u2212")


def table(columns: list[Any], rows: list[list[Any]], *, id: str, caption: str | None = None) -> Html:
    """A table; a cell that is `Html` is taken as it is, and columns without letters stand to the right."""
    right = [
        bool(rows) and all(isinstance(row[at], (int, Decimal, type(None))) or _is_number(row[at]) for row in rows)
        for at in range(len(columns))
    ]
    classes = ["r" if is_right else None for is_right in right]
    head = el("tr", *(el("th", name, scope="col", class_=each) for name, each in zip(columns, classes, strict=True)))
    body = [
        el("tr", *(el("td", _cell(cell), class_=each) for cell, each in zip(row, classes, strict=True))) for row in rows
    ]
    said = el("caption", caption) if caption else None
    inside = el("table", said, el("thead", head), el("tbody", *body), id=id)
    # A table that scrolls needs a tab stop and a name.
    return el("div", inside, class_="scroll", tabindex="0", role="group", aria_label=caption or id.replace("-", " "))


def _cell(cell: Any) -> Html:
    if cell is None:
        return el("span", NA, class_="na")
    return text(brief(cell)) if isinstance(cell, (int, Decimal)) else text(cell)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, Html) and cell.startswith(_NUMBERS)


_NUMBERS = ('<button type="button" class="n"', *(f'<span class="{name}"' for name in ("na", "plain", "strong")))
