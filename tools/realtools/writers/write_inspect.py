"""Inspect AI: the same task as a .eval archive and as JSON, with graders that once give no grade or several values."""

import json
from importlib.metadata import version
from typing import Any
from urllib.parse import unquote, urlsplit

import tiktoken


class _Tokens:
    """Stands for tiktoken's encodings, which it would download."""

    def encode(self, *_: Any, **__: Any) -> list[int]:
        return [1]

    encode_ordinary = encode


_tiktoken: Any = tiktoken
_tiktoken.get_encoding = _tiktoken.encoding_for_model = lambda *_, **__: _Tokens()

from inspect_ai import Task, eval  # noqa: A004, E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402
from inspect_ai.scorer import Score, match, mean, model_graded_qa, scorer  # noqa: E402
from inspect_ai.solver import generate, solver  # noqa: E402

QUESTIONS = {
    "q1": ("Capital of France?", "Paris"),
    "q2": ("2+2?", "4"),
    "q3": ("Colour?", "blue"),
    "q4": ("Sea?", "wet"),
}
ANSWERS = ["Paris", "5", "blue", "wet"]
GRADES = ["GRADE: C", "GRADE: I", "GRADE: P", "GRADE: C"]


def style() -> Any:
    """A scorer with two values."""

    async def score(state: Any, _: Any) -> Score:
        return Score(value={"clarity": len(state.output.completion) / 10, "depth": 1}, explanation="because")

    return score


def failing() -> Any:
    """A solver that fails on one sample."""

    async def solve(state: Any, generate: Any) -> Any:
        if state.sample_id == "q2":
            raise ValueError("no answer")
        return await generate(state)

    return solve


def several_values() -> dict[str, Any]:
    """Run a task whose scorer gives several values and of whose samples one fails. Returns what is told of it."""
    task = Task(
        name="several",
        dataset=[Sample(id=name, input=asked, target=target) for name, (asked, target) in QUESTIONS.items()],
        solver=solver(failing)(),
        scorer=scorer(metrics={"clarity": [mean()], "depth": [mean()]})(style)(),
        epochs=2,
        fail_on_error=False,
    )
    run: Any = eval
    [log] = run(task, model=model("writer", ANSWERS * 2), log_dir=".", log_format="eval", display="none")
    published = [
        {"of": f"{one.name} mean", "where": {"factors.value": one.name}, "mean": one.metrics["mean"].value}
        for one in log.results.scores
    ]
    return {
        "file": unquote(urlsplit(log.location).path),
        "dialect": "inspect",
        "set": {"judge_model": "none"},
        "entries": 2 * (2 * (len(QUESTIONS) - 1) + 1),
        "published": published,
    }


def model(name: str, texts: list[str]) -> Any:
    """A mock model that gives these texts in turn."""
    return get_model(
        f"mockllm/{name}", custom_outputs=[ModelOutput.from_content("mockllm/model", one) for one in texts]
    )


def main() -> None:
    """Run the task in both formats, with two epochs, and once with a grade that cannot be read."""
    files = []
    for form, epochs, grades in (
        ("eval", 2, GRADES * 2),
        ("json", 2, GRADES * 2),
        ("eval", 1, [*GRADES[:3], "no idea"]),
    ):
        task = Task(
            name="demo",
            dataset=[Sample(id=name, input=asked, target=target) for name, (asked, target) in QUESTIONS.items()],
            solver=generate(),
            scorer=[match(), model_graded_qa(model=model("judge", grades), partial_credit=True)],
            epochs=epochs,
        )
        answers = ANSWERS * epochs
        run: Any = eval
        [log] = run(
            task, model=model("writer", answers), log_dir=".", log_format=form, display="none", max_connections=1
        )
        files.append(
            {
                "file": unquote(urlsplit(log.location).path),
                "dialect": "inspect",
                "set": {"judge_model": "mockllm/judge"},
                "entries": len(QUESTIONS) * epochs * 2,
                "published": [
                    {
                        "of": f"{score.name} accuracy",
                        "where": {"factors.scorer": score.name},
                        "mean": score.metrics["accuracy"].value,
                    }
                    for score in log.results.scores
                ],
            }
        )
    files.append(several_values())
    with open("told.json", "w") as out:
        json.dump({"tool": f"inspect-ai {version('inspect-ai')}", "files": files}, out)


main()
