"""The page's sections on preferences, calibration and gates, in a real browser."""

import json
import xml.etree.ElementTree as ET

import pytest

from normalizer.cli import main
from tests.normalizer.containers.test_shipped import FOLDER
from tests.support.comparing import compared, drawn
from tests.support.labelling import bundle_of, labelled, noisy, truth

pytestmark = pytest.mark.xdist_group("browser")
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=2'>"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decisions")
    real = truth(24, 1)
    candidate = labelled(folder, "candidate", bundle_of(noisy(real, 2, 0.3), "judge"))
    base = labelled(folder, "base", bundle_of(noisy(real, 3, 0.6), "judge"))
    gold = labelled(folder, "gold", bundle_of(noisy(real, 4, 0.1), HOSTILE, judge_kind="human"))
    duel = compared(folder, drawn({HOSTILE: 0.5, "y": 0.0}, 12, 1), "duel")
    flags = ["--preferences", str(duel), "--gold", str(gold), "--base", str(base)]
    for name in ("page.html", "again.html"):
        command = ["report", str(candidate), "--out", str(folder / name), *flags]
        more = ["--figures", str(folder / f"figures-{name}"), "--tables", str(folder / f"tables-{name}")]
        assert main([*command, *more]) == 0
    return folder / "page.html"


def test_every_section_is_there_with_its_plots_and_fits_a_small_screen(page_file, browser):
    page = browser.page(390, 800)
    page.open(page_file)
    found = page.js(
        "['preferences','calibration','gate'].map(id => document.querySelectorAll(`#${id} svg.plot`).length)"
    )
    assert found == [2, 1, 1]
    assert page.js("document.documentElement.scrollWidth") <= 390
    assert page.js("document.querySelectorAll('#preferences-0 tbody tr').length") == 1
    verdict = page.js("document.querySelector('#gate p').textContent")
    assert verdict.endswith((": pass.", ": fail."))
    assert page.js("[window.hacked, document.images.length]") in ([None, 0], [0])
    assert page.complaints == page.requests == []
    page.close()


SHOWN = """
    [...document.querySelectorAll('section svg')].filter(one => one.getBoundingClientRect().width > 0)
        .map(one => [one.getAttribute('class'), one.getAttribute('aria-label'), one.parentNode.clientWidth,
            one.parentNode.scrollWidth, Math.min(...[...one.querySelectorAll('text')]
                .map(text => text.getBoundingClientRect().height))])
"""


def test_on_a_small_screen_whole_plots_are_in_sight_and_readable(page_file, browser):
    page = browser.page(400, 800)
    page.open(page_file)
    wide = browser.page(1400, 900)
    wide.open(page_file)
    small, large = page.js(SHOWN), wide.js(SHOWN)
    assert [title for _, title, *_ in small] == [title for _, title, *_ in large]
    assert {kind for kind, *_ in large} == {"plot"}
    drawn = [each for each in small if each[0] == "narrow"]
    assert {"win rate", "Gold by the judge's value", "difference, positive is better"} <= {each[1] for each in drawn}
    for _, title, room, needed, letters in drawn:
        assert needed <= room, title
        assert letters >= 9, title
    wide.close()
    assert page.js("document.documentElement.scrollWidth") <= 400
    narrow = "[...document.querySelectorAll('#calibration td:not(.r)')].map(cell => cell.getBoundingClientRect().width)"
    assert min(page.js(narrow)) >= 80
    page.close()


ROWS = {
    "preferences-0": 24,  # 12 items in both orders
    "preferences-3": 24,  # all of them are in both orders
    "calibration-0": 48,  # 24 files, the judge and the annotator
    "gate-verdicts": 48,  # 24 files, base and candidate
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_open_the_records_behind_them_and_those_their_raw_lines(page_file, browser, scheme):
    page = browser.page(400, 800, scheme)
    page.open(page_file)
    data = json.loads(page.js("document.querySelector('#data').textContent"))
    for table, count in ROWS.items():
        trail = page.js(f"+document.querySelector('#{table} tbody tr .n').dataset.t")
        assert len(data["trails"][trail]["records"]) == count, table
        page.js(f"document.querySelector('#{table} tbody tr .n').click()")
        page.until(f"document.querySelectorAll('#panel details').length === {count}")
        page.js("document.querySelector('#panel details').open = true")
        page.until("document.querySelector('#panel .raw div') !== null")
        shown = page.js("document.querySelector('#panel .raw').textContent")
        record = data["records"][data["trails"][trail]["records"][0]]
        assert data["bundles"][record["bundle"]]["lines"][record["lines"][0] - 1].strip() in shown
        assert page.js("document.querySelector('#panel').scrollWidth") <= 400
        page.js("document.querySelector('#panel-close').click()")
    page.close()


@pytest.mark.parametrize("following", ["preferences-0", "gate-verdicts"])
def test_a_number_clicked_right_after_closing_opens(page_file, browser, following):
    page = browser.page(400, 800)
    page.open(page_file)
    page.js("document.querySelector('#preferences-0 tbody tr .n').click()")
    page.until("document.querySelector('#panel').open")
    opened = f"document.querySelector('#{following} tbody tr .n')"
    page.js(f"document.querySelector('#panel-close').click(); {opened}.click()")
    page.until(f"document.querySelectorAll('#panel details').length === {ROWS[following]}")
    page.until(f"document.querySelector('#panel').open && location.hash === '#t' + {opened}.dataset.t")
    page.close()


def test_a_comparison_shows_its_verdict_and_the_winner_by_name(page_file):
    page = page_file.read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    compared = [record for record in data["records"] if "verdict" in record]
    assert len(compared) == 24
    for record in compared:
        about = dict(record["verdict"])
        assert about["winner"] in (about["a"], about["b"], "draw")
        assert (record["role"], record["status"]) == ("preferences", "counted")


def test_rows_of_json_lines_are_shown_by_their_line(tmp_path):
    rows = FOLDER / "arena-hard.jsonl"
    flags = ["--dialect", "arena-hard", "--set", "phase=1", "--set", "protocol_version=p-1", "--set", "baseline=base-b"]
    assert main(["normalize", str(rows), *flags, "--out", str(tmp_path / "duel")]) == 1
    scores = labelled(tmp_path, "scores", bundle_of(truth(12, 1), "judge"))
    out = tmp_path / "page.html"
    assert main(["report", str(scores), "--out", str(out), "--preferences", str(tmp_path / "duel")]) == 0
    data = json.loads(out.read_text().partition('id="data">')[2].partition("</script>")[0])
    lines = [record["lines"] for record in data["records"] if "verdict" in record]
    assert lines
    assert all(first == last <= len(rows.read_text().splitlines()) for first, last in lines)


def test_the_same_ledgers_give_the_same_bytes(page_file):
    assert page_file.read_bytes() == page_file.with_name("again.html").read_bytes()


def test_every_plot_is_written_as_svg_pdf_and_png(page_file):
    folders = [page_file.with_name(f"figures-{name}.html") for name in ("page", "again")]
    found = sorted(folders[0].iterdir())
    drawn = [each.partition(">")[0] for each in page_file.read_text().split("<svg ")[1:]]
    assert len(found) == 3 * sum('class="plot"' in each for each in drawn)
    assert [path.stem[3:] for path in found if path.suffix == ".svg"][-1] == "difference-positive-is-better"
    starts = {".svg": b"<svg", ".pdf": b"%PDF-", ".png": b"\x89PNG"}
    for path in found:
        data = path.read_bytes()
        assert data.startswith(starts[path.suffix])
        if path.suffix == ".svg":
            ET.fromstring(data)
            assert b"var(--" not in data
        if path.suffix != ".pdf":
            assert (folders[1] / path.name).read_bytes() == data


def test_the_tables_of_every_section_are_written_as_files(page_file):
    folder = page_file.with_name("tables-page.html")
    found = {path.stem for path in folder.glob("*.csv")}
    assert {"preferences-pairs", "preferences-bradley-terry-ratings", "calibration-confusion", "gate"} <= found
    assert (
        {path.stem for path in folder.glob("*.tex")} - {"all"} == {path.stem for path in folder.glob("*.md")} == found
    )
    assert (folder / "gate.csv").read_text().splitlines()[1].startswith("total,")


def test_comparisons_by_several_criteria_are_told_apart(tmp_path, browser):
    real = truth(24, 1)
    ledger = labelled(tmp_path, "scores", bundle_of(real, "judge"))
    listed = [
        {
            "item": str(i),
            "a": "x",
            "b": "y",
            "verdict": "a" if i % 3 or criterion == "style" else "b",
            "criterion": criterion,
        }
        for i in range(12)
        for criterion in ("style", "truth")
    ]
    duel = compared(tmp_path, listed, "criteria")
    out = tmp_path / "page.html"
    assert main(["report", str(ledger), "--preferences", str(duel), "--out", str(out)]) == 0
    page = browser.page(1400, 900)
    page.open(out)
    rows = page.js(
        "[...document.querySelectorAll('#preferences-0 tbody tr')].map(row => row.innerText.split(/\\s+/).slice(0, 5))"
    )
    assert rows == [["style", "x", "y", "12", "0"], ["truth", "x", "y", "8", "4"]]
    data = json.loads(page.js("document.querySelector('#data').textContent"))
    trail = page.js("+document.querySelector('#preferences-0 tbody tr .n').dataset.t")
    assert len(data["trails"][trail]["records"]) == 12
    page.close()


def test_the_margin_of_the_gate_can_be_told(tmp_path):
    real = truth(30, 1)
    base = labelled(tmp_path, "before", bundle_of(real, "judge"))
    after = labelled(tmp_path, "after", bundle_of(noisy(real, 2, 0.3), "judge", run_id="again"))
    out = tmp_path / "page.html"
    assert main(["report", str(after), "--base", str(base), "--margin", "5", "--out", str(out)]) == 0
    assert "equivalent within the margin" in out.read_text()
