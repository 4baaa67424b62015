"""Inspect AI: the same task as a .eval archive and as JSON, with an own grader that once gives no grade."""

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
from inspect_ai.scorer import match, model_graded_qa  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

QUESTIONS = {
    "q1": ("Capital of France?", "Paris"),
    "q2": ("2+2?", "4"),
    "q3": ("Colour?", "blue"),
    "q4": ("Sea?", "wet"),
}
ANSWERS = ["Paris", "5", "blue", "wet"]
GRADES = ["GRADE: C", "GRADE: I", "GRADE: P", "GRADE: C"]


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
    with open("told.json", "w") as out:
        json.dump({"tool": f"inspect-ai {version('inspect-ai')}", "files": files}, out)


main()
