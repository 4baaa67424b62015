"""Every example of the dialect reference reads a file as a user has it, and gives the file back."""

import gzip
import json
from typing import Any

import contract_spec as spec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import normalizer
from normalizer.cli import main

EXAMPLES: dict[str, dict[str, Any]] = {
    each["name"]: each for each in spec.resource("schemas/eval/dialect.json")["examples"] if "container" in each
}
STARS = {"kind": "integers", "minimum": 1, "maximum": 10}


def run(*argv, status=0):
    assert main([str(part) for part in argv]) == status, argv


def rubric(*names: str) -> dict[str, Any]:
    return {"name": "stars", "dimensions": {name: {"scale": STARS} for name in names}}


# By example: the file, its scoring scale, VALID and INVALID entries, and what one VALID record has.
FILES: dict[str, tuple[str, dict[str, Any] | None, int, int, dict[str, Any]]] = {
    "ratings": (
        '{"question": 81, "model": "vicuna-13b", "judge": "gpt-4", "rating": "8"}\n'
        '{"question": 82, "model": "vicuna-13b", "judge": "gpt-4", "rating": -1}\n',
        rubric("overall"),
        1,
        1,
        {"file": "81/vicuna-13b", "scores": {"overall": 8}},
    ),
    "duels": (
        '{"question": "q1", "left": "x", "right": "y", "winner": "tie", "judge": "j"}\n'
        '{"question": "q2", "left": "x", "right": "y", "winner": "error", "judge": "j"}\n',
        None,
        1,
        1,
        {"item": "q1", "verdict": "draw"},
    ),
    "headerless": (
        "q1:x:4\nq2:x:ERROR 503\nq1:y:5\n",
        rubric("stars"),
        2,
        1,
        {"generator_model": "y", "scores": {"stars": 5}},
    ),
    "free-text": (
        '{"topic": "math", "number": 1, "models": "x vs y", "judgement": "A is terse.\\n[[B]]", "swapped": true, '
        '"judge": "j"}\n'
        '{"topic": "math", "number": 2, "models": "x vs y", "judgement": "Both [[A]] and [[B]].", "swapped": false, '
        '"judge": "j"}\n',
        None,
        1,
        1,
        {"item": "math/1", "a": "x", "b": "y", "outcome": {"winner": "a"}},
    ),
    "winner-by-name": (
        '{"run": {"day 1": [{"battle": {"id": "i", "left": "x", "right": "y", "winner": "y", "judge": "j"}}], '
        '"deep": {"er": {"battle": {"id": "k", "left": "x", "right": "y", "winner": null, "judge": "j"}}}}}',
        None,
        1,
        1,
        {"item": "i", "verdict": "b"},
    ),
    "scores-in-one-text": (
        '{"id": "a", "model": "m", "judge": "m", "scores": "4, N/A, 5"}\n',
        rubric("score"),
        2,
        0,
        {"self_judged": True, "factors": {"round": "2"}, "scores": {"score": 5}},
    ),
    "several-dimensions": (
        "dialogue;turn;system;rater;fluent;grounded;polite\n"
        "d1;1;x;anna;4;N/A;yes\nd1;2;x;anna;5;3;\nd1;3;x;anna;;3;no\n",
        None,
        2,
        1,
        {"file": "d1/1", "scores": {"fluent": 4, "polite": 1}},
    ),
}


def has(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(has(value.get(key), inner) for key, inner in wanted.items())
    return bool(value == wanted)


def test_every_example_has_a_file():
    assert FILES.keys() == EXAMPLES.keys()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", sorted(FILES))
def test_an_example_reads_its_file_and_gives_it_back(name, packed, tmp_path, capsysbinary):
    text, scale, valid, invalid, wanted = FILES[name]
    (tmp_path / "dialect.json").write_text(json.dumps(EXAMPLES[name]))
    file = tmp_path / "judgements"
    file.write_bytes(gzip.compress(text.encode(), mtime=0) if packed else text.encode())
    given_scale = []
    if scale is not None:
        (tmp_path / "rubric.json").write_text(json.dumps(scale))
        given_scale = ["--rubric", tmp_path / "rubric.json"]
    run("lint", "--dialect", tmp_path / "dialect.json")
    ledger = tmp_path / "ledger"
    stated = ("--set", "phase=1", "--set", "protocol_version=p")
    run("normalize", file, "--dialect", tmp_path / "dialect.json", *given_scale, *stated, "--out", ledger,
        status=int(invalid > 0))  # fmt: skip
    lines = {kind: list(normalizer.open(ledger).lines(invalid=kind)) for kind in (False, True)}
    assert (len(lines[False]), len(lines[True])) == (valid, invalid)
    assert any(has(json.loads(line), wanted) for line in lines[False])
    assert all(json.loads(line)["reasons"][0]["code"] == "judge_failed" for line in lines[True])
    [bundle] = (ledger / "bundles").glob("*/*")
    capsysbinary.readouterr()
    run("restore", ledger, bundle.stem)
    assert capsysbinary.readouterr().out == file.read_bytes()
    run("restore", ledger, bundle.stem, "--from-records")
    assert capsysbinary.readouterr().out == text.encode()


def test_files_of_two_dialects_are_one_study(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"question": 1, "model": "x", "judge": "j", "rating": 8}\n')
    (tmp_path / "b.csv").write_text("1/x:x:6\n")
    for name in ("ratings", "headerless"):
        fields = EXAMPLES[name]["fields"]
        scores = {"overall": next(iter(fields["scores"].values()))}
        stated = {"phase": 1, "protocol_version": "this"}
        document = {**EXAMPLES[name], **stated, "fields": {**fields, "scores": scores}}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    (tmp_path / "rubric.json").write_text(json.dumps(rubric("overall")))
    for file, name in (("a.jsonl", "ratings"), ("b.csv", "headerless")):
        run("normalize", tmp_path / file, "--dialect", tmp_path / f"{name}.json", "--rubric",
            tmp_path / "rubric.json", "--out", tmp_path / "ledger")  # fmt: skip
    [row] = normalizer.open(tmp_path / "ledger").summary(by=["generator_model"]).rows
    assert (row.n_records, row.n_judges, row.total.mean) == (2, 2, 7)


SCORE = st.sampled_from([None, 1, 2, 3, 4, 5])


@settings(max_examples=10, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(rows=st.lists(st.tuples(SCORE.filter(bool), SCORE, SCORE), min_size=2, max_size=12), every=st.booleans())
def test_means_of_optional_dimensions_are_of_the_records_that_have_them(rows, every):
    names = ("clear", "kind", "true")
    dimensions = {name: {"scale": STARS, "optional": every or name != "clear"} for name in names}
    dialect = {
        "name": "d", "phase": 1, "protocol_version": "this", "container": [{"kind": "jsonl"}],
        "fields": {
            "file": {"at": "/id"},
            "scores": {name: {"at": f"/{name}", "omitted": [None]} for name in names},
            "judge_model": {"text": "j"}, "generator_model": {"text": "g"},
        },
        "rubric": {"name": "r", "dimensions": dimensions},
    }  # fmt: skip
    data = [{"id": f"{n}", **dict(zip(names, row, strict=True))} for n, row in enumerate(rows)]
    ledger = normalizer.read(data, dialect=dialect)
    assert [json.loads(line)["scores"] for line in ledger.lines()] == [
        {name: score for name, score in zip(names, row, strict=True) if score is not None} for row in rows
    ]
    [row] = ledger.summary().rows
    for place, name in enumerate(names):
        there = [each[place] for each in rows if each[place] is not None]
        found = row.dimensions[name]
        assert found.mean == (pytest.approx(sum(there) / len(there), abs=1e-6) if there else None)
        if dimensions[name]["optional"]:
            assert found.n == len(there)
        alone = [each.total.mean for each in ledger.summary(where={"dimension": name}).rows]
        assert alone in ([found.mean], [])
    assert row.total.mean == (None if every else row.dimensions["clear"].mean)
    assert row.n == len(rows)
