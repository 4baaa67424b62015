"""Write the worked example: a small study, made up from end to end, whose bytes are the same on every machine.

    python tools/example_study.py [--out docs/example-study]

Two generators answer three questions under two wordings of the prompt at two lengths: 24 artifacts, six of them PDFs.
Two judges score them in five runs, with the mistakes that judges make. Nothing here was written by a model.
"""

import argparse
import hashlib
import json
import random
import shutil
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GENERATORS = ("writer-alder", "writer-birch")
PROMPTS = ("baseline", "reworded")
LENGTHS = ("short", "long")
DIMENSIONS = ("A_structure", "B_snapshot_constraint", "C_actionability", "D_completeness", "E_drift_failure")
PROTOCOL = "eval-example-study-1"

QUESTIONS = {
    "q1": (
        "Moving the tool library",
        "The tool library moves from the cellar to room 4 on Saturday. The shelves in room 4 are already up.",
        [
            "Label every tool with its shelf number before anything leaves the cellar.",
            "Carry the power tools first, while the lift is free, between nine and ten.",
            "Set aside the three ladders; they stay in the cellar until the wall hooks arrive.",
            "Check each shelf in room 4 against the list and sign it at the bottom.",
            "Hang the notice “We have moved” on the cellar door when the last box is gone.",
        ],
    ),
    "q2": (
        "Watering the greenhouse in the holiday week",
        "The greenhouse has two taps, and only the one by the door works. The week has no rain forecast.",
        [
            "Water the seedlings every morning before ten, a cup for each tray.",
            "Open the roof vent when the thermometer shows more than 26 degrees.",
            "Give the tomatoes two litres each on Tuesday and on Friday, at the root.",
            "Write the time and your name on the sheet by the door.",
            "If the tap by the door fails, fetch water from the kitchen and ring Jo.",
        ],
    ),
    "q3": (
        "New rules of the bicycle workshop",
        "The workshop changed its rules on 1 March. The opening hours stay as they were.",
        [
            "Repairs are booked online; walk-ins are served only when a stand is free.",
            "A stand is yours for ninety minutes, and then it passes on.",
            "Borrowed tools go back to the board before you leave, clean and dry.",
            "Used oil goes into the red can and never into the sink.",
            "Children under twelve work with an adult beside them.",
        ],
    ),
}
DRIFT = (
    "On a broader note, community projects thrive on trust. Trust is built in small steps, and every step counts. "
    "Many towns have found that a monthly newsletter helps."
)


class Artifact:
    """One answer of one generator."""

    def __init__(self, number: int, question: str, prompt: str, length: str, generator: str) -> None:
        self.number, self.prompt, self.length, self.generator = number, prompt, length, generator
        self.id = f"{question}/{prompt}/{length}/{generator}"
        pdf = question == "q3" and (generator == GENERATORS[0] or length == "short")
        self.path = f"{generator}/{question}-{prompt}-{length}.{'pdf' if pdf else 'md'}"
        self.factors = {"question_id": question, "prompt_version": prompt, "length_variant": length}
        self.title, self.context, self.steps = QUESTIONS[question]
        self.kept = self.steps if length == "long" else self.steps[:3]
        self.drifts = generator == GENERATORS[1] and length == "long" and prompt == "reworded"
        self.loose = generator == GENERATORS[1] and prompt == "reworded"

    def lines(self) -> list[str]:
        """The text, a paragraph or a list item a line."""
        lines = [f"# {self.title}", "", self.context, ""]
        if self.loose:
            lines += ["Here is what to do, roughly in this order:", "", " ".join(self.kept)]
        else:
            lines += [f"{number}. {step}" for number, step in enumerate(self.kept, start=1)]
        if self.length == "long":
            lines += ["", f"That is all {len(self.kept)} steps; nothing else changes."]
        return [*lines, *(["", DRIFT] if self.drifts else [])]

    def data(self) -> bytes:
        """The file's bytes."""
        return pdf_of(self.lines()) if self.path.endswith(".pdf") else ("\n".join(self.lines()) + "\n").encode()

    def merit(self) -> dict[str, int]:
        """The scores that a perfect judge would give."""
        return {
            "A_structure": 1 if self.loose else 2,
            "B_snapshot_constraint": 1 if self.drifts else 2,
            "C_actionability": 1 if self.loose and self.length == "short" else 2,
            "D_completeness": 2 if self.length == "long" else 1,
            "E_drift_failure": 0 if self.drifts else 2,
        }

    def quotes(self) -> dict[str, str]:
        """Passages that a careful judge would quote."""
        return {
            "A_structure": "Here is what to do, roughly in this order:" if self.loose else f"1. {self.kept[0]}",
            "B_snapshot_constraint": self.context.split(". ")[0] + ".",
            "C_actionability": self.kept[1],
            "D_completeness": self.kept[-1],
            "E_drift_failure": DRIFT.split(". ")[0] + "." if self.drifts else self.kept[2],
        }


def pdf_of(lines: list[str]) -> bytes:
    """A PDF of one page with these lines as text, wrapped; the least that readers accept, with nothing of the clock."""
    rows: list[str] = []
    for line in lines:
        row = ""
        for word in line.removeprefix("# ").split(" "):
            if len(row) + len(word) > 88:
                rows.append(row)
                row = ""
            row = f"{row} {word}" if row else word
        rows.append(row)
    escaped = [row.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for row in rows]
    text = "BT /F1 11 Tf 15 TL 56 780 Td\n" + "".join(f"({row}) Tj T*\n" for row in escaped) + "ET"
    stream = text.encode("cp1252")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)
    return out + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


def artifacts() -> list[Artifact]:
    """The 24 artifacts in the order in which they were judged."""
    cells = list(product(QUESTIONS, PROMPTS, LENGTHS, GENERATORS))
    random.Random(24).shuffle(cells)
    return [Artifact(number, *cell) for number, cell in enumerate(cells, start=1)]


def judged(artifact: Artifact, harshness: float, seed: str) -> dict[str, int]:
    """The merit as one judge sees it: now and then a point less, seldom one more."""
    chance = random.Random(f"{seed}/{artifact.id}")
    scores = {}
    for key, merit in artifact.merit().items():
        roll = chance.random()
        shift = -1 if roll < harshness else 1 if roll > 0.95 else 0
        scores[key] = max(0, min(2, merit + shift))
    return scores


def manifest(run: dict[str, Any], listed: list[Artifact], name: Any, **more: Any) -> dict[str, Any]:
    """The sidecar of a run."""
    files = []
    for one in listed:
        item: dict[str, Any] = {"file": name(one), "artifact": one.id, "path": one.path}
        item["sha256"] = hashlib.sha256(one.data()).hexdigest()
        item["generator_model"] = one.generator
        if run["judge_model"] == one.generator:
            item["self_judged"] = True
        files.append({**item, "factors": one.factors})
    return {**run, **more, "files": files}


def item(artifact: Artifact) -> str:
    """Return the name under which the careful judge was shown a file, which reveals nothing."""
    return f"item-{artifact.number:02}"


def entry(artifact: Artifact, scores: dict[str, Any]) -> dict[str, Any]:
    """An entry as the careful judge writes it."""
    return {"file": item(artifact), "scores": scores, "evidence": artifact.quotes(), "total": sum(scores.values())}


def cedar_1(all_: list[Artifact]) -> dict[str, Any]:
    """A careful judge with slips: a score off the scale, a dimension left out, a file judged twice, odd quotes."""
    entries = [entry(one, judged(one, 0.10, "cedar-1")) for one in all_]
    entries[3]["scores"]["A_structure"] = 3
    del entries[7]["scores"]["E_drift_failure"]
    entries[11]["scores"]["C_actionability"] = 1.5
    entries[4]["evidence"]["A_structure"] = entries[4]["evidence"]["A_structure"].upper()
    words = entries[5]["evidence"]["C_actionability"].split()
    entries[5]["evidence"]["C_actionability"] = f"{' '.join(words[:3])} ... {' '.join(words[-3:])}"
    entries[6]["evidence"]["D_completeness"] = ""
    entries[8]["evidence"]["D_completeness"] = DRIFT.split(". ")[2]
    entries[9]["evidence"]["B_snapshot_constraint"] = "The answer is consistent with what was given."
    entries.append({**entries[15], "scores": dict(entries[15]["scores"]), "notes": "second look"})
    mean = sum(sum(entry["scores"].values()) for entry in entries) / len(entries)
    return {"per_file_scores": entries, "aggregates": {"mean_total": round(mean, 2), "n": 24}, "final_notes": "Done."}


def birch_1(all_: list[Artifact]) -> dict[str, Any]:
    """A lenient judge with habits of its own: file_name, a total among the scores, a status. It skips one file."""
    results: list[dict[str, Any]] = []
    for one in all_[:-1]:
        own = one.generator == GENERATORS[1]
        scores = judged(one, 0.0 if own else 0.05, "birch-1")
        if own:
            scores = {key: min(2, value + (key == "A_structure")) for key, value in scores.items()}
        shown: dict[str, Any] = {**scores, "total": sum(scores.values())}
        results.append({"file_name": f"Item {one.number}", "scores": shown, "evidence": one.quotes(), "status": "ok"})
    results[2]["scores"]["B_snapshot_constraint"] = "high"
    results[10]["file_name"] = "Item 99"
    results[13]["evidence"]["A_structure"] = results[13]["evidence"]["A_structure"].replace(" ", "  ")
    return {"model": GENERATORS[1], "results": results, "summary": {"mean_total": 9.4}}


def cedar_2(all_: list[Artifact]) -> dict[str, Any]:
    """The careful judge under a new prompt, in the strict phase: evidence throughout, totals that ought to add up."""
    entries = [entry(one, judged(one, 0.25, "cedar-2")) for one in all_]
    entries[1]["total"] += 1
    del entries[14]["evidence"]["D_completeness"]
    entries[20]["total"] = float(entries[20]["total"])
    return {"per_file_scores": entries}


def cedar_0(some: list[Artifact]) -> dict[str, Any]:
    """A trial of the prompt, in the diagnostic phase."""
    entries: list[dict[str, Any]] = [{"file": item(one), "scores": judged(one, 0.2, "cedar-0")} for one in some]
    del entries[0]["scores"]["B_snapshot_constraint"]
    return {"phase": 0, "per_file_scores": entries}


def write(out: Path) -> None:
    """Write the whole study into a folder, anew."""
    if out.exists():
        for name in ("artifacts", "runs"):
            shutil.rmtree(out / name, ignore_errors=True)
    all_ = artifacts()
    for one in all_:
        path = out / "artifacts" / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.data())
    study = {"eval_id": "example-study", "protocol_version": PROTOCOL, "rubric": "prompt-drift-v1"}
    cedar, birch = {"judge_model": "judge-cedar"}, {"judge_model": GENERATORS[1]}

    def run(name: str, prompt: str, judge: dict[str, str], phase: int) -> dict[str, Any]:
        return {**study, "run_id": name, "judge_prompt_version": prompt, **judge, "phase": phase}

    relaxed = {"statement": "You may leave out a dimension that you cannot judge.", "constraint": "rubric_keys"}
    runs: dict[str, dict[str, Any]] = {
        "cedar-0": {
            "bundle": cedar_0(all_[:6]),
            "manifest": manifest(run("cedar-0", "jp-1", cedar, 0), all_[:6], item, relaxations=[relaxed]),
        },
        "cedar-1": {
            "bundle": {"run_id": "cedar-1", "phase": 1, **cedar, **cedar_1(all_)},
            "manifest": manifest(run("cedar-1", "jp-1", cedar, 1), all_, item),
        },
        "cedar-2": {
            "bundle": {"run_id": "cedar-2", "phase": 2, **cedar, **cedar_2(all_)},
            "manifest": manifest(run("cedar-2", "jp-2", cedar, 2), all_, item),
        },
        "birch-1": {
            "bundle": birch_1(all_),
            "manifest": manifest(run("birch-1", "jp-1", birch, 1), all_, lambda one: f"Item {one.number}"),
            "dialect": {
                "name": "writer-birch",
                "description": "Writes results, file_name and a status, and puts the total among the scores.",
                "bundle": [
                    {"take": "/results", "put": "/per_file_scores"},
                    {"take": "/model", "put": "/judge_model"},
                    {"take": "/summary", "put": "/aggregates"},
                ],
                "entry": [
                    {"take": "/file_name", "put": "/file"},
                    {"take": "/scores/total", "put": "/total"},
                    {"take": "/status"},
                ],
            },
        },
    }  # fmt: skip
    for name, documents in runs.items():
        folder = out / "runs" / name
        folder.mkdir(parents=True, exist_ok=True)
        for kind, document in documents.items():
            text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
            (folder / f"{kind}.json").write_text(text, encoding="utf-8")
    # The first try of the second judge came in a Markdown fence: it is kept, and not repaired.
    fenced = out / "runs" / "birch-1-first-try"
    fenced.mkdir(parents=True)
    text = json.dumps(runs["birch-1"]["bundle"], indent=2, ensure_ascii=False)
    (fenced / "bundle.json").write_text(f"```json\n{text}\n```\n", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """Write the study; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "example-study")
    write(parser.parse_args(argv).out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
