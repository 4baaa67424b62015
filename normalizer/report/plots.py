"""Plots, drawn by Vega-Lite when the page is made and embedded as plain SVG in the page's colours.

Text from bundles is passed to Vega-Lite as data values only, because it evaluates expressions in titles, orders and
field names.
"""

import html
from decimal import Decimal
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from normalizer.report.markup import Html, el, visible

COLOURS = {"#111111": "ink", "#777777": "muted", "#dddddd": "line", "#3366cc": "accent", "#bbccee": "accent-soft"}
"""Placeholder colours, replaced by the page's own, light or dark."""
INK, MUTED, LINE, ACCENT, SOFT = COLOURS
_TAGS = {"svg", "g", "path", "line", "rect", "text", "circle", "title", "tspan"}
_DROPPED = {"style", "class", "aria-roledescription", "role", "pointer-events", "version", "id", "clip-path"}
WIDTH = 720


def intervals(rows: list[dict[str, Any]], scale: tuple[Decimal, Decimal]) -> Html:
    """A row a group: the mean with its interval, and pale the bounds that INVALID records leave open.
    Rows have `label`, `mean`, `low`, `high`, `at_minimum`, `at_maximum`."""
    import altair as alt

    base = rows_chart(alt, rows)
    domain = alt.Scale(domain=[float(scale[0]), float(scale[1])], nice=False, clamp=True)
    x = alt.X("at_minimum:Q", scale=domain, title="mean total", axis=number_axis(alt))
    between = base.mark_bar(color=SOFT, height=14, cornerRadius=3).encode(x=x, x2="at_maximum:Q")
    bars = base.mark_rule(color=INK, strokeWidth=2).encode(x="low:Q", x2="high:Q")
    points = base.mark_point(filled=True, color=ACCENT, size=70, opacity=1).encode(x="mean:Q")
    return drawn(alt.layer(between, bars, points).properties(width=WIDTH, height=alt.Step(34)), "Means and intervals")


def distribution(rows: list[dict[str, Any]], scale: tuple[Decimal, Decimal]) -> Html:
    """Small histograms above one another; rows have `label`, `total` and `units`."""
    import altair as alt

    span = float(scale[1] - scale[0]) or 1.0
    totals = sorted({row["total"] for row in rows})
    gap = min((after - before for before, after in pairwise(totals)), default=span)
    thick = max(1.0, min(24.0, 0.8 * gap / span * WIDTH))
    ends = [float(scale[0]) - span / 40, float(scale[1]) + span / 40]  # room for the bars at the ends
    chart = (
        alt.Chart(values(alt, rows))
        .mark_bar(color=ACCENT, width=thick)
        .encode(
            x=alt.X("total:Q", scale=alt.Scale(domain=ends, nice=False), title="total", axis=number_axis(alt)),
            y=alt.Y("units:Q", title=None, axis=alt.Axis(tickMinStep=1, tickCount=3)),
            row=alt.Row(
                "label:N",
                title=None,
                header=alt.Header(labelAngle=0, labelAlign="right", labelPadding=14, labelLimit=180),
            ),
        )
        .properties(width=WIDTH, height=64)
    )
    return drawn(chart, "Distribution of totals")


def forest(rows: list[dict[str, Any]]) -> Html:
    """Differences with intervals about zero; rows have `label`, `difference`, `low`, `high`."""
    import altair as alt

    base = rows_chart(alt, rows)
    zero = alt.Chart(values(alt, [{"zero": 0}])).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x="zero:Q")
    x = alt.X("low:Q", title="mean difference", axis=number_axis(alt))
    bars = base.mark_rule(color=INK, strokeWidth=2).encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, color=ACCENT, size=60, opacity=1).encode(x="difference:Q")
    return drawn(
        alt.layer(zero, bars, points).properties(width=WIDTH, height=alt.Step(26)), "Differences and intervals"
    )


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
    return drawn(alt.layer(squares, counts).properties(width=alt.Step(30), height=alt.Step(30)), "Totals that met")


def rows_chart(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """A chart with a row for each `label`, in the order given."""
    ordered = [{**row, "at": number} for number, row in enumerate(rows)]
    order = alt.EncodingSortField(field="at", op="min", order="ascending")
    y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=220, ticks=False, domain=False))
    return alt.Chart(values(alt, ordered)).encode(y=y)


def values(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """Rows as data of a chart."""
    return alt.Data(values=rows)


def number_axis(alt: Any) -> Any:
    """An axis of plain numbers."""
    return alt.Axis(format="~f", tickCount=8, labelOverlap=True)


def drawn(chart: Any, title: str) -> Html:
    """The chart as SVG that takes the page's colours."""
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
    return el("div", Html(_written(root, {"role": "img", "aria-label": title, "class": "plot"})), class_="scroll")


def _written(node: ElementTree.Element, more: dict[str, str] | None = None) -> str:
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
    inner += "".join(_written(child) for child in node)
    return f"<{tag}{opened}>{inner}</{tag}>"
