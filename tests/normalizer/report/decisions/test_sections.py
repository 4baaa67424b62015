"""The page's sections on preferences, calibration and gates, in a real browser."""

import xml.etree.ElementTree as ET

import pytest

from normalizer.cli import main
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
        assert main([*command, "--figures", str(folder / f"figures-{name}")]) == 0
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


def test_the_same_ledgers_give_the_same_bytes(page_file):
    assert page_file.read_bytes() == page_file.with_name("again.html").read_bytes()


def test_every_plot_is_written_as_svg_pdf_and_png(page_file):
    folders = [page_file.with_name(f"figures-{name}.html") for name in ("page", "again")]
    found = sorted(folders[0].iterdir())
    assert len(found) == 3 * page_file.read_text().count("<svg ")
    starts = {".svg": b"<svg", ".pdf": b"%PDF-", ".png": b"\x89PNG"}
    for path in found:
        data = path.read_bytes()
        assert data.startswith(starts[path.suffix])
        if path.suffix == ".svg":
            ET.fromstring(data)
            assert b"var(--" not in data
        if path.suffix != ".pdf":
            assert (folders[1] / path.name).read_bytes() == data
