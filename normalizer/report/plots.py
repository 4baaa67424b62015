"""Plots, drawn by Vega-Lite when the page is made and embedded as plain SVG in the page's colours.

Text from bundles is passed to Vega-Lite as data values only, because it evaluates expressions in titles, orders and
field names.
"""

import html
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from normalizer.report.markup import Html, el, join, visible

COLOURS = {"#111111": "ink", "#777777": "muted", "#dddddd": "line", "#3366cc": "accent", "#bbccee": "accent-soft"}
"""Placeholder colours, replaced by the page's own, light or dark."""
INK, MUTED, LINE, ACCENT, SOFT = COLOURS
_TAGS = {"svg", "g", "path", "line", "rect", "text", "circle", "title", "tspan"}
_DROPPED = {"style", "class", "aria-roledescription", "role", "pointer-events", "version", "id", "clip-path"}
WIDTH = 720
NARROW = 290
"""The width of plots for small screens."""


def intervals(rows: list[dict[str, Any]], scale: tuple[Decimal, Decimal]) -> Html:
    """A row a group: the mean with its interval, and pale the bounds that INVALID records leave open.
    Rows have `label`, `mean`, `low`, `high`, `at_minimum`, `at_maximum`."""
    import altair as alt

    domain = alt.Scale(domain=[float(scale[0]), float(scale[1])], nice=False, clamp=True)
    x = alt.X("at_minimum:Q", scale=domain, title="mean total", axis=number_axis(alt))

    def layers(base: Any) -> list[Any]:
        between = base.mark_bar(color=SOFT, height=14, cornerRadius=3).encode(x=x, x2="at_maximum:Q")
        bars = base.mark_rule(color=INK, strokeWidth=2).encode(x="low:Q", x2="high:Q")
        return [between, bars, base.mark_point(filled=True, color=ACCENT, size=70, opacity=1).encode(x="mean:Q")]

    return rows_drawn(rows, layers, 34, "Means and intervals")


def distribution(rows: list[dict[str, Any]], scale: tuple[Decimal, Decimal]) -> Html:
    """Small histograms above one another; rows have `label`, `total` and `units`."""
    import altair as alt

    span = float(scale[1] - scale[0]) or 1.0
    totals = sorted({row["total"] for row in rows})
    gap = min((after - before for before, after in pairwise(totals)), default=span)
    ends = [float(scale[0]) - span / 40, float(scale[1]) + span / 40]  # room for the bars at the ends

    def chart(width: int, header: Any) -> Any:
        thick = max(1.0, min(24.0, 0.8 * gap / span * width))
        bars = alt.Chart(values(alt, rows)).mark_bar(color=ACCENT, width=thick)
        return bars.encode(
            x=alt.X("total:Q", scale=alt.Scale(domain=ends, nice=False), title="total", axis=number_axis(alt)),
            y=alt.Y("units:Q", title=None, axis=alt.Axis(tickMinStep=1, tickCount=3)),
            row=alt.Row("label:N", title=None, header=header),
        ).properties(width=width, height=64)

    beside = alt.Header(labelAngle=0, labelAlign="right", labelPadding=14, labelLimit=180)
    above = alt.Header(labelOrient="top", labelAnchor="start", labelLimit=NARROW)
    return for_both_screens(chart(WIDTH, beside), chart(NARROW - 20, above), "Distribution of totals")


def forest(rows: list[dict[str, Any]]) -> Html:
    """Differences with intervals about zero; rows have `label`, `difference`, `low`, `high`."""
    return _draw_points(rows, "difference", {"title": "mean difference"}, 0, 26, "Differences and intervals")


def ranges(rows: list[dict[str, Any]], title: str, mark: float | None) -> Html:
    """A point with an interval a row, and a dashed line at `mark`. Rows have `label`, `value`, `low` and `high`."""
    import altair as alt

    return _draw_points(rows, "value", {"title": title, "scale": alt.Scale(zero=False)}, mark, 28, title)


def _draw_points(
    rows: list[dict[str, Any]], field: str, axis: dict[str, Any], mark: float | None, height: int, title: str
) -> Html:
    import altair as alt

    x = alt.X("low:Q", axis=number_axis(alt), **axis)
    line = alt.Chart(values(alt, [{"mark": mark}])).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x="mark:Q")

    def layers(base: Any) -> list[Any]:
        bars = base.mark_rule(color=INK, strokeWidth=2).encode(x=x, x2="high:Q")
        points = base.mark_point(filled=True, color=ACCENT, size=60, opacity=1).encode(x=f"{field}:Q")
        return [*([] if mark is None else [line]), bars, points]

    return rows_drawn(rows, layers, height, title)


def confusion(rows: list[dict[str, Any]]) -> Html:
    """A confusion matrix of totals; rows have `first`, `second` and `n`."""
    import altair as alt

    base = alt.Chart(values(alt, rows))
    order = sorted({row["first"] for row in rows} | {row["second"] for row in rows})
    x = alt.X("second:O", title="second judge", scale=alt.Scale(domain=order), axis=alt.Axis(labelAngle=0))
    y = alt.Y("first:O", title="first judge", scale=alt.Scale(domain=order, reverse=True))
    most = max(row["n"] for row in rows)
    squares = base.mark_rect(color=ACCENT, stroke=LINE).encode(
        x=x, y=y, fillOpacity=alt.FillOpacity("n:Q", scale=alt.Scale(domain=[0, most], range=[0.08, 0.75]), legend=None)
    )
    counts = base.mark_text(color=INK, fontSize=12).encode(x=x, y=y, text="n:Q")
    return draw_chart(alt.layer(squares, counts).properties(width=alt.Step(30), height=alt.Step(30)), "Totals that met")


def rows_drawn(rows: list[dict[str, Any]], layers: Callable[[Any], list[Any]], height: int, title: str) -> Html:
    """A plot with a row for each `label`, in the order given; `layers` makes the marks of a chart with these rows.

    It is drawn twice: with the labels beside the rows, `height` pixels a row, and for small screens with the labels
    above them.
    """
    import altair as alt

    ordered = [{**row, "at": number} for number, row in enumerate(rows)]
    order = alt.EncodingSortField(field="at", op="min", order="ascending")
    beside = alt.Axis(labelLimit=220, ticks=False, domain=False)
    wide, narrow = (
        alt.Chart(values(alt, ordered)).encode(y=alt.Y("label:N", sort=order, title=None, axis=axis))
        for axis in (beside, None)
    )
    label = narrow.mark_text(align="left", baseline="bottom", dy=-8, color=INK, fontSize=12, limit=NARROW)
    above = label.encode(text="label:N", x=alt.value(0))
    return for_both_screens(
        alt.layer(*layers(wide)).properties(width=WIDTH, height=alt.Step(height)),
        alt.layer(*layers(narrow), above).properties(width=NARROW, height=alt.Step(46)),
        title,
    )


def for_both_screens(wide: Any, narrow: Any, title: str) -> Html:
    """Put two charts of one plot into the page, which shows the one that fits the screen."""
    return join(
        [draw_chart(wide, title, box="scroll wide-screen"), draw_chart(narrow, title, "narrow", "scroll small-screen")]
    )


def values(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """Rows as data of a chart."""
    return alt.Data(values=rows)


def number_axis(alt: Any) -> Any:
    """An axis of plain numbers."""
    return alt.Axis(format="~f", tickCount=alt.ExprRef("width > 400 ? 8 : 5"), labelOverlap=True)


def draw_chart(chart: Any, title: str, kind: str = "plot", box: str = "scroll") -> Html:
    """The chart as SVG that takes the page's colours. `kind` and `box` are the classes of the drawing and around it."""
    import vl_convert

    text = {"labelColor": MUTED, "titleColor": MUTED, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 400}
    axis = {**text, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE}
    chart = chart.configure(
        aria=False,
        font="Liberation Sans",
        background="transparent",
        padding={"left": 28, "right": 8, "top": 4, "bottom": 4},
        axis=axis,
        header={**text, "labelColor": INK},
    ).configure_view(stroke=None)
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(chart.to_dict()))  # noqa: S314 - our own drawing
    for name in ("width", "height"):
        root.attrib[name] = str(round(float(root.attrib[name])))
    return el(
        "div",
        Html(_serialize(root, {"role": "img", "aria-label": title, "class": kind})),
        class_=box,
        tabindex="0",
        role="group",
        aria_label=title,
    )


def _serialize(node: ElementTree.Element, more: dict[str, str] | None = None) -> str:
    """Return the drawing with only shapes and text, without anything that could run, fetch or restyle."""
    tag = node.tag.rpartition("}")[2]
    if tag not in _TAGS:
        return ""
    attributes = {name: value for name, value in node.attrib.items() if name not in _DROPPED and "}" not in name}
    if more is None:
        attributes = {name: value for name, value in attributes.items() if not name.startswith("aria-")}
    for name in ("fill", "stroke"):
        known = COLOURS.get(attributes.get(name, ""))
        if known is not None:
            attributes[name] = f"var(--{known})"
    opened = "".join(f' {name}="{html.escape(value)}"' for name, value in {**attributes, **(more or {})}.items())
    inner = html.escape(visible(node.text or "")) if tag in ("text", "tspan", "title") else ""
    inner += "".join(_serialize(child) for child in node)
    return f"<{tag}{opened}>{inner}</{tag}>"


def reliability(rows: list[dict[str, Any]]) -> Html:
    """The gold mean at each value that a judge gave, beside the diagonal. Rows have `judge`, `given`, `gold`, `low`,
    `high` and `n`; judges stand side by side."""
    import altair as alt

    ends = [min(min(row["given"], row["low"]) for row in rows), max(max(row["given"], row["high"]) for row in rows)]
    base = alt.Chart()
    scale = alt.Scale(domain=ends, nice=True)
    x = alt.X("given:Q", title="the judge's value", scale=scale, axis=number_axis(alt))
    y = alt.Y("low:Q", title="mean of gold", scale=scale)
    diagonal = base.mark_line(color=MUTED, strokeDash=[3, 3]).encode(x=x, y=alt.Y("given:Q", scale=scale))
    bars = base.mark_rule(color=INK, strokeWidth=1.5).encode(x=x, y=y, y2="high:Q")
    points = base.mark_point(filled=True, color=ACCENT, opacity=1).encode(
        x=x, y=alt.Y("gold:Q", scale=scale), size=alt.Size("n:Q", legend=None, scale=alt.Scale(range=[25, 160]))
    )
    layered = alt.layer(diagonal, bars, points, data=values(alt, rows))
    wide, narrow = (
        layered.properties(width=size, height=size).facet(facet=alt.Facet("judge:N", title=None), columns=columns)
        for size, columns in ((210, 3), (250, 1))
    )
    return for_both_screens(wide, narrow, "Gold by the judge's value")
