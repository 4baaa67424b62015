"""Langfuse: scores as the SDK's own types write them. Langfuse computes means in its server only."""

import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langfuse.api.commons.types.score import Score_Numeric
from langfuse.api.scores.types.score_v3 import ScoreV3_Boolean, ScoreV3_Numeric

WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
COMMON: dict[str, Any] = {
    "source": "EVAL",
    "timestamp": WHEN,
    "created_at": WHEN,
    "updated_at": WHEN,
    "environment": "default",
}


def main() -> None:
    """Write a file for each of the two versions of the score API."""
    older = [
        Score_Numeric(id=f"s{n}", trace_id=f"t{n}", name="helpful", value=n / 4, comment="because", **COMMON)
        for n in range(5)
    ]
    newer: list[Any] = [
        ScoreV3_Numeric(
            id=f"s{n}", project_id="p", name="helpful", value=n / 4, subject={"kind": "trace", "id": f"t{n}"}, **COMMON
        )
        for n in range(5)
    ]
    newer += [
        ScoreV3_Boolean(
            id=f"b{n}",
            project_id="p",
            name="safe",
            value=bool(n % 2),
            subject={"kind": "observation", "id": f"o{n}", "traceId": f"t{n}"},
            **COMMON,
        )
        for n in range(4)
    ]
    files = []
    for name, scores in (("scores.jsonl", older), ("scores-v3.jsonl", newer)):
        Path(name).write_text("".join(one.model_dump_json(by_alias=True) + "\n" for one in scores))
        stated = {"judge_model": "mock-judge", "generator_model": "mock-writer"}
        files.append({"file": name, "dialect": "langfuse", "set": stated, "entries": len(scores), "published": []})
    with open("told.json", "w") as out:
        json.dump({"tool": f"langfuse {version('langfuse')}", "files": files}, out)


main()
