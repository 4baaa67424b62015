"""Small studies for tests of aggregation: bundles made up, a ledger of them, a plain model of what must come out."""

import json
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.batch.run import run
from normalizer.cli import main
from normalizer.documents.settings import load
from tests.support.bundles import DIMENSIONS

Key = tuple[Any, ...]


class Verdict(NamedTuple):
    """One entry of a study, before it is written into a bundle."""

    judge: str
    generator: str
    artifact: str
    scores: tuple[int, ...]
    phase: int = 1
    question: str = "q1"
    protocol: str = "p-1"
    run: str = "r-1"

    @property
    def self_judged(self) -> bool:
        return self.judge == self.generator

    @property
    def total(self) -> Fraction:
        return Fraction(sum(self.scores))


def bundles_of(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """One bundle for all that share a judge, generator, phase, question, protocol and run."""
    grouped: dict[Key, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        grouped[(*verdict[:2], *verdict[4:])].append(verdict)
    return [
        {
            "run_id": group[0].run,
            "protocol_version": group[0].protocol,
            "judge_model": group[0].judge,
            "generator_model": group[0].generator,
            "phase": group[0].phase,
            "self_judged": group[0].self_judged,
            "factors": {"question": group[0].question},
            "per_file_scores": [
                {"file": verdict.artifact, "scores": dict(zip(DIMENSIONS, verdict.scores, strict=True))}
                for verdict in group
            ],
        }
        for group in grouped.values()
    ]


def ledger_of(folder: Path, documents: Iterable[Any], **settings: Any) -> Path:
    """A ledger of bundles; settings are documents by kind."""
    given = {kind: json.dumps(value).encode() for kind, value in settings.items()}
    sources = folder / f"bundles-{len(list(folder.iterdir()))}"
    sources.mkdir()
    for number, document in enumerate(documents):
        text = document if isinstance(document, str) else json.dumps(document)
        (sources / f"{number}.json").write_text(text)
    run(map(str, sorted(sources.iterdir())), folder / "ledger", load(**given))
    return folder / "ledger"


def output(capsys: Any, *arguments: str, status: int = 0) -> Any:
    """What a command prints as JSON."""
    capsys.readouterr()
    found = main([*arguments, "--format", "json"])
    caught = capsys.readouterr()
    assert found == status, caught.err
    return json.loads(caught.out)


def refusal(capsys: Any, *arguments: str) -> str:
    """Why a command could not run."""
    capsys.readouterr()
    assert main(list(arguments)) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    message: str = caught.err
    return message


class Model(NamedTuple):
    """What a row must say, worked out the slow way."""

    n: int
    n_records: int
    mean: Fraction | None
    variance: Fraction | None
    low: Fraction | None
    high: Fraction | None


def model(verdicts: list[Verdict], unit: str) -> Model:
    """A row of eligible verdicts of one group."""
    if all(verdict.self_judged for verdict in verdicts):
        return Model(0, 0, None, None, None, None)
    if unit == "record":
        values = [verdict.total for verdict in verdicts]
    else:
        judged: dict[Key, dict[str, list[Fraction]]] = defaultdict(lambda: defaultdict(list))
        for verdict in verdicts:
            judged[verdict.artifact, verdict.generator][verdict.judge].append(verdict.total)
        values = [mean([mean(totals) for totals in judges.values()]) for judges in judged.values()]
    middle = mean(values)
    variance = sum(((value - middle) ** 2 for value in values), Fraction(0)) / (len(values) - 1) if values[1:] else None
    return Model(len(values), len(verdicts), middle, variance, min(values), max(values))


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)
