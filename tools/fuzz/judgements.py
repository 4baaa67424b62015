"""Targets that normalize: judge bundles, and files of other tools through the shipped dialects."""

import json
from functools import cache
from typing import Any

import contract_spec as spec

from normalizer.containers import shipped
from normalizer.documents import lossless
from normalizer.documents.settings import Settings, load
from normalizer.ledger.line_format import COMPARISON_MARK
from normalizer.screening.pipeline import BundleOutcome, normalize
from normalizer.screening.raw_rows import rebuild, rebuild_text
from tests.normalizer.containers.test_shipped import CASES, STATED, fixture
from tools.fuzz.target import Target

_DEPTH = 300
_SHIPPED = sorted(CASES)


def bundle(data: bytes) -> None:
    """A judge bundle gives one record for each entry, from which its document can be rebuilt, or is kept as unreadable.

    The first byte says whether the run is stated to be of phase 2, or states nothing itself.
    """
    settings = _settings(None, data[:1] > b"\x7f")
    outcome = normalize(data[1:], settings)
    header, records = _checked(outcome)
    if header is None:
        return
    document = lossless.parse(data[1:], _DEPTH)
    assert lossless.dumps(rebuild(header, records)) == lossless.dumps(document), "the document is not rebuilt"
    assert normalize(data[1:], settings) == outcome


def rows(data: bytes) -> None:
    """A file read by a shipped dialect gives back its bytes from its records, or is kept as unreadable.

    The first byte chooses the dialect.
    """
    name = _SHIPPED[data[0] % len(_SHIPPED)] if data else _SHIPPED[0]
    settings = _settings(name, False)
    outcome = normalize(data[1:], settings)
    header, records = _checked(outcome)
    if header is None:
        return
    if header["header"]["container"] != "zip":
        assert rebuild_text(header, records) == data[1:], "the bytes are not rebuilt"
    assert normalize(data[1:], settings) == outcome


@cache
def _settings(dialect: str | None, strict: bool) -> Settings:
    if dialect is None:
        return load(stated=b'{"phase":2}') if strict else load()
    stated = STATED | {field: f"stated-{field}" for field in CASES[dialect][4]}
    return load(dialect=shipped.read_dialect(dialect), stated=json.dumps(stated).encode())


def _checked(outcome: BundleOutcome) -> tuple[Any, list[Any]]:
    """Return the header, if there is one, and all records. Lines must fit their schemas, counts must be right."""
    compares = COMPARISON_MARK in outcome.header
    headers = _lines("bundle_header", outcome.header)
    valid = _lines("comparison_record" if compares else "eval_record", outcome.records)
    invalid = _lines("invalid_comparison" if compares else "invalid_record", outcome.invalid)
    audit = _lines("audit_item", outcome.audit)
    assert (len(valid), len(invalid)) == (outcome.valid_count, outcome.invalid_count)
    assert outcome.unreadable_count <= outcome.invalid_count
    assert len(headers) + len(audit) == 1, "a bundle has a header or is unreadable"
    return (headers[0] if headers else None), valid + invalid


def _lines(kind: str, text: str) -> list[Any]:
    values = [lossless.parse(line.encode(), _DEPTH) for line in text.splitlines()]
    for value in values:
        assert not spec.violations(f"eval/{kind}.json", lossless.to_builtin(value)), value
    return values


_SCORES = b'{"A_structure":2,"B_snapshot_constraint":1.0,"C_actionability":0,"D_completeness":2,"E_drift_failure":1}'
_ENTRY = b'{"file":"a.pdf","scores":' + _SCORES + b',"evidence":{"A_structure":"x"},"total":6}'
_RUN = b'"phase":1,"judge_model":"j","protocol_version":"p"'
_COMPARISON = b'{"item":"i","a":"g","b":"h","verdict":"a","order":"ba","verdict_about":"positions"}'
TARGETS = {
    "bundle": Target(
        bundle,
        (
            b"\0{" + _RUN + b',"generator_model":"g","per_file_scores":[' + _ENTRY + b"]}",
            b'\xff{"per_file_scores":[' + _ENTRY + b",{}," + _ENTRY.replace(b"a.pdf", b"b.pdf") + b'],"notes":"n"}',
            b'\0{"per_comparison":[' + _COMPARISON + b"]," + _RUN + b"}",
        ),
        (
            *(_ENTRY, _SCORES, _COMPARISON, b'"\\ud800"', b"\\u0000"),
            *b'"per_file_scores":[ "per_comparison":[ "file": "scores":{ "evidence":{ "total": "notes":'.split(),
            *b'"self_judged":true "factors":{ "verdict":"both_bad" "verdict":{"a":1,"b":2} "order":"unknown"'.split(),
            *b'"phase": "judge":"g" 1e400 -0 2.0 null'.split(),
        ),
        "a vector in tests/conformance/normalizer",
    ),
    "rows": Target(
        rows,
        tuple(bytes([number]) + fixture(name) for number, name in enumerate(_SHIPPED)),
        (
            *(b"\n", b"\r\n", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b",", b'"', b"null", b"NaN", b"-1", b"1e400"),
            *(b'"score":', b'"model":', b'"scores":{', b'"metrics":', b'"value":', b'"error":', b'"[[A>B]]"', b"\0"),
        ),
        "a case in tests/normalizer/containers/test_shipped.py",
    ),
}
