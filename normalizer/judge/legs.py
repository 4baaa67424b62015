"""Legs: a run goes on with another judge, under a name of its own.

A leg is a run in `legs/NAME/` of the run's folder, with inputs, replies and a bundle of its own. Its manifest is the
run's with the files that had no usable reply when the leg began, the leg's name and its judge. Records of a leg have
its name as `leg`, and no number mixes legs unless that is asked for.
"""

import re
from typing import Any

from normalizer.documents import protocol
from normalizer.documents.lossless import dumps, parse
from normalizer.documents.settings import LIMITS
from normalizer.errors import CannotRun
from normalizer.judge.prepare import Documents
from normalizer.judge.replay import Reopened, reopen
from normalizer.judge.run import bundle, find_unanswered
from normalizer.judge.run_folder import RunFolder, sha256

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Leg:
    """A leg that is to be begun or continued."""

    def __init__(self, run: RunFolder, name: str, given: Documents, judge: dict[str, Any]) -> None:
        """Take the run to continue, and the documents and the judge of the command line. Raises CannotRun."""
        if _NAME.fullmatch(name) is None:
            raise CannotRun(f"--leg {dumps(name)} is no name for a leg: use up to 64 letters, digits, `.`, `_` and `-`")
        if not run.has_begun:
            raise CannotRun(f"{run.path} holds no run to go on with: leave --leg out")
        self._run = run
        self._began: Reopened | None = None
        description = run.description()
        for what, data in (("manifest", given.manifest), ("rubric", given.rubric)):
            if sha256(data) != description[f"{what}_sha256"]:
                raise CannotRun(f"the run in {run.path} was begun with another {what}: a leg changes the judge alone")
        self.folder = RunFolder(run.path / "legs" / name)
        """Where the leg is kept."""
        model = judge.get("model")
        if model is None:
            raise CannotRun("a leg needs the name of its judge, under which its records are told apart: give --model")
        if self.folder.has_begun:
            self.description = self.folder.description()["leg"]
            self.documents = Documents(self.folder.read("manifest.json"), given.rubric)
            return
        if judge == description["judge"]:
            raise CannotRun("the leg would have the judge of the run: leave --leg out to go on with it")
        earlier = [other for other in names(run) if other != name]
        self._began = reopen(run)
        waiting = self._list_waiting(earlier)
        if not waiting:
            raise CannotRun(f"every file of the run in {run.path} has a usable reply: there is nothing left for a leg")
        self.description = {"name": name, "run_sha256": sha256(run.read("run.json")), "after": earlier}
        """The member `leg` of its run.json."""
        self.documents = Documents(_manifest(given.manifest, waiting, name, model), given.rubric)
        """Its manifest, and the rubric of the run."""

    def close_the_run(self) -> None:
        """Write the run's own usable replies as its partial bundle, when the first leg begins."""
        began = self._began
        if began is not None and 0 < len(find_unanswered(began.kept)) < len(began.kept):
            data = bundle(began.plan, began.judge["kind"], began.inputs, began.kept, partial=True)
            self._run.write(self._run.partial.name, data)

    def _list_waiting(self, earlier: list[str]) -> set[str]:
        """The files without a usable reply, in the run and in its earlier legs."""
        began = self._began
        assert began is not None  # noqa: S101 - a leg that begins has opened its run
        waiting = {began.plan.files[index]["file"] for index in find_unanswered(began.kept)}
        for name in earlier:
            found = reopen(RunFolder(self._run.path / "legs" / name))
            still = set(find_unanswered(found.kept))
            waiting -= {file["file"] for index, file in enumerate(found.plan.files) if index not in still}
        return waiting


def names(run: RunFolder) -> list[str]:
    """The names of the legs that were begun, sorted."""
    return sorted(path.parent.name for path in run.path.glob("legs/*/run.json"))


def refuse_with_legs(run: RunFolder) -> None:
    """Raise CannotRun where a run went on as a leg: a file would have replies of two judges."""
    found = names(run)
    if found:
        raise CannotRun(
            f"the run in {run.path} went on as the leg {found[-1]}: go on with --leg {found[-1]}, or with a new leg; "
            f"the replies of its first judge are in {run.partial.name}"
        )


def _manifest(data: bytes, waiting: set[str], name: str, model: str) -> bytes:
    """The leg's manifest: the run's, with these files and this judge, whose own outputs are labelled anew."""
    document = parse(data, LIMITS["max_depth"])
    files = [
        {key: value for key, value in file.items() if key != "self_judged"}
        for file in document["files"]
        if file["file"] in waiting
    ]
    generators = [file.get("generator_model", document.get("generator_model")) for file in files]
    own = [protocol.judges_itself({"judge_model": model, "generator_model": each}) for each in generators]
    if any(own) and not all(own):
        files = [{**file, "self_judged": label} for file, label in zip(files, own, strict=True)]
    rest = {key: value for key, value in document.items() if key not in ("self_judged", "files")}
    return (dumps({**rest, "leg": name, "judge_model": model, "files": files}) + "\n").encode()
