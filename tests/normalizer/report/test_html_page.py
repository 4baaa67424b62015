"""The report's page, in a real browser: its numbers are those computed by hand, and each leads down to raw lines."""

import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from statistics import stdev

import pytest

from normalizer.cli import main
from normalizer.documents.locate import items, place
from normalizer.estimation.clusters import gather
from normalizer.estimation.intervals import mean_interval
from tests.support.bundles import DIMENSIONS, bundle, entry
from tests.support.lacking import needs
from tests.support.study import ARTIFACTS, STUDY, artifact_means, by_hand, normalized

pytestmark = pytest.mark.xdist_group("browser")

# Whatever a bundle holds: markup, an end of script, terminal and bidirectional controls, TeX.
HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=2'>\x1b[31m\u202eevil\u2066&lt;$\\x{"
)
HACKED = "[window.hacked, document.images.length, document.scripts.length]"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The example study's page and tables."""
    folder = tmp_path_factory.mktemp("report")
    ledger = normalized(folder / "ledger")
    flags = ["--where", "phase=1", "--artifacts", str(ARTIFACTS), "--tables", str(folder / "tables")]
    assert main(["report", str(ledger), "--out", str(folder / "report.html"), *flags]) == 0
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A page whose every string is out to get us."""
    folder = tmp_path_factory.mktemp("hostile")
    factors = {HOSTILE: HOSTILE}
    runs = [
        bundle(entry(HOSTILE, notes=HOSTILE, evidence={"A_structure": HOSTILE}), judge_model=HOSTILE, factors=factors),
        bundle(
            entry(f"{HOSTILE}2"),
            {HOSTILE: HOSTILE, "file": "b"},
            judge_model="j",
            run_id=HOSTILE,
            factors=factors,
            aggregates={HOSTILE: {"mean_total": 3}},
        ),
    ]
    for number, run in enumerate(runs):
        run["generator_model"] = HOSTILE + "g"
        (folder / f"{number}.json").write_text(json.dumps(run))
    (folder / "broken.json").write_text(HOSTILE)
    paths = [str(folder / name) for name in ("0.json", "1.json", "broken.json")]
    assert main(["normalize", *paths, "--out", str(folder / "ledger")]) == 1
    (folder / "files").mkdir()
    flags = ["--artifacts", str(folder / "files"), "--tables", str(folder / "tables"), "--title", HOSTILE]
    assert main(["report", str(folder / "ledger"), "--out", str(folder / "report.html"), *flags]) == 0
    return folder


def texts(page, selector):
    return page.js(f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.textContent)")


def cells(page, table):
    return page.js(
        f"[...document.querySelectorAll('#{table} tbody tr')].map((row) => [...row.cells].map((c) => c.textContent))"
    )


def opened(page, selector):
    """Click a number; the records of the panel."""
    page.js(f"document.querySelector({json.dumps(selector)}).click()")
    page.until("document.querySelector('#panel').open")
    return page.js("JSON.parse(document.querySelector('#data').textContent).trails[+location.hash.slice(2)].records")


def test_the_headline_is_what_one_computes_by_hand(made, page):
    page.open(made / "report.html")
    rows = {row[0]: row for row in cells(page, "t-headline")}
    scores = by_hand("cedar-1", "birch-1")
    for generator in ("writer-alder", "writer-birch"):
        totals = artifact_means(scores, generator)
        mean, deviation = sum(totals) / len(totals), stdev(totals)
        low, high = mean_interval(gather(totals), (Fraction(0), Fraction(10)))
        assert rows[generator][1:6] == [
            f"{float(mean):.3f}",
            f"{float(low):.3f} to {float(high):.3f}",
            str(len(totals)),
            str(sum(writer == generator for writer, _, _ in scores)),
            f"{deviation:.3f}",
        ]
    assert "rounded once to 3 places" in page.js("document.querySelector('#headline').textContent")
    # 25 + 23 entries in phase 1; of the INVALID ones one names no file of its manifest, and so has no generator.
    assert [rows[name][6] for name in rows] == ["21.7 % (5 of 23)", "4.2 % (1 of 24)", "100.0 % (1 of 1)"]
    dimensions = {row[0]: row[1:] for row in cells(page, "t-dimensions")}
    for at, name in enumerate(DIMENSIONS):
        by_artifact: dict[str, list[int]] = {}
        for (writer, artifact, _), given in scores.items():
            if writer == "writer-birch":
                by_artifact.setdefault(artifact, []).append(given[name])
        mean = sum(Fraction(sum(each), len(each)) for each in by_artifact.values()) / len(by_artifact)
        assert dimensions["writer-birch"][at].startswith(f"{float(mean):.3f}")


def differences(blocks):
    """First minus second of each block, judge by judge, averaged; blocks that only the third, an author, judged are
    left out."""
    found = []
    for one, other, author in blocks:
        shared = one.keys() & other.keys()
        if shared - {author}:
            found.append(Fraction(sum(one[judge] - other[judge] for judge in shared), len(shared)))
    return found


def test_drift_contrast_and_agreement_are_what_one_computes_by_hand(made, page):
    page.open(made / "report.html")
    one, two = by_hand("cedar-1"), by_hand("cedar-2")
    # Two entries of phase 2 break its own rules: a total that does not add up, evidence that is missing.
    invalid = [json.loads(line) for line in (made / "ledger" / "invalid.jsonl").read_text().splitlines()]
    broken = {record["artifact"] for record in invalid if record["phase"] == 2}
    shared = [key for key in one.keys() & two.keys() if key[1] not in broken]
    moved = [sum(two[key].values()) - sum(one[key].values()) for key in shared]
    [row] = cells(page, "t-drift")
    assert row[:5] == ["judge-cedar", "jp-2 \u2212 jp-1", "1 and 2", str(len(moved)),
                       f"{sum(moved) / len(moved):.3f}".replace("-", "\u2212")]  # fmt: skip
    scores = by_hand("cedar-1", "birch-1")
    cedar = {key[:2]: sum(given.values()) for key, given in scores.items() if key[2] == "judge-cedar"}
    birch = {key[:2]: sum(given.values()) for key, given in scores.items() if key[2] == "writer-birch"}
    apart = [cedar[key] - birch[key] for key in cedar.keys() & birch.keys()]
    row = cells(page, "t-agreement")[0]
    assert row[2:6] == [
        str(len(apart)),
        f"{sum(map(abs, apart)) / len(apart):.3f}",
        f"{sum(not each for each in apart) / len(apart):.3f}",
        f"{sum(apart) / len(apart):.3f}".replace("-", "\u2212"),
    ]
    totals: dict[tuple[str, ...], dict[str, int]] = {}
    for (writer, artifact, judge), given in scores.items():
        totals.setdefault((writer, *artifact.split("/")[:3]), {})[judge] = sum(given.values())
    alder = {key[1:] for key in totals if key[0] == "writer-alder"}
    apart_by = differences(
        (totals["writer-alder", *key], totals["writer-birch", *key], "writer-birch") for key in alder
    )
    [row] = [row for row in cells(page, "t-contrast-0") if row[0] == "total"]
    assert row[1:4] == [
        "writer-alder \u2212 writer-birch", str(len(apart_by)), f"{float(sum(apart_by) / len(apart_by)):.3f}",
    ]  # fmt: skip
    pairs = differences(
        (totals[w, q, "baseline", n], totals[w, q, "reworded", n], w) for w, q, p, n in totals if p == "baseline"
    )
    row = next(row for row in cells(page, "t-contrast-2") if row[1] == "baseline \u2212 reworded")
    assert row[2:4] == [str(len(pairs)), f"{float(sum(pairs) / len(pairs)):.3f}"]


def test_a_number_leads_to_its_records_and_those_to_the_lines_of_the_raw_bundle(made, page):
    page.open(made / "report.html")
    page.click("#t-headline tbody tr:nth-child(1) .n")
    page.until("document.querySelectorAll('#panel details').length === 18")
    records = page.js(
        "JSON.parse(document.querySelector('#data').textContent).trails[+location.hash.slice(2)].records.map("
        "(at) => JSON.parse(document.querySelector('#data').textContent).records[at])"
    )
    by_artifact: dict[str, list[int]] = {}
    for record in records:
        by_artifact.setdefault(record["artifact"], []).append(int(record["total"]))
    means = [Fraction(sum(each), len(each)) for each in by_artifact.values()]
    assert f"{float(sum(means) / len(means)):.3f}" == texts(page, "#t-headline tbody tr:nth-child(1) .n")[0]
    page.click("#panel details:nth-child(2) summary")
    page.until("document.querySelector('#panel details[open] .raw') !== null")
    shown = texts(page, "#panel details[open] .raw div span:last-child")
    numbers = [int(number) for number in texts(page, "#panel details[open] .raw div span:first-child")]
    [title] = [text for text in texts(page, "#panel details[open] h4") if text.startswith("Raw bundle")]
    [path] = [path for path in STUDY.glob("runs/*/bundle.json") if _sha(path).startswith(title.split()[2].rstrip(","))]
    lines = path.read_text(encoding="utf-8").split("\n")
    assert shown == [lines[number - 1] for number in numbers]
    entry = json.loads("\n".join(shown).strip().rstrip(","))
    assert entry.get("file", entry.get("file_name")) in texts(page, "#panel details[open] dd")
    page.click("#panel details[open] .more")
    assert len(texts(page, "#panel details[open] .raw div")) == len(shown) + 20
    page.key("Escape")
    page.until("!document.querySelector('#panel').open && location.hash === ''")


def _sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_number_opens_something_and_counts_agree(made, page):
    page.open(made / "report.html")
    assert page.js("document.querySelectorAll('.n').length") > 250
    empty = page.js(
        "(() => { const data = JSON.parse(document.querySelector('#data').textContent);"
        " return [...document.querySelectorAll('.n')].filter((node) => { const trail = data.trails[+node.dataset.t];"
        " return !trail || !(trail.records.length + trail.spots.length); }).map((node) => node.outerHTML); })()"
    )
    assert empty == []
    for selector in (
        "#t-headline tbody tr:nth-child(1) td:nth-child(5) .n",
        "#t-headline tbody tr:nth-child(2) td:nth-child(5) .n",
        "#t-left-out tr:nth-child(1) .n",
        "#t-left-out tr:nth-child(3) .n",
        "#t-rates tbody tr:nth-child(1) td:nth-child(3) .n",
        "#t-rates tbody tr:nth-child(2) td:nth-child(4) .n",
        "#t-reasons tbody tr:nth-child(3) .n",
        ".figures .n",
    ):
        assert len(opened(page, selector)) == int(texts(page, selector)[0]), selector
    # What has no number is still told: how many artifacts two judges share, and how many records that are.
    assert len(opened(page, "#t-agreement tbody tr:nth-child(1) .n")) == 2 * int(cells(page, "t-agreement")[0][2])
    assert len(opened(page, "#t-drift .n")) == 2 * int(cells(page, "t-drift")[0][3])


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_object_to(made, browser, width, scheme):
    page = browser.page(width, 900, scheme)
    page.open(made / "report.html")
    assert page.violations() == []
    page.close()


def test_without_scripts_the_page_says_what_they_are_for(made, browser):
    page = browser.page(1400, 900)
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.navigate", url=(made / "report.html").as_uri())
    page.call("Emulation.setScriptExecutionDisabled", value=False)
    page.until("document.querySelector('noscript .notice') !== null || document.querySelector('noscript') !== null")
    assert "allow scripts for this file" in page.js("document.querySelector('noscript').textContent")
    page.close()


def test_a_command_in_a_note_is_set_as_code(made, page):
    page.open(made / "report.html")
    notes = "document.querySelector('.notes')"
    assert page.js(f"[...{notes}.querySelectorAll('code')].every((node) => node.textContent.startsWith('normalizer '))")
    assert "`" not in page.js(f"{notes}.textContent")


def test_on_a_small_screen_no_name_in_a_table_is_broken(made, browser):
    page = browser.page(400, 800)
    page.open(made / "report.html")
    broken = """[...document.querySelectorAll('td:not(.r)')].filter((cell) => {
      const text = cell.firstChild;
      if (!text || text.nodeType !== Node.TEXT_NODE || /[\\s\\/-]/.test(text.data)) return false;
      const range = document.createRange();
      range.selectNodeContents(text);
      return range.getClientRects().length > 1;
    }).map((cell) => cell.textContent)"""
    assert page.js(broken) == []
    assert page.js("document.documentElement.scrollWidth") == 400
    page.close()


def test_the_colours_can_be_chosen(made, page):
    page.open(made / "report.html")
    shown = "getComputedStyle(document.body).backgroundColor"
    light = page.js(shown)
    page.click("#theme")
    page.click("#theme")
    assert page.js("document.querySelector('#theme').textContent") == "Theme: dark"
    assert page.js(shown) != light


def test_the_list_of_invalid_records_has_their_reasons(made, page):
    page.open(made / "report.html")
    opened(page, ".figures div:nth-child(3) .n")
    assert {"score_not_allowed", "total_mismatch"} <= set(texts(page, "#panel summary .why"))


def test_an_invalid_record_shows_its_reason_on_the_line_it_is_about(made, page):
    page.open(made / "report.html", "#r-b14f7e47")
    page.until("document.querySelector('#panel details[open] .hit') !== null")
    assert texts(page, "#panel .hit span:last-child") == ['        "B_snapshot_constraint": "high",']
    assert "score_not_allowed" in page.js("document.querySelector('#panel').textContent")


def test_a_claim_and_a_broken_bundle_open_at_their_lines(made, page):
    page.open(made / "report.html")
    page.js("document.querySelector('#t-claims .n').click()")
    page.until("document.querySelector('#panel-spots .hit') !== null")
    assert texts(page, "#panel-spots .hit span:last-child") == ['    "mean_total": 9.4']
    page.key("Escape")
    # The panel closes in its own time; what is clicked before that would be closed with it.
    page.until("!document.querySelector('#panel').open && location.hash === ''")
    page.js("document.querySelector('#t-left-out tbody tr:nth-child(7) .n').click()")
    page.until("document.querySelector('#panel').open && document.querySelector('#panel-spots .raw') !== null")
    assert texts(page, "#panel-spots .raw div span:last-child")[0] == "```json"


def test_evidence_is_told_with_the_record(made, page):
    page.open(made / "report.html")
    counts = {row[0]: row[1:] for row in cells(page, "t-evidence")}
    assert counts["judge-cedar"] == ["234", "6", "1", "0", "2", "1", "0"]
    page.js("document.querySelector('#t-quotations .n').click()")
    page.until("document.querySelector('#panel').open")
    page.click("#panel details summary")
    page.until("document.querySelector('#panel .quote') !== null")
    assert "absent" in texts(page, "#panel .quote .badge")


def test_hostile_strings_stay_text(hostile, page):
    page.open(hostile / "report.html")
    scripts = page.js(HACKED)[2]
    for at in range(page.js("JSON.parse(document.querySelector('#data').textContent).trails.length")):
        page.js(f"location.hash = 't{at}'")
        page.until(f"location.hash === '#t{at}' && document.querySelector('#panel').open")
        page.js("document.querySelectorAll('#panel summary').forEach((one) => one.click())")
    page.until("document.querySelector('#panel details .raw, #panel-spots .raw') !== null")
    assert page.js(HACKED) == [None, 0, scripts]
    shown = page.js("document.body.textContent.replace(document.querySelector('#data').textContent, '')")
    assert "<script>window.hacked=1</script>" in shown
    assert not set(page.js("document.querySelector('main').textContent")) & set("\x1b\u202e\u2066")
    assert "\u27e8U+202E\u27e9" in shown


def test_the_policy_lets_nothing_else_run_or_be_asked_for(made, browser):
    page = browser.page()
    page.open(made / "report.html")
    for attempt in (
        "document.body.innerHTML = '<b>x</b>'",
        "fetch('http://127.0.0.1:9/x')",
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.x = 1'}))",
    ):
        with pytest.raises(AssertionError):
            page.js(attempt)
    page.close()


def test_plots_take_the_colours_of_the_scheme_and_fit_a_small_screen(made, browser):
    page = browser.page(390, 800)
    page.open(made / "report.html")
    assert page.js("document.querySelectorAll('svg.plot').length") == 8
    assert page.js("document.documentElement.scrollWidth") <= 390
    dot = "getComputedStyle(document.querySelector('svg.plot path[fill=\"var(--accent)\"]')).fill"
    light = page.js(dot)
    page.scheme("dark")
    page.until(f"{dot} !== {json.dumps(light)}")
    assert page.complaints == page.requests == []
    page.close()


def test_the_same_ledger_and_options_give_the_same_bytes(made, tmp_path):
    flags = ["--where", "phase=1", "--artifacts", str(ARTIFACTS), "--tables", str(tmp_path / "tables")]
    command = [sys.executable, "-m", "normalizer", "report", str(made / "ledger"), "--out", str(tmp_path / "r.html")]
    done = subprocess.run([*command, *flags], env={**os.environ, "PYTHONHASHSEED": "7"}, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.html").read_bytes() == (made / "report.html").read_bytes()
    tables = {path.name: path.read_bytes() for path in (made / "tables").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "tables").iterdir()} == tables


def test_the_exported_table_is_one_that_check_accepts(made, capsys):
    flags = ["--by", "generator_model", "--where", "phase=1"]
    assert main(["check", str(made / "tables" / "headline.csv"), str(made / "ledger"), *flags]) == 0
    assert "0 mismatch, 0 not_derivable" in capsys.readouterr().out
    with (made / "tables" / "drift.csv").open() as file:
        assert [row["n"] for row in csv.DictReader(file)] == ["18"]


@pytest.mark.parametrize("which", ["made", "hostile"])
def test_latex_tables_are_whole_and_escaped(which, request):
    folder = request.getfixturevalue(which) / "tables"
    for path in sorted(folder.glob("*.tex")):
        if path.name == "all.tex":
            continue
        source = path.read_text(encoding="utf-8").replace(r"\hbox{%", r"\hbox{")
        bare = re.sub(r"\\(?:[\\{}$&#%_]|[a-z]+(?:\{\})?)", "", source)  # without what is escaped, and commands
        assert bare.count("{") == bare.count("}"), path
        assert not set(bare) & set("#%_^~\\"), path
        columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", source)
        rows = [line for line in source.splitlines() if line.endswith(r" \\")]
        assert columns
        assert {len(re.findall(r"(?<!\\)&", line)) + 1 for line in rows} == {len(columns[1])}, path
        assert f"{path.stem}.tex" in (folder / "all.tex").read_text()


@needs("pdflatex", "texlive-latex-base")
@pytest.mark.parametrize("which", ["made", "hostile"])
def test_latex_tables_compile(which, request, tmp_path):
    shutil.copytree(request.getfixturevalue(which) / "tables", tmp_path / "tables")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path / "tables", capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:]


def test_what_may_not_be_mixed_or_cannot_be_written_is_refused(made, tmp_path, capsys):
    ledger = str(made / "ledger")
    assert main(["report", ledger, "--out", str(tmp_path / "r.html")]) == 2
    assert "not mixed silently" in capsys.readouterr().err
    assert main(["report", ledger, "--where", "phase=1", "--out", str(tmp_path / "none" / "r.html")]) == 2
    assert "cannot write" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_diagnostic_and_self_judged_pages_say_so(made, tmp_path, page):
    ledger, out = str(made / "ledger"), tmp_path / "r.html"
    assert main(["report", ledger, "--where", "phase=0", "--diagnostic", "--out", str(out)]) == 0
    page.open(out)
    assert "DIAGNOSTIC" in texts(page, ".notice")[0]
    where = ["--where", "phase=1", "--where", "judge_model=writer-birch", "--by", "generator_model"]
    assert main(["report", ledger, *where, "--out", str(out)]) == 0
    page.open(out)
    rows = {row[0]: row for row in cells(page, "t-headline")}
    assert rows["writer-birch"][1] == "NA"
    assert "only_self_judged" in rows["writer-birch"][-1]
    assert len(opened(page, "#t-left-out tbody tr:nth-child(6) .n")) == 11
    assert len(opened(page, "#t-headline tbody tr:nth-child(2) .n")) == 11


def test_a_bundle_that_two_ledgers_have_counts_once(made, tmp_path, page):
    again = tmp_path / "again"
    run = STUDY / "runs" / "cedar-1"
    flags = [f"--manifest={run / 'manifest.json'}", "--out", str(again)]
    assert main(["normalize", str(run / "bundle.json"), *flags]) == 1
    out = str(tmp_path / "r.html")
    flags = ["--where", "phase=1", "--artifacts", str(ARTIFACTS), "--out", out]
    assert main(["report", str(made / "ledger"), str(again), *flags]) == 0
    page.open(tmp_path / "r.html")
    both = {table: cells(page, table) for table in ("t-headline", "t-evidence", "t-claims", "t-drift", "t-agreement")}
    left_out = {row[0]: row[1] for row in cells(page, "t-left-out")}
    assert left_out["duplicate"] == "25"
    assert len(opened(page, "#t-left-out tbody tr:nth-child(2) .n")) == 25
    page.open(made / "report.html")
    assert both == {table: cells(page, table) for table in both}


def test_items_are_located_as_pointers_locate_them():
    for path in STUDY.glob("runs/*-[12]/bundle.json"):
        text = path.read_text(encoding="utf-8")
        pointer = "/results" if "birch" in path.parent.name else "/per_file_scores"
        found = items(text, pointer)
        assert [span[:2] for span in found] == [place(text, f"{pointer}/{at}")[:2] for at in range(len(found))]
        assert [json.loads(text[span.start : span.end]) for span in found] == json.loads(text)[pointer[1:]]
        assert len(found) > 20
    assert [span[:2] for span in items('{"a":[1,\n[2,\n3],{}]}', "/a")] == [(1, 1), (2, 3), (3, 3)]
    assert items('{"a":[]}', "/a") == items('{"a":1}', "/b") == []
