"""Questions with the files that answer them, from public sets that were fetched before."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_DEVELOPMENT = json.loads((Path(__file__).parent / "development.json").read_text())
_CHANGED = re.compile(r"^--- a/(\S+)$", re.MULTILINE)
# A query of `search` has at most so many characters.
_MAX_QUERY = 10_000


class Task(NamedTuple):
    """One query."""

    id: str
    set: str
    part: str
    """`development`, where constants were chosen, or `held out`."""
    repository: str
    """OWNER/NAME."""
    commit: str
    root: str
    """The directory that is searched; empty for all."""
    query: str
    right: frozenset[str]
    """Paths of the right files, from `root`."""


def read_questions(data: Path) -> Iterator[Task]:
    """Yield semble's questions: `semble/` is its repository."""
    folder = data / "semble" / "benchmarks"
    if not folder.is_dir():
        return
    for spec in json.loads((folder / "repos.json").read_text()):
        name, root = spec["name"], spec.get("benchmark_root") or ""
        part = "development" if name in _DEVELOPMENT["semble"] else "held out"
        repository = "/".join(spec["url"].removesuffix(".git").split("/")[-2:])
        for number, item in enumerate(json.loads((folder / "annotations" / f"{name}.json").read_text())):
            targets = [*item["relevant"], *item.get("secondary", ())]
            paths = [target if isinstance(target, str) else target["path"] for target in targets]
            right = frozenset(path.removeprefix(f"{root}/") if root else path for path in paths)
            identity = f"{name}-{number}"
            yield Task(identity, "questions", part, repository, spec["revision"], root, item["query"], right)


def read_issues(data: Path) -> Iterator[Task]:
    """Yield the problem statements of SWE-bench Lite: `swebench_lite.jsonl` has a line for each."""
    file = data / "swebench_lite.jsonl"
    if not file.is_file():
        return
    for line in file.read_text().splitlines():
        row = json.loads(line)
        identity = row["instance_id"]
        part = "development" if identity in _DEVELOPMENT["swe_bench_lite"] else "held out"
        right = frozenset(_CHANGED.findall(row["patch"]))
        query = row["problem_statement"][:_MAX_QUERY]
        yield Task(identity, "issues", part, row["repo"], row["base_commit"], "", query, right)
