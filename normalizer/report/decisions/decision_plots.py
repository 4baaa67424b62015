"""Plots of preferences, calibration and gates."""

from typing import Any

from normalizer.report.markup import Html
from normalizer.report.plots import ACCENT, INK, MUTED, for_both_screens, number_axis, rows_drawn, values


def ranges(rows: list[dict[str, Any]], title: str, mark: float | None) -> Html:
    """A point with an interval a row, and a dashed line at `mark`. Rows have `label`, `value`, `low` and `high`."""
    import altair as alt

    x = alt.X("low:Q", title=title, axis=number_axis(alt), scale=alt.Scale(zero=False))
    line = alt.Chart(values(alt, [{"mark": mark}])).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x="mark:Q")

    def layers(base: Any) -> list[Any]:
        bars = base.mark_rule(color=INK, strokeWidth=2).encode(x=x, x2="high:Q")
        points = base.mark_point(filled=True, color=ACCENT, size=60, opacity=1).encode(x="value:Q")
        return [*([] if mark is None else [line]), bars, points]

    return rows_drawn(rows, layers, 28, title)


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
