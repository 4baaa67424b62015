"""Rows of a container to records: every row is accounted for, and every byte comes back."""

import gzip
import hashlib
import io
import json
from collections import Counter
from typing import Any

import contract_spec as spec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.documents.lossless import parse, to_builtin
from normalizer.documents.settings import load
from normalizer.errors import UnusableDocument
from normalizer.screening.pipeline import Collected, find_repeated, normalize, normalize_file
from normalizer.screening.raw_rows import rebuild_text

RUBRIC = {"name": "one-to-five", "dimensions": {"overall": {"scale": {"kind": "integers", "minimum": 1, "maximum": 5}}}}
FIELDS = {
    "file": {"template": "{/q}/{/m}"},
    "scores": {"overall": {"at": "/r", "number": ["plain"], "failed": [-1, None, "$ERROR$"], "absent": "failed"}},
    "judge_model": {"at": "/j"},
    "generator_model": {"at": "/m"},
    "factors": {"q": {"at": "/q"}},
}


def dialect(**changes):
    return {"name": "d", "container": [{"kind": "jsonl"}], "fields": FIELDS, "rubric": RUBRIC, **changes}


def under(document, **documents):
    return load(dialect=json.dumps(document).encode(), **{k: json.dumps(v).encode() for k, v in documents.items()})


def reasons(outcome):
    lines = [json.loads(line) for line in outcome.invalid.splitlines()]
    return {line["source"]["index"]: [reason["code"] for reason in line["reasons"]] for line in lines}


ROWS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"q": st.sampled_from(["a", "b", "c", 1, None]), "m": st.sampled_from(["w", "x"])},
    optional={"r": st.sampled_from([1, 5, 9, "3", "3.5", "x", -1, None, "$ERROR$", True, [], 4.0]), "j": st.just("j")},
)
LINES = st.one_of(ROWS.map(json.dumps), st.sampled_from(["", "  ", "{", "[]", "null", '{"q": NaN}']))


def verdict(row):
    """A simpler model of one entry: the first reason by its rules, or nothing."""
    if type(row) is not dict or row.get("q") is None:
        return "invalid"
    score: Any = row.get("r")
    if type(score) is str and score in ("3", "3.5"):
        score = float(score)
    sound = type(score) in (int, float) and 1 <= score <= 5 and score == int(score)
    return "valid" if sound else "invalid"


@settings(max_examples=300)
@given(lines=st.lists(LINES, max_size=8), ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=8, max_size=8))
def test_counts_are_those_of_a_simple_model_and_bytes_come_back(lines, ends):
    data = "".join(line + end for line, end in zip(lines, ends, strict=False)).encode()
    outcome = normalize(data, under(dialect()))
    held = [line for line in lines if line.strip()]
    rows = [json.loads(line) for line in held if line not in ("{", '{"q": NaN}')]
    named = [(row["q"], row["m"]) for row in rows if type(row) is dict and row.get("q") is not None]
    copies = Counter(f"{q}/{m}" for q, m in named)
    valid = sum(verdict(row) == "valid" and copies[f"{row['q']}/{row['m']}"] == 1 for row in rows)
    if not held:
        assert json.loads(outcome.audit)["reasons"][0]["code"] == "no_entries"
        return
    assert (outcome.valid_count, outcome.valid_count + outcome.invalid_count) == (valid, len(held))
    assert outcome.unreadable_count == len(held) - len(rows)
    records = [parse(line.encode(), 300) for line in (outcome.records + outcome.invalid).splitlines()]
    [header] = [parse(line.encode(), 300) for line in outcome.header.splitlines()]
    assert rebuild_text(header, records) == data
    for kind, text in (("eval_record", outcome.records), ("invalid_record", outcome.invalid)):
        for line in text.splitlines():
            assert spec.violations(f"eval/{kind}.json", to_builtin(parse(line.encode(), 300))) == []


def row(q, r, **more):
    return json.dumps({"q": q, "m": "w", "j": "judge", "r": r, **more})


def test_repeats_are_told_apart_by_a_declared_key():
    data = "\n".join([row("a", 3, n=1), row("a", 4, n=2)]).encode()
    fields = {**FIELDS, "factors": {"repeat": {"at": "/n"}}}
    assert normalize(data, under(dialect(fields=fields))).valid_count == 0
    assert normalize(data, under(dialect(fields=fields, key=["file", "repeat"]))).valid_count == 2


def test_keys_are_counted_the_same_way_whether_they_are_few_or_many():
    keys = [hashlib.blake2b(str(number % 20_000).encode(), digest_size=16).digest() for number in range(20_100)]
    keys += [b"\0" * 16, b"a" + b"\0" * 15, b"a" + b"\0" * 14 + b"\1"]
    expected = {key: count for key, count in Counter(keys).items() if count > 1}
    assert find_repeated(bytearray(b"".join(keys))) == expected
    assert len(expected) == 100


def test_a_row_that_contradicts_what_was_stated_is_invalid_and_its_neighbours_stay():
    data = "\n".join([row("a", 3), row("b", 3, m="x")]).encode()
    outcome = normalize(data, under(dialect(), stated={"generator_model": "w"}))
    assert reasons(outcome) == {1: ["manifest_contradiction"]}


def test_a_row_that_contradicts_its_manifest_is_invalid_and_missing_files_are_told():
    manifest = {"files": [{"file": "a/w", "generator_model": "other"}, {"file": "b/w"}, {"file": "c/w"}]}
    outcome = normalize("\n".join([row("a", 3), row("b", 3)]).encode(), under(dialect(), manifest=manifest))
    assert reasons(outcome) == {0: ["manifest_contradiction"]}
    assert [reason["code"] for reason in json.loads(outcome.header)["reasons"]] == ["file_without_entry"]


def test_a_judge_that_is_its_generator_must_be_labelled():
    assert reasons(normalize(row("a", 3, j="w").encode(), under(dialect()))) == {0: ["self_judging_unlabelled"]}
    stated = under(dialect(), stated={"self_judged": True})
    assert normalize(row("a", 3, j="w").encode(), stated).valid_count == 1


@pytest.mark.parametrize(
    ("score", "declared", "says"),
    [
        ("7/10", {}, "of_10"),
        ("x", {}, "labels"),
        (None, {}, "failed"),
        (True, {}, "booleans"),
    ],
)
def test_what_is_not_declared_is_invalid_and_the_reason_names_the_declaration(score, declared, says):
    fields = {**FIELDS, "scores": {"overall": {"at": "/r", **declared}}}
    outcome = normalize(row("a", score).encode(), under(dialect(fields=fields)))
    [line] = outcome.invalid.splitlines()
    [reason] = json.loads(line)["reasons"]
    assert reason["code"] == "not_declared"
    assert says in reason["message"]


@pytest.mark.parametrize(
    ("reply", "unwrap", "codes"),
    [
        ('{"r": 3}', [], []),
        ('```json\n{"r": 3}\n```', ["fence"], []),
        ('```json\n{"r": 3}\n```', [], ["not_declared"]),
        ('Well: {"r": 3}. Done', ["prose"], []),
        ('Well: {"r": 3}. Done', ["fence"], ["not_declared"]),
        ('{"r": 3} or {"r": 4}', ["prose", "fence"], ["judge_failed"]),
        ("```\n{\"r\": 3}\n```\n```\n{\"r\": 4}\n```", ["prose", "fence"], ["judge_failed"]),
        ("no idea", ["prose", "fence"], ["judge_failed"]),
        (None, ["prose", "fence"], ["judge_failed"]),
    ],
)  # fmt: skip
def test_a_reply_is_unwrapped_only_as_declared(reply, unwrap, codes):
    fields = {**FIELDS, "scores": {"overall": {"of": "reply", "at": "/r"}}}
    active = under(dialect(fields=fields, reply={"at": "/reply", "unwrap": unwrap}))
    assert reasons(normalize(row("a", 0, reply=reply).encode(), active)) == ({0: codes} if codes else {})


def test_rows_and_parts_that_are_not_selected_are_counted_and_their_bytes_come_back():
    active = under(dialect(select=[{"at": "/t", "is": ["score", 1]}]))
    data = "\n".join(
        [row("x", 1), row("a", 3, t="score"), row("y", 1, t="log"), row("b", 4, t=1.0), row("z", 1)]
    ).encode()
    outcome = normalize(data, active)
    assert (outcome.valid_count, outcome.invalid_count, outcome.unselected_count) == (2, 0, 3)
    [header] = [parse(line.encode(), 300) for line in outcome.header.splitlines()]
    assert rebuild_text(header, [parse(line.encode(), 300) for line in outcome.records.splitlines()]) == data


def test_a_file_that_breaks_off_leaves_nothing_behind():
    collected = Collected()
    data = b"q,m\n1,2\n\xff,3\n"
    active = under(dialect(container=[{"kind": "csv"}]))
    found = normalize_file(io.BytesIO(data), "0" * 64, len(data), active, collected)
    assert [reason.code for reason in found.reasons] == ["container_unreadable"]
    assert collected.lines == {"records": [], "invalid": []}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"fields": {**FIELDS, "file": {"at": "/q", "text": "x"}}}, "exactly one of"),
        ({"fields": {**FIELDS, "file": {"template": "no pointer"}}}, "pointers in braces"),
        ({"key": ["file", "turn"]}, "'turn'"),
        ({"fields": {**FIELDS, "scores": {"overall": {"at": "/r", "number": ["roman"]}}}}, "roman"),
        ({"entry": [{"take": "/a"}]}, "not both"),
    ],
)  # fmt: skip
def test_a_dialect_that_cannot_be_followed_is_refused_before_anything_is_read(changes, says):
    with pytest.raises(UnusableDocument, match=says):
        normalize(row("a", 3).encode(), under(dialect(**changes)))


def test_long_fractions_are_rounded_only_by_declaration():
    wide = {"name": "w", "dimensions": {"overall": {"scale": {"kind": "range", "minimum": 0, "maximum": 1}}}}
    data = b'{"q":"a","m":"w","r":0.6666666666666666}\n{"q":"b","m":"w","r":1.0}'
    plainly = {**FIELDS, "scores": {"overall": {"at": "/r"}}}
    assert reasons(normalize(data, under(dialect(fields=plainly, rubric=wide)))) == {0: ["score_not_allowed"]}
    rounded = {**FIELDS, "scores": {"overall": {"at": "/r", "places": 12}}}
    outcome = normalize(data, under(dialect(fields=rounded, rubric=wide)))
    first, second = map(json.loads, outcome.records.splitlines())
    assert '"overall":0.666666666667' in outcome.records
    assert '"overall":1.0' in outcome.records
    assert [step["as"] for step in first["source"]["dialect"]["steps"] if "as" in step] == ["template", "round 12"]
    assert [step["as"] for step in second["source"]["dialect"]["steps"] if "as" in step] == ["template"]


def test_a_long_text_that_a_dialect_names_ten_thousand_times_is_refused():
    row = json.dumps({"q": "q" * 50_000, "m": "w", "r": 3}).encode() + b"\n"
    many = dict(FIELDS, file={"template": "{/q}" * 10_000})
    outcome = normalize(row, under(dialect(fields=many)))
    assert json.loads(outcome.audit)["reasons"][0]["code"] == "container_unreadable"
    assert "naming a long text many times" in outcome.reasons[0].message
    levels = dict(FIELDS, factors={f"f{number}": {"at": "/q"} for number in range(2_000)})
    outcome = normalize(row, under(dialect(fields=levels)))
    assert "naming a long text many times" in outcome.reasons[0].message


def test_a_value_of_the_document_that_every_record_repeats_may_not_fill_the_disk():
    rows = [{"q": str(number), "m": "w", "r": 3, "j": "j"} for number in range(100)]
    around = {"judge": "j" * 1_000_000, "rows": rows}
    fields = dict(FIELDS, judge_model={"of": "document", "at": "/judge"})
    given = dialect(container=[{"kind": "json", "rows": "/rows/*"}], fields=fields)
    outcome = normalize(json.dumps(around).encode(), under(given))
    assert outcome.records == outcome.invalid == ""
    assert "what each of them repeats of its run is too long" in outcome.reasons[0].message
    around["judge"] = "j" * 10_000
    assert normalize(json.dumps(around).encode(), under(given)).valid_count == 100


def test_the_reason_of_cells_that_cannot_be_read_is_in_our_words():
    given = dialect(container=[{"kind": "csv"}])
    outcome = normalize(b'q,m,r,j\na,w,3,j\n"b"x,w,3,j\nc,w,3,j\n', under(given))
    [line] = outcome.invalid.splitlines()
    assert json.loads(line)["reasons"][0]["message"] == (
        "line 3 cannot be read: its quotation marks are not those of RFC 4180: quote whole cells, and double the marks "
        "in them"
    )
    assert outcome.valid_count == 2


ODD: dict[str, tuple[dict[str, Any], str]] = {
    "headerless": (
        {"container": [{"kind": "csv", "delimiter": ":", "columns": ["q", "m", "r", "j"]}]},
        "a:w:3:j\nb:w:ERROR 5:j\n",
    ),
    "a tree": (
        {"container": [{"kind": "json", "rows": "/**/leaf"}]},
        '{"x": {"leaf": {"q": "a", "m": "w", "j": "j", "r": "3"}}, '
        '"y": [[{"leaf": {"q": "b", "m": "w", "r": "ERROR"}}]]}',
    ),
    "free text": (
        {},
        '{"q": "a", "m": "w", "j": "j", "r": "I give it [[3]], no more."}\n{"q": "b", "m": "w", "r": "ERROR [[3]]"}\n',
    ),
}


@pytest.mark.parametrize("case", sorted(ODD))
@pytest.mark.parametrize("packed", [False, True])
def test_headerless_tables_trees_and_free_text_give_records_and_their_bytes_back(case, packed):
    changes, text = ODD[case]
    score = {"at": "/r", "pattern": r"^(?:.*\[\[)?([0-9])", "number": ["plain"], "failed_like": ["^ERROR"]}
    document = dialect(fields={**FIELDS, "scores": {"overall": score}}, **changes)
    data = gzip.compress(text.encode(), mtime=0) if packed else text.encode()
    outcome = normalize(data, under(document))
    assert outcome.valid_count == 1
    assert list(reasons(outcome).values()) == [["judge_failed"]]
    [record] = [json.loads(line) for line in outcome.records.splitlines()]
    assert record["scores"] == {"overall": 3}
    steps = {step["put"]: step.get("as") for step in record["source"]["dialect"]["steps"]}
    assert steps["/scores/overall"] in ("pattern", "pattern number plain")
    lines = [parse(line.encode(), 300) for line in (outcome.records + outcome.invalid).splitlines()]
    [header] = [parse(line.encode(), 300) for line in outcome.header.splitlines()]
    assert rebuild_text(header, lines) == text.encode()
    assert header["header"].get("packed") == ("gzip" if packed else None)


@given(scores=st.lists(st.sampled_from(["1", "5", " 3 ", "x", ""]), min_size=1, max_size=5))
def test_a_text_is_split_into_one_entry_a_piece(scores):
    fields = {
        **FIELDS,
        "scores": {"overall": {"of": "part", "at": "", "number": ["plain"], "failed": ["", "x"]}},
        "factors": {"repeat": {"key": True}},
    }
    document = dialect(fields=fields, split="/r/*", split_text=",", key=["file", "repeat"])
    data = json.dumps({"q": "a", "m": "w", "j": "j", "r": ",".join(scores)}).encode()
    outcome = normalize(data, under(document))
    made = [json.loads(line) for line in (outcome.records + outcome.invalid).splitlines()]
    by_piece = {record["factors"]["repeat"]: record.get("scores") for record in made}
    wanted = {str(n): {"overall": int(s)} if s.strip().isdigit() else None for n, s in enumerate(scores)}
    assert by_piece == wanted
    places = [step["as"] for record in made for step in record["source"]["dialect"]["steps"] if step["put"] == "part:"]
    assert sorted(places) == [f"piece {n}" for n in range(len(scores))]
    lines = [parse(line.encode(), 300) for line in (outcome.records + outcome.invalid).splitlines()]
    assert rebuild_text(parse(outcome.header.encode(), 300), lines) == data


def test_a_criterion_that_does_not_apply_leaves_the_others():
    fields = {**FIELDS, "scores": {"overall": {"of": "part", "at": ""}}, "factors": {"criterion": {"key": True}}}
    document = dialect(
        fields=fields,
        parts=["/tone", "/style"],
        key=["file", "criterion"],
        select_part=[{"at": "", "is_not": ["N/A"]}],
    )
    data = json.dumps({"q": "a", "m": "w", "j": "j", "tone": "N/A", "style": 4}).encode()
    outcome = normalize(data, under(document))
    assert (outcome.valid_count, outcome.invalid_count, outcome.unselected_count) == (1, 0, 1)
    assert rebuild_text(parse(outcome.header.encode(), 300), [parse(outcome.records.encode(), 300)]) == data
