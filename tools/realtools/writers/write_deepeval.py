"""DeepEval: two metrics on three test cases, one judged by a mock model, one of which raises an error once."""

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_RESULTS_FOLDER": str(Path("results").resolve())}

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric, GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, LLMTestCaseParams


class MockJudge(DeepEvalBaseLLM):  # type: ignore[misc]
    """A judge that gives 9 of 10, or 2 where the answer is bad."""

    def __init__(self) -> None:
        pass

    def load_model(self) -> Any:
        return self

    def get_model_name(self) -> str:
        return "mock-judge"

    def generate(self, prompt: str, schema: Any = None, **_: Any) -> Any:
        reply = {"reason": "poor", "score": 2} if "bad" in prompt else {"reason": "fine", "score": 9}
        return json.dumps(reply) if schema is None else schema(**reply)

    async def a_generate(self, prompt: str, schema: Any = None, **_: Any) -> Any:
        return self.generate(prompt, schema)


class Length(BaseMetric):  # type: ignore[misc]
    """The length of the answer over ten. It fails on the third case."""

    def __init__(self) -> None:
        self.threshold, self.async_mode, self.evaluation_model = 0.5, False, "length"

    def measure(self, case: Any, *_: Any, **__: Any) -> float:
        if case.name == "c":
            raise ValueError("no length")
        self.score = len(case.actual_output) / 10
        self.reason, self.success = "length", self.score > self.threshold
        return self.score

    async def a_measure(self, case: Any, *_: Any, **__: Any) -> float:
        return self.measure(case)

    def is_successful(self) -> bool:
        return self.success

    @property
    def __name__(self) -> str:
        return "Length"


def main() -> None:
    """Evaluate, and take the scores that DeepEval lists for each metric."""
    shown = [LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT]
    judged = GEval(name="Correctness", evaluation_steps=["Compare."], evaluation_params=shown, model=MockJudge())
    answers = {"a": "good", "b": "bad one", "c": "xx"}
    evaluate(
        [LLMTestCase(name=name, input="q", actual_output=text) for name, text in answers.items()],
        [judged, Length()],
        error_config=ErrorConfig(ignore_errors=True),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        async_config=AsyncConfig(run_async=False),
    )
    [path] = Path("results").glob("*.json")
    published = [
        {
            "of": f"{one['metric']} of metricsScores",
            "where": {"factors.metric": one["metric"]},
            "mean": sum(one["scores"]) / len(one["scores"]),
        }
        for one in json.loads(path.read_text())["metricsScores"]
    ]
    stated = {"generator_model": "mock-writer"}
    file = {"file": str(path), "dialect": "deepeval", "set": stated, "entries": 6, "published": published}
    with open("told.json", "w") as out:
        json.dump({"tool": f"deepeval {version('deepeval')}", "files": [file]}, out)


main()
