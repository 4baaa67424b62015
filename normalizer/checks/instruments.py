"""The instruments behind records: judge, prompt, rubric and the way of calling, as far as the records say."""

from collections import Counter
from pathlib import Path
from typing import Any

from normalizer.documents.lossless import loads_plain
from normalizer.ledger.line_format import sha_slice
from normalizer.ledger.reader import Ledger, reading

_KEYS = (
    "judge_model",
    "judge_kind",
    "judge_prompt_version",
    "judge_version",
    "judge_settings",
    "prompt_sha256",
    "judge",
    "rubric",
    "rubric_sha256",
)


def instruments(folders: tuple[Path, ...]) -> list[dict[str, Any]]:
    """Return every instrument with the counts of its records, sorted. A bundle that two ledgers have counts once."""
    counts: Counter[tuple[tuple[str | None, ...], str]] = Counter()
    seen: set[str] = set()
    for folder in folders:
        with reading(folder) as ledger:
            about = {sha256: given for sha256, given in _of_bundles(ledger).items() if sha256 not in seen}
            for kind in ("records", "invalid"):
                for line in ledger.iterate_checked_lines(kind):
                    given = about.get(line[sha_slice(kind)].decode("ascii"))
                    if given is not None:
                        _count(counts, kind, loads_plain(line), given)
            seen |= about.keys()
    known = sorted({identity for identity, _ in counts}, key=lambda identity: [text or "" for text in identity])
    return [
        {
            **dict(zip(_KEYS, identity, strict=True)),
            "valid": counts[identity, "records"],
            "invalid": counts[identity, "invalid"],
            "judge_failed": counts[identity, "judge_failed"],
        }
        for identity in known
    ]


def _count(
    counts: Counter[tuple[tuple[str | None, ...], str]], kind: str, record: dict[str, Any], given: dict[str, str | None]
) -> None:
    own = {"judge_kind": "model", **{key: record.get(key) for key in _KEYS[:5] if record.get(key) is not None}}
    if record.get("judge_prompt_sha256") is not None:
        own["prompt_sha256"] = record["judge_prompt_sha256"]
    rubric = {key: record.get(key) for key in ("rubric", "rubric_sha256")}
    known = {**given, **rubric, **own}
    identity = tuple(None if known.get(key) is None else str(known[key]) for key in _KEYS)
    counts[identity, kind] += 1
    if any(reason["code"] == "judge_failed" for reason in record.get("reasons", ())):
        counts[identity, "judge_failed"] += 1


def _of_bundles(ledger: Ledger) -> dict[str, dict[str, str | None]]:
    """Return what each bundle's header says of its judge."""
    found = {}
    for header in ledger.items("headers"):
        meta = header["header"].get("bundle_meta", {})
        made = meta if type(meta) is dict and meta.get("made_by") == "normalizer judge" else {}
        found[header["bundle_sha256"]] = {
            "prompt_sha256": made.get("prompt_sha256"),
            "judge": made.get("judge"),
        }
    return found
