"""AlpacaEval: a model against a reference, compared by a mock annotator that once gives no verdict."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from alpaca_eval import evaluate
from alpaca_eval.annotators import PairwiseAnnotator

CONFIG = """mock_judge:
  prompt_template: "mock_judge/prompt.txt"
  fn_completions: "openai_completions"
  completions_kwargs:
    model_name: "mock-judge"
  completion_parser_kwargs:
    outputs_to_match:
      1: '(?:^|\\n) ?Output \\(a\\)'
      2: '(?:^|\\n) ?Output \\(b\\)'
  batch_size: 1
"""
PROMPT = "### Instruction:\n{instruction}\n### Output (a):\n{output_1}\n### Output (b):\n{output_2}\n### Which?"
COUNT = 12


def completions(prompts: Any, **_: Any) -> dict[str, list[Any]]:
    """Prefer the longer output; say nothing useful about the last instruction."""
    replies = []
    for prompt in prompts:
        first, _, second = prompt.partition("### Output (a):\n")[2].partition("\n### Output (b):\n")
        better = "a" if len(first) > len(second.partition("\n### Which?")[0]) else "b"
        replies.append("no idea" if f"task {COUNT - 1}\n" in prompt else f"Output ({better})")
    each = [0.0] * len(replies)
    return {"completions": replies, "completions_all": replies, "price_per_example": each, "time_per_example": each}


def main() -> None:
    """Evaluate, and take the win rate of the leaderboard."""
    folder = Path("configs/mock_judge").resolve()
    folder.mkdir(parents=True)
    (folder / "configs.yaml").write_text(CONFIG)
    (folder / "prompt.txt").write_text(PROMPT)
    outputs = {
        name: [
            {"instruction": f"task {n}", "output": "word " * (size + n % 5), "generator": name, "dataset": "ours"}
            for n in range(COUNT)
        ]
        for name, size in (("reference", 4), ("model", 3))
    }
    for n, row in enumerate(outputs["model"]):
        row["output"] += "more " * (3 if n % 3 == 0 else 0)

    class Annotator(PairwiseAnnotator):  # type: ignore[misc]
        """The tool's annotator, with a mock model behind it."""

        def _initialize_annotators(self, **kwargs: Any) -> Any:
            made = super()._initialize_annotators(**kwargs)
            for one in made.values():
                one.fn_completions = completions
            return made

    leaderboard, annotations = evaluate(
        model_outputs=outputs["model"],
        reference_outputs=outputs["reference"],
        annotators_config=str(folder),
        Annotator=Annotator,
        caching_path=None,
        precomputed_leaderboard=None,
        fn_metric="get_winrate",
        sort_by="win_rate",
        output_path="out",
        is_return_instead_of_print=True,
    )
    published = {"of": "win_rate", "share_of": "model", "mean": float(leaderboard.loc["model", "win_rate"]) / 100}
    file = {
        "file": "out/annotations.json",
        "dialect": "alpaca-eval",
        "set": {},
        "entries": len(annotations),
        "published": [published],
    }
    with open("told.json", "w") as out:
        json.dump({"tool": f"alpaca-eval {version('alpaca-eval')}", "files": [file]}, out)


main()
