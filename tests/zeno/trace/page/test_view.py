"""The page of a trace, in a real browser: it shows what is there, lets one find it, and stays a page of text."""

import json
import re

import pytest

from zeno.cli.parser import main

pytestmark = pytest.mark.xdist_group("browser")

SOURCE = "".join(f"line {number}\n" for number in range(1, 41))
# Whatever a trace or a file holds: markup, an end of script, terminal and bidirectional controls.
HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=2'>\x1b[31m\u202eevil\u2066\x00&lt;"
)
HACKED = "[window.hacked, document.images.length, document.scripts.length]"


@pytest.fixture
def view(traced, tmp_path):
    """Makes the page of the session and returns its path."""

    def view(*flags, root=True, name="view.html"):
        out = tmp_path / name
        where = ("--root", str(traced.root)) if root else ()
        assert main(["trace", "view", str(traced.log), *where, "--out", str(out), *flags]) in (0, 1)
        return out

    return view


@pytest.fixture
def session(traced):
    traced.file("src/a.py", SOURCE)
    traced.file("src/b.py", SOURCE)
    traced.file("docs/c.md", "nobody reads this\n" * 10)
    traced.ask("list_files")
    traced.ask("grep", pattern="line 3", max_hits=2)
    with traced.record.subcall("read closely") as outer:
        traced.ask("read_file", path="src/a.py", start_line=5, end_line=12)
        with traced.record.subcall("even closer"):
            traced.ask("peek", path="src/b.py", head_lines=3, tail_lines=3)
            traced.record.claim("seven follows six", [("src/a.py", 6, 7)])
        traced.ask("read_file", path="src/none.py")
        outer.outcome = "all read"
    traced.record.claim("b has a middle", [("src/b.py", 20, 21)])
    traced.record.claim("nothing at all")
    return traced


def texts(page, selector):
    return page.js(f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.textContent)")


def test_it_shows_the_trajectory_with_its_subcalls(session, view, page):
    page.open(view())
    rows = texts(page, "#rows .event .op")
    assert rows == ["list_files", "grep", "subcall", "read_file", "subcall", "peek", "claim", "returned", "read_file",
                    "returned", "claim", "claim"]  # fmt: skip
    depths = page.js(
        "[...document.querySelectorAll('#rows .event')].map((row) => row.querySelectorAll('.rails i').length)"
    )
    assert depths == [0, 0, 0, 1, 1, 2, 2, 2, 1, 1, 0, 0]
    assert "1 of 3" in page.js("document.querySelector('#figures').textContent")
    assert page.js("document.querySelectorAll('#rows .event .heat').length") > 0


def test_a_row_has_the_time_of_its_request_and_the_trace_lasts_until_its_last_answer(traced, view, page):
    traced.file("a.py", SOURCE)
    traced.ask("grep", pattern="line 3")
    traced.ask("read_file", path="a.py")
    seconds = iter([3, 9, 11, 58])
    events = [
        {**json.loads(line), "ts": f"2026-01-02T10:00:{next(seconds):02}Z"}
        for line in traced.log.read_text().splitlines()
    ]
    traced.log.write_text("".join(json.dumps(event) + "\n" for event in events))
    page.open(view())
    assert texts(page, "#rows .event .at") == ["00:00", "00:08"]
    assert texts(page, "#subtitle") == ["2026-01-02 10:00:03 UTC, 00:55 long"]


def test_search_and_chips_filter_and_escape_clears(session, view, page):
    page.open(view())
    page.key("/")
    page.write("SRC/A.PY")
    page.until("document.querySelector('#found').textContent.includes('of 12')")
    assert texts(page, "#rows .event .op") == ["read_file", "claim"]
    assert len(texts(page, ".card")) == 1
    page.key("Escape")
    page.until("document.querySelector('#found').textContent === '12 rows'")
    chips = ["read_file" in text for text in texts(page, "#chips button")]
    page.click(f"#chips button:nth-child({chips.index(True) + 1})")
    assert texts(page, "#rows .event .op") == ["read_file", "read_file"]
    page.key("/")
    page.write("no such thing anywhere")
    page.until("document.querySelector('#rows .empty') !== null")


def test_a_claim_opens_the_very_lines_it_cites(session, view, page):
    page.open(view())
    page.click("#claim-0 .cite")
    assert texts(page, "#claim-0 .ln.cited span:last-child") == ["line 6", "line 7"]
    assert texts(page, "#claim-0 .ln.cited span:first-child") == ["6", "7"]
    assert texts(page, "#claim-0 .ln span:last-child") == [f"line {number}" for number in range(2, 12)]
    assert page.js("document.querySelectorAll('#claim-0 .ln.got').length") == 8
    page.click("#claim-0 .why .link")
    assert page.js("document.querySelector('#rows [aria-selected=true] .arg').textContent") == "src/a.py:5\u201312"
    assert texts(page, "#detail .ln span:last-child") == [f"line {number}" for number in range(5, 13)]


def test_verdicts_have_words_and_colours(session, view, page):
    page.open(view())
    assert texts(page, ".card > header .badge") == ["fails", "fails", "checks out"]
    assert texts(page, ".cite .badge") == ["ok", "never delivered", "ok", "seen before"]
    colours = page.js("[...document.querySelectorAll('.card')].map((card) => getComputedStyle(card).borderLeftColor)")
    assert colours[2] != colours[0] == colours[1]
    session.file("src/a.py", "new\n" + SOURCE)
    session.file("src/b.py", SOURCE.replace("line 20\n", "line twenty\n"))
    page.open(view())
    assert "moved to 7\u20138" in texts(page, "#claim-0 .cite .badge")
    assert "changed" in texts(page, ".cite .badge")
    page.click("#claim-0 .cite")
    assert texts(page, "#claim-0 .code:first-of-type .ln.cited span:last-child")[:2] == ["line 6", "line 7"]


def test_the_keyboard_reaches_everything(session, view, page):
    page.open(view())
    for _ in range(4):
        page.key("j")
    page.key("k")
    assert page.js("document.querySelector('#rows [aria-selected=true] .op').textContent") == "subcall"
    page.key("x")
    assert len(texts(page, "#rows .event")) == 5
    page.key("x")
    page.key("c")
    assert page.js("document.querySelector('.card.picked .text').textContent") == "seven follows six"
    assert len(texts(page, ".card.picked .ln.cited")) == 2
    page.key("C")
    page.key("e")
    assert "not_found" in page.js("document.querySelector('#detail').textContent")
    for key, panel in (("1", "claims"), ("2", "files"), ("3", "costs"), ("4", "detail")):
        page.key(key)
        assert page.js("document.querySelector('[role=tabpanel]:not([hidden])').id") == panel
    page.key("?")
    assert page.js("document.querySelector('#help').open") is True
    page.key("Escape")
    page.until("!document.querySelector('#help').open")
    page.js("document.querySelector('#rows').focus()")
    page.key("End")
    assert page.js("document.querySelector('#rows').getAttribute('aria-activedescendant')") == "rows-11"
    assert page.js("location.hash") == f"#L{len(session.events())}"


def test_an_address_leads_to_a_line_of_the_trace(session, view, page):
    page.open(view(), "#L6")
    assert page.js("document.querySelector('#rows [aria-selected=true] .arg').textContent") == "src/a.py:5\u201312"


def test_the_map_shades_files_and_the_list_says_the_same(session, view, page):
    page.open(view())
    page.key("2")
    assert texts(page, "#filelist .file .n") == ["10 / 40", "6 / 40", "0 / 10"]
    # The boxes of read files are darker or lighter than those of unread ones: look at the pixels.
    shades = page.js(
        "(() => { const map = document.querySelector('#map'), seen = new Set();"
        " const all = map.getContext('2d').getImageData(0, 0, map.width, map.height).data;"
        " for (let at = 0; at < all.length; at += 4) seen.add(all.slice(at, at + 3).join()); return seen.size; })()"
    )
    assert shades >= 3
    page.click("#filelist .file:nth-child(1)")
    page.key("4")
    assert "10 of 40 lines" in page.js("document.querySelector('#detail').textContent")
    assert len(texts(page, "#detail .ln")) == 10


def test_searches_and_what_limits_withheld_are_listed(session, view, page):
    page.open(view())
    page.key("3")
    text = page.js("document.querySelector('#costs').textContent")
    assert "1 search" in text
    assert "1 answer cut by a limit" in text
    assert "20 hits" in text


def test_hostile_content_stays_text(traced, view, page):
    traced.file("src/<img src=x>.py", HOSTILE.replace("\0", "") + "\n")
    traced.ask("read_file", path="src/<img src=x>.py")
    traced.ask(HOSTILE, **{HOSTILE: HOSTILE})
    traced.record.claim(HOSTILE, [("src/<img src=x>.py", 1, 1)], id=HOSTILE)
    traced.put({"event": "subcall_start", "id": HOSTILE, "task": HOSTILE})
    with traced.log.open("ab") as stream:
        stream.write(HOSTILE.encode())
    page.open(view("--title", HOSTILE))
    scripts = page.js(HACKED)[2]
    page.js("document.querySelectorAll('.cite').forEach((one) => one.click())")
    for selector in ("#rows .event", "#filelist .file"):
        for index in range(len(texts(page, selector))):
            page.js(f"document.querySelectorAll({json.dumps(selector)})[{index}].click()")
    for key in "1234":
        page.key(key)
    assert page.js(HACKED) == [None, 0, scripts]
    everything = page.js("document.body.innerText + document.title + document.querySelector('#claims').textContent")
    assert "<script>window.hacked=1</script>" in everything
    shown = page.js("[...document.querySelectorAll('main, header, .notice')].map((node) => node.textContent).join('')")
    assert not set(shown) & set("\x1b\x00\u202e\u2066")
    assert "\u27e8U+202E\u27e9" in shown
    assert "\u241b" in shown


def test_a_citation_of_more_lines_than_any_file_has_opens_all_the_same(session, view, page):
    session.put(
        {"event": "claim", "claim": "all", "evidence": [{"path": "src/a.py", "start_line": 3, "end_line": 2**52}]}
    )
    page.open(view())
    page.click("#claim-3 .cite")
    assert len(texts(page, "#claim-3 .ln")) == 40
    assert "out_of_range" in page.js("document.querySelector('#claim-3').textContent")


def test_the_policy_lets_nothing_else_run_or_be_asked_for(session, view, browser):
    page = browser.page()
    page.open(view())
    for attempt in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.body.setAttribute('onclick', 'window.hacked = 1')",
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked = 1'}))",
        "fetch('http://127.0.0.1:9/x')",
    ):
        with pytest.raises(AssertionError):
            page.js(attempt)
    assert page.js("window.hacked") is None
    page.close()


def test_the_same_trace_and_tree_give_the_same_bytes(session, view):
    assert view(name="one.html").read_bytes() == view(name="two.html").read_bytes()


def test_without_the_tree_it_says_what_it_cannot_tell(session, view, page):
    page.open(view(root=False))
    assert texts(page, ".card > header .badge") == ["not checked"] * 3
    page.click("#claim-0 .cite")
    assert "Give --root" in page.js("document.querySelector('#claim-0').textContent")
    assert len(texts(page, "#rows .event")) == 12


def test_a_claim_on_an_answer_shows_it_and_leads_to_it(session, view, page):
    session.ask("grep", pattern="rain", paths=["src"])
    session.record.claim("it never rains", answers=["r6", "r2"])
    session.put({"event": "claim", "claim": "so", "evidence": [], "answers": [{"id": HOSTILE, "digest": "0" * 64}]})
    page.open(view())
    assert texts(page, "#claim-3 .cite .badge") == ["ok", "partial"]
    assert texts(page, "#claim-4 .cite .badge") == ["not_given"]
    assert {*texts(page, "#claim-3 > header .badge"), *texts(page, "#claim-4 > header .badge")} == {"fails"}
    page.click("#claim-3 li:nth-child(2) .cite")
    assert "a limit cut it" in texts(page, "#claim-3 .body")[0]
    page.click("#claim-3 li:nth-child(1) .cite")
    page.click("#claim-3 li:nth-child(1) .body .link")
    assert (
        page.js("document.querySelector('#rows [aria-selected=true] .arg').textContent") == "\u201crain\u201d  in src"
    )
    page.key("/")
    page.write("rain")
    page.until("document.querySelector('#found').textContent.includes('of')")
    assert texts(page, "#rows .event .op") == ["grep", "claim"]
    page.open(view(root=False))
    assert texts(page, "#claim-3 .cite .badge") == ["not checked", "not checked"]
    assert texts(page, "#claim-4 .cite .badge") == ["not_given"]
    assert page.js(HACKED) == [None, 0, 2]


def test_rows_say_what_was_asked_for_and_leave_limits_of_text_to_the_detail(session, view, page):
    lines = {"start_line": 1, "end_line": 2}
    session.ask("grep", pattern="a\nb", multiline=True, max_chars=20000, max_line_chars=400, max_files=10**6)
    session.ask("grep", pattern="c", max_files=7)
    session.ask("read_file", path="src/b.py", **lines, ranges=[{"path": "src/b.py", **lines}] * 2)
    session.ask("verify", citations=[{"path": "src/b.py", **lines, "text": "x\ny"}])
    page.open(view())
    asked = texts(page, "#rows .event .arg")
    assert "\u201ca\u21b5b\u201d  multiline=true" in asked
    assert "\u201cc\u201d  max_files=7" in asked
    assert any("1\u20132" in text and text.endswith("+ 2 ranges") for text in asked), asked
    assert "1 citation" in asked
    page.js(
        "[...document.querySelectorAll('#rows .event')].find((row) => row.textContent.includes('multiline')).click()"
    )
    assert '"max_chars": 20000' in page.until("document.querySelector('pre.json')?.textContent")


def test_without_the_tree_lines_delivered_after_a_claim_were_not_seen_before_it(session, view, page):
    session.record.claim("too quick", [("src/b.py", 25, 26)])
    session.ask("read_file", path="src/b.py", start_line=20, end_line=30)
    page.open(view(root=False))
    assert texts(page, "#claim-0 .cite .badge") == ["not checked", "seen before"]
    assert texts(page, "#claim-3 .cite .badge") == ["not checked"]


def test_text_can_be_left_out(session, view, page):
    assert b"line 20" not in view("--lines", "none", name="none.html").read_bytes()
    cited = view("--lines", "cited", name="cited.html").read_bytes()
    assert b"line 20" in cited
    assert b"line 40" not in cited
    page.open(view("--lines", "none", name="none.html"))
    page.click("#claim-0 .cite")
    assert "not in the page" in page.js("document.querySelector('#claim-0').textContent")


def test_a_cut_trace_is_shown_as_far_as_it_goes_and_said_to_be_cut(session, view, page):
    session.log.write_bytes(session.log.read_bytes()[:-20])
    page.open(view())
    assert "ends in the middle" in page.js("document.querySelector('#notice').textContent")
    assert texts(page, "#rows .event .op")[-1] == "unreadable"


def test_an_empty_trace_makes_a_page_too(traced, view, page):
    page.open(view())
    assert texts(page, "#rows .empty") == ["The trace has no events."]


def test_both_schemes_can_be_read(session, view, page):
    """Contrast of at least 4.5 to 1 (WCAG 2.2, AA) for all text colours on the grounds they stand on."""
    pairs = [(ink, ground) for ink in ("ink", "muted", "accent") for ground in ("panel", "bg", "soft", "pick")]
    pairs += [(kind, f"{kind}-soft") for kind in ("good", "warn", "bad", "none")] + [
        ("bad", "panel"),
        ("good", "panel"),
    ]
    ratio = """(([ink, ground]) => {
        const probe = document.createElement('i'); document.body.append(probe);
        const light = (name) => { probe.style.color = `var(--${name})`;
          const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
        probe.remove(); return (a + 0.05) / (b + 0.05); })"""
    page.open(view())
    grounds = set()
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        grounds.add(page.js("getComputedStyle(document.body).backgroundColor"))
        low = {pair: round(value, 2) for pair in pairs if (value := page.js(f"{ratio}({json.dumps(pair)})")) < 4.5}
        assert low == {}, scheme
    assert len(grounds) == 2


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_object_to(session, view, browser, width, scheme):
    page = browser.page(width, 900, scheme)
    page.open(view())
    assert page.violations() == []
    page.close()


def test_a_line_says_what_the_bars_and_dots_are(session, view, page):
    page.open(view())
    told = page.js("document.querySelector('#stripsays').textContent")
    assert re.match(
        r"Bars are requests in their order, higher the longer they took \(at most [\d.]+ m?s\); dots are claims;", told
    )


def test_claims_that_fail_come_first(session, view, page):
    page.open(view())
    verdicts = texts(page, "#claims .card > header .badge")
    assert verdicts == sorted(verdicts, key="checks out".__eq__)
    assert len(set(verdicts)) > 1


def test_on_a_narrow_screen_a_row_that_is_opened_scrolls_to_its_detail(session, view, page):
    page.resize(400, 800)
    page.open(view())
    assert page.js("document.querySelector('.side').getBoundingClientRect().top") > 400
    page.click("#rows .event")
    page.key("Enter")
    page.until("document.querySelector('.side').getBoundingClientRect().top < 100")


def test_a_narrow_window_has_no_sideways_scroll(session, view, page):
    page.resize(400, 800)
    page.open(view())
    assert page.js("document.documentElement.scrollWidth") <= 400


DEEP = "src/a/directory/with/a/long/name/another_one_below_it/a_module_with_a_long_name.py"
# Whether the lines of each row stand inside the row's own box, and inside the window.
VISIBLE = """[...document.querySelectorAll('#rows .lines')].map((node) => {
  const box = node.getBoundingClientRect(), row = node.closest('.what').getBoundingClientRect();
  return box.width > 0 && box.left >= row.left && box.right <= row.right + 0.5 && box.right <= innerWidth;
})"""
CUT = (
    "[...document.querySelectorAll('SELECTOR')].map((node) => [node.clientWidth < node.scrollWidth, node.textContent])"
)


@pytest.mark.parametrize("width", [400, 1400])
def test_long_paths_are_cut_in_the_middle_and_their_lines_stay_visible(session, view, page, width):
    session.file(DEEP, SOURCE)
    session.ask("read_file", path=DEEP, start_line=11, end_line=29)
    session.ask("read_file", path=DEEP, start_line=30, end_line=2**53 - 1)
    session.record.claim("it is long", [(DEEP, 11, 12)])
    page.resize(width, 900)
    page.open(view())
    assert texts(page, "#rows .lines") == [":5\u201312", ":1", ":11\u201329", ":30\u201340"]
    assert page.js(VISIBLE) == [True] * 4
    assert texts(page, "#rows .event .arg")[-3:-1] == [f"{DEEP}:11\u201329", f"{DEEP}:30\u201340"]
    heads = page.js(CUT.replace("SELECTOR", "#rows .arg .head:not(:last-child)"))
    tails = page.js(CUT.replace("SELECTOR", "#rows .arg .tail"))
    assert [True, DEEP[:-10]] in heads
    assert {tuple(tail) for tail in tails[-2:]} == {(False, DEEP[-10:])}
    cited = "document.querySelector('#claim-3 .cite .lines').getBoundingClientRect()"
    assert texts(page, "#claim-3 .cite .mono") == [f"{DEEP}:11\u201312"]
    assert page.js(f"{cited}.right <= innerWidth && {cited}.height < 30")
    page.key("2")
    listed = page.js(CUT.replace("SELECTOR", "#filelist .file .tail"))
    assert [False, DEEP[-10:]] in listed
    assert page.js("document.documentElement.scrollWidth <= innerWidth")


def test_files_that_were_read_come_first_and_counts_agree(session, view, page):
    session.file("src/z.py", SOURCE)
    session.file("src/binary.bin", "a\0b")
    session.ask("read_file", path="src/z.py", start_line=1, end_line=30)
    page.open(view())
    page.key("2")
    listed = texts(page, "#filelist .file")
    assert [row.partition(".")[0] for row in listed] == ["src/z", "src/a", "src/b", "docs/c"]
    read = [row for row in listed if not row.endswith("0 / 10")]
    assert page.js("document.querySelector('#tab-files b').textContent") == f"{len(read)} of {len(listed)}"
    assert page.js("document.querySelector('#binary').textContent") == "1 binary file not listed"
    shares = page.js("[...document.querySelectorAll('#filelist .file .n')].map((node) => node.textContent)")
    delivered, total = (sum(int(share.split(" / ")[at]) for share in shares) for at in (0, 1))
    figures = page.js("document.querySelector('#figures').textContent")
    assert f"{delivered} of {total}" in figures
    searches = page.js("[...document.querySelectorAll('#chips button')].map((node) => node.textContent)")
    counted = page.js("document.querySelector('#tab-costs b').textContent")
    assert f"grep{counted}" in searches
    page.click("#byread")
    assert [row.partition(".")[0] for row in texts(page, "#filelist .file")] == ["docs/c", "src/a", "src/b", "src/z"]


def test_a_hundred_thousand_events_stay_quick_to_use(traced, view, page):
    traced.file("a.py", SOURCE)
    traced.ask("read_file", path="a.py", start_line=1, end_line=30)
    traced.ask("grep", pattern="line 3")
    pairs = traced.log.read_bytes().splitlines(keepends=True)
    with traced.log.open("wb") as stream:
        for number in range(25_000):
            stream.writelines(line.replace(b'"id":"r', b'"id":"x%d-' % number) for line in pairs)
    assert len(traced.log.read_bytes().splitlines()) == 100_000
    out = view()
    assert out.stat().st_size < 10_000_000
    page.open(out)
    assert page.js("document.querySelectorAll('#rows .event').length") < 80
    page.key("/")
    page.write("x24999-1")
    page.until("document.querySelector('#found').textContent === '1 of 50,000'")
    page.key("Escape")
    page.js("document.querySelector('#rows').focus()")
    page.key("End")
    assert page.js("document.querySelector('#rows [aria-selected=true]').getAttribute('aria-posinset')") == "50000"
    for _ in range(5):
        page.key("ArrowUp")
    assert page.js("document.querySelector('#rows [aria-selected=true]').getAttribute('aria-posinset')") == "49995"
    assert page.js("document.querySelectorAll('#rows .event').length") < 80
