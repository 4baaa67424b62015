"""promptfoo: two mock providers, graded by plain assertions and by a mock provider that once gives no grade."""

import json
import os
import subprocess
from pathlib import Path

PROVIDER = """module.exports = class {
  constructor(options) { this.name = options.id; }
  id() { return this.name; }
  async callApi(prompt) { return {output: prompt.includes('France') ? 'Paris' : 'green'}; }
};
"""
JUDGE = """module.exports = class {
  id() { return 'mock-judge'; }
  async callApi(prompt) {
    if (prompt.includes('polite')) return {output: 'I cannot say'};
    const right = prompt.includes('Paris');
    return {output: JSON.stringify({pass: right, score: right ? 0.9 : 0.2, reason: right ? 'right' : 'wrong'})};
  }
};
"""


def main() -> None:
    """Evaluate, and take the named scores of the file."""
    Path("provider.js").write_text(PROVIDER)
    Path("judge.js").write_text(JUDGE)
    graded = {"type": "llm-rubric", "value": "is right", "metric": "accuracy"}
    # promptfoo gives it the score 0 and counts it; it is not compared, since here it is a failure.
    ungraded = {"type": "llm-rubric", "value": "is polite", "metric": "tone"}
    config = {
        "prompts": ["Answer: {{question}}"],
        "providers": [{"id": "file://provider.js", "label": "mock-writer"}],
        "defaultTest": {"options": {"provider": "file://judge.js"}},
        "tests": [
            {
                "vars": {"question": "Capital of France?"},
                "assert": [graded, {"type": "contains", "value": "Paris", "metric": "words"}],
            },
            {
                "vars": {"question": "Colour of the sky?"},
                "assert": [graded, {"type": "contains", "value": "blue", "metric": "words"}, ungraded],
            },
        ],
    }
    Path("config.json").write_text(json.dumps(config))
    quiet = {
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_CONFIG_DIR": str(Path.cwd()),
    }
    program = Path(os.environ["NODE_MODULES"]) / ".bin" / "promptfoo"
    command = [str(program), "eval", "-c", "config.json", "-o", "out.json", "--no-cache", "--no-progress-bar"]
    # The status is 100 where an assertion failed, which is what happens here.
    subprocess.run(command, env={**os.environ, **quiet}, stdin=subprocess.DEVNULL)
    metrics = json.loads(Path("out.json").read_text())["results"]["prompts"][0]["metrics"]
    counts = metrics["namedScoresCount"]
    published = [
        {"of": f"{name} of namedScores", "where": {"factors.metric": name}, "mean": total / counts[name]}
        for name, total in metrics["namedScores"].items()
        if name != "tone"
    ]
    stated = {"judge_model": "mock-judge"}
    file = {"file": "out.json", "dialect": "promptfoo", "set": stated, "entries": 5, "published": published}
    package = Path(os.environ["NODE_MODULES"]) / "promptfoo" / "package.json"
    with open("told.json", "w") as out:
        json.dump({"tool": f"promptfoo {json.loads(package.read_text())['version']}", "files": [file]}, out)


main()
