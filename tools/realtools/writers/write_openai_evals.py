"""OpenAI evals: a `match` eval of our own with the tool's dummy model."""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

# Imported by the tool at its start and not used by this eval.
for name in ("evals.utils.snowflake",):
    module: Any = ModuleType(name)
    module.SnowflakeConnection = object
    sys.modules[name] = module
os.environ.setdefault("OPENAI_API_KEY", "none")

from evals.cli import oaieval  # noqa: E402

COUNT = 10


def main() -> None:
    """Run the eval, and take the accuracy of its final report."""
    for folder in ("registry/evals", "registry/data/ours"):
        Path(folder).mkdir(parents=True)
    rows = [{"input": f"Say {n}.", "ideal": "This is" if n % 3 else "That is"} for n in range(COUNT)]
    samples = Path("registry/data/ours/samples.jsonl").resolve()
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = {"class": "evals.elsuite.basic.match:Match", "args": {"samples_jsonl": str(samples)}}
    registry = {"ours": {"id": "ours.test.v1", "metrics": ["accuracy"]}, "ours.test.v1": made}
    Path("registry/evals/ours.yaml").write_text(json.dumps(registry))
    arguments = ["dummy", "ours", "--registry_path", str(Path("registry").resolve()), "--record_path", "log.jsonl"]
    oaieval.run(oaieval.get_parser().parse_args(arguments))
    events = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    report = next(event["final_report"] for event in events if "final_report" in event)
    file = {
        "file": "log.jsonl",
        "dialect": "openai-evals",
        "set": {"judge_model": "match"},
        "entries": COUNT,
        "published": [{"of": "accuracy of final_report", "where": {}, "mean": report["accuracy"]}],
    }
    with open("told.json", "w") as out:
        json.dump({"tool": f"evals {version('evals')}", "files": [file]}, out)


main()
