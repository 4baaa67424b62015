"""Every Eval Ever documents, schema 0.3.0: one a generator, a result a measure, from the summary by generator.

A document has the place that the format's datastore asks for: `data/COLLECTION/DEVELOPER/MODEL/UUID.json`.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.documents.protocol import version
from normalizer.documents.rubric import Rubric
from normalizer.errors import CannotRun

_VERSION = "0.3.0"
_NOT_RECORDED = {"deployment_type": "unknown", "model_availability": "unknown"}
"""Details that the format requires of every model and judge, and that no record has."""
_NOT_PORTABLE = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


class Publisher(NamedTuple):
    """Values that the format requires and records do not have."""

    organization: str
    relationship: str
    retrieved: str
    """When the document was made, in seconds since 1970. Given by the user, because output must not depend on a
    clock."""
    developers: Mapping[str | None, str] = {}
    """Developers of generators whose names do not begin with one; None is for all that are not named."""

    def developer(self, model: str) -> str | None:
        """Return the stated developer of a generator; None where its name begins with one (`DEVELOPER/NAME`).

        Raises CannotRun where there is neither.
        """
        if "/" in model.strip("/"):
            return None
        known = self.developers.get(model) or self.developers.get(None)
        if known is None:
            raise CannotRun(
                f"eee files a document under the developer of its model, and {model} names none: "
                f"give --developer NAME, or --developer '{model}=NAME'"
            )
        return known


def documents(
    summary: dict[str, Any], rubric: Rubric, judges: Mapping[str | None, list[str]], by: Publisher
) -> dict[str, dict[str, Any]]:
    """The documents by path; groups without a number have none. `judges` has those of each generator."""
    if summary["by"] != ["generator_model"]:
        raise CannotRun("Every Eval Ever has one document a generator: the summary must be by generator_model")
    found = {}
    for row in summary["rows"]:
        name = row["key"]["generator_model"]
        if name is None or row["total"]["mean"] is None:
            continue
        low, high = summary["scale"]
        measures = [("total", row["total"], low, high)]
        for key, moments in row["dimensions"].items():
            scale = rubric.dimensions[key].scale
            measures.append((key, moments, scale.minimum, scale.maximum))
        results = [_result(summary, row, measure, judges[name]) for measure in measures]
        identity = json.dumps(results, sort_keys=True)
        document = {
            "schema_version": _VERSION,
            "evaluation_id": f"{summary['rubric']}/{name}/{by.retrieved}",
            "retrieved_timestamp": by.retrieved,
            "source_metadata": {
                "source_name": "normalizer",
                "source_type": "evaluation_run",
                "source_organization_name": by.organization,
                "evaluator_relationship": by.relationship,
            },
            "eval_library": {"name": "normalizer", "version": version()},
            "model_info": _model(name, by.developer(name)),
            "evaluation_results": results,
        }
        digest = hashlib.sha256((name + identity).encode()).digest()
        found[_path(summary["rubric"], name, by.developer(name), uuid.UUID(bytes=digest[:16], version=4))] = document
    return found


def _model(name: str, developer: str | None = None) -> dict[str, Any]:
    stated = {} if developer is None else {"developer": developer}
    return {"name": name, "id": name, **stated, "additional_details": _NOT_RECORDED}


def _path(collection: str, model: str, developer: str | None, name: uuid.UUID) -> str:
    """Return the path of a document: slashes and characters that some file system refuses become underscores."""
    if developer is None:
        developer, _, model = model.partition("/")
    parts = (_NOT_PORTABLE.sub("_", part).rstrip(". ") or "_" for part in (collection, developer, model))
    return "/".join(("data", *parts, f"{name}.json"))


def _result(summary: dict[str, Any], row: dict[str, Any], measure: tuple[str, Any, Any, Any], judges: list[str]) -> Any:
    name, moments, low, high = measure
    uncertainty: dict[str, Any] = {"num_samples": row["n"]}
    if moments["sd"] is not None:
        uncertainty["standard_deviation"] = float(moments["sd"])
    if moments["ci95"] is not None:
        method = summary["interval"]["method"]
        ends = {"lower": float(moments["ci95"][0]), "upper": float(moments["ci95"][1])}
        uncertainty["confidence_interval"] = {**ends, "confidence_level": 0.95, "method": method}
    details = {
        "n": row["n"],
        "n_records": row["n_records"],
        "n_judges": row["n_judges"],
        "flags": " ".join(row["flags"]),
    }
    details |= {f"left_out.{reason}": count for reason, count in summary["left_out"].items()}
    scoring = {
        "judges": [{"model_info": _model(judge)} for judge in judges],
        "input_prompt": "not recorded",
        "aggregation_method": "average",
    }
    return {
        "evaluation_name": f"{summary['rubric']}/{name}",
        "source_data": {"dataset_name": "artifacts of the ledger", "source_type": "other"},
        "metric_config": {
            "evaluation_description": f"mean {name} over artifacts, the judges of each averaged first",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": float(low),
            "max_score": float(high),
            **({"llm_scoring": scoring} if judges else {}),
        },
        "score_details": {
            "score": float(moments["mean"]),
            "details": {key: str(value) for key, value in details.items()},
            "uncertainty": uncertainty,
        },
    }


def write(found: dict[str, dict[str, Any]], folder: Path) -> int:
    """Write the documents into a folder; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in found.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="ascii")
    return len(found)
