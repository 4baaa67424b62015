"""lm-evaluation-harness: a multiple-choice task of our own with its dummy model."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

COUNT = 20


def main() -> None:
    """Run the task, and take the means of results_*.json."""
    rows = [{"question": f"{n}+{n}=", "choices": [str(2 * n), str(2 * n + 1)], "gold": 0} for n in range(COUNT)]
    Path("data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = {
        "task": "sums",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(Path("data.jsonl").resolve())}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}}",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "{{gold}}",
        "metric_list": [
            {"metric": name, "aggregation": "mean", "higher_is_better": True} for name in ("acc", "acc_norm")
        ],
    }
    Path("sums.yaml").write_text(json.dumps(task))
    command = [sys.executable, "-m", "lm_eval", "--model", "dummy", "--tasks", "sums", "--include_path", "."]
    subprocess.run([*command, "--log_samples", "--output_path", "out"], check=True)
    [results] = Path("out").rglob("results_*.json")
    [samples] = Path("out").rglob("samples_sums_*.jsonl")
    figures = json.loads(results.read_text())["results"]["sums"]
    published = [
        {"of": f"{name} of results.json", "where": {"factors.metric": name}, "mean": figures[f"{name},none"]}
        for name in ("acc", "acc_norm")
    ]
    stated = {"generator_model": "dummy", "judge_model": "metric"}
    file = {"file": str(samples), "dialect": "lm-eval", "set": stated, "entries": COUNT * 2, "published": published}
    with open("told.json", "w") as out:
        json.dump({"tool": f"lm-eval {version('lm-eval')}", "files": [file]}, out)


main()
