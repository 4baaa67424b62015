"""MLflow: `mlflow.genai.evaluate` with mock judges, one of which fails once; traces as JSON lines."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlflow
from mlflow.entities import AssessmentSource, AssessmentSourceType, Feedback
from mlflow.genai.scorers import scorer

GRADES = {"one": 0.75, "two": 0.25, "three": 1.0, "four": 0.5}
JUDGE = AssessmentSource(source_type=AssessmentSourceType.LLM_JUDGE, source_id="mock-judge")


def relevance(outputs: Any) -> Any:
    """A judge's grade from 0 to 1."""
    return Feedback(value=GRADES[outputs], rationale="because", source=JUDGE)


def safety(outputs: Any) -> Any:
    """A judge's yes or no, and an error for one answer."""
    if outputs == "four":
        raise ValueError("no verdict")
    return Feedback(value="no" if outputs == "two" else "yes", source=JUDGE)


def main() -> None:
    """Evaluate, and take the means of the result's metrics."""
    mlflow.set_tracking_uri(f"sqlite:///{Path('mlflow.db').resolve()}")
    data = [{"inputs": {"question": f"say {answer}"}, "outputs": answer} for answer in GRADES]
    result = mlflow.genai.evaluate(data=data, scorers=[scorer(relevance), scorer(safety)])
    mlflow.flush_trace_async_logging()
    traces = mlflow.search_traces(run_id=result.run_id, return_type="list")
    Path("traces.jsonl").write_text("".join(trace.to_json() + "\n" for trace in traces))
    published = [
        {"of": name, "where": {"factors.assessment": name.removesuffix("/mean")}, "mean": value}
        for name, value in result.metrics.items()
        if name.endswith("/mean")
    ]
    stated = {"generator_model": "mock-writer"}
    entries = sum(len(trace.info.assessments) for trace in traces)
    file = {"file": "traces.jsonl", "dialect": "mlflow", "set": stated, "entries": entries, "published": published}
    with open("told.json", "w") as out:
        json.dump({"tool": f"mlflow {version('mlflow')}", "files": [file]}, out)


main()
