"""Ledgers for benchmarks: four judges, every artifact judged by two of them, five dimensions with evidence."""

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

from normalizer.documents.settings import Settings, load
from normalizer.ledger.buckets import Chunk, raw_place, split
from normalizer.ledger.commit_record import encode, line_file, node_name
from normalizer.ledger.commit_tree import arrange_tree
from normalizer.ledger.record_index import make_index
from normalizer.screening.pipeline import line

DIMENSIONS = ("A_structure", "B_snapshot_constraint", "C_actionability", "D_completeness", "E_drift_failure")
PASSAGE = "the answer keeps to its task and lists each step in order"
A_BUNDLE = 500


def make(folder: Path, records: int) -> None:
    """Write a ledger such as `normalize` writes, the same on every machine."""
    settings = load()
    folder.mkdir(parents=True)
    (folder / "settings").mkdir()
    for digest, text in settings.documents.items():
        (folder / "settings" / f"{digest}.json").write_text(text + "\n")
    raw = {hashlib.sha256(data).hexdigest(): data for data in (b"%d" % n for n in range(-(-records // A_BUNDLE)))}
    shas = sorted(raw)
    entries = [min(A_BUNDLE, records - number * A_BUNDLE) for number in range(len(shas))]
    lines = {
        "records": _records(shas, entries),
        "invalid": iter(()),
        "headers": (Chunk(sha256, _header(sha256, some, settings)) for sha256, some in zip(shas, entries, strict=True)),
        "audit": iter(()),
    }
    files = []
    for kind, content in lines.items():
        for place, data in split(kind, "", content):
            (folder / place.name).write_bytes(data)
            index = None
            if place.index_name is not None:
                index = make_index(data)
                (folder / place.index_name).write_bytes(index)
            files.append(line_file(place, data, index))
    for node in arrange_tree(files):
        (folder / node_name(node.prefix)).write_bytes(encode(node))
    for sha256 in shas:  # a number is no bundle: `audit` would find that the records do not follow from it
        raw_place(folder, sha256).parent.mkdir(parents=True, exist_ok=True)
        raw_place(folder, sha256).write_bytes(raw[sha256])


def _records(shas: list[str], entries: list[int]) -> Iterator[Chunk]:
    chance = random.Random(11)
    for number, (sha256, some) in enumerate(zip(shas, entries, strict=True)):
        yield Chunk(sha256, "".join(_bundle(number, sha256, some, chance)).encode())


def _bundle(number: int, sha256: str, entries: int, chance: random.Random) -> list[str]:
    evidence = ",".join(f'"{key}":"{PASSAGE}"' for key in DIMENSIONS)
    half, judge = divmod(number, 2)
    judges = ("judge-a", "judge-b") if half % 2 else ("judge-c", "judge-d")
    lines = []
    for index in range(entries):
        artifact = half * A_BUNDLE + index
        scores = ",".join(f'"{key}":{chance.getrandbits(8) % 3}' for key in DIMENSIONS)
        lines.append(
            line(
                f'"source":{{"bundle_sha256":"{sha256}","index":{index},"pointer":"/per_file_scores/{index}"}},'
                f'"file":"out/{artifact}.pdf","scores":{{{scores}}},"evidence":{{{evidence}}},'
                f'"artifact":"out/{artifact}.pdf","run_id":"run-{number}","protocol_version":"p-1",'
                f'"judge_model":"{judges[judge]}","generator_model":"writer-{artifact % 3}","phase":2,'
                f'"self_judged":false,"rubric":"prompt-drift-v1",'
                f'"factors":{{"question_id":"q{artifact % 50}","prompt_version":"v{artifact % 2}"}}'
            )
        )
    return lines


def _header(sha256: str, entries: int, settings: Settings) -> bytes:
    identity = json.dumps(settings.identity, separators=(",", ":"))
    text = (
        f'{{"bundle_sha256":"{sha256}","entries":{entries},"valid":{entries},"invalid":0,'
        f'"entries_at":"/per_file_scores","settings":{identity},"header":{{}},"reasons":[]}}\n'
    )
    return text.encode()
