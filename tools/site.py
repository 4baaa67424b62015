"""Build the documentation as a site: python -m tools.site [--out build/site].

The pages are those of the repository, at their places, so that links between them work. Pages for the schemas and the
Python client are made from spec/ and generated/. Zensical makes the site. It fetches nothing from a network when it is
read; serve it with `python3 -m http.server -d build/site`, which its search needs.
"""

import argparse
import inspect
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import contract_spec as spec
from contract_models.client.methods import Methods

ROOT = Path(__file__).resolve().parent.parent
TOP = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASE.md", "SECURITY.md", "LICENSE")
NAV: list[dict[str, Any]] = [
    {"Start": "README.md"},
    {
        "Zeno": [
            {"Protocol": "docs/protocol.md"},
            {"Evidence": "docs/evidence.md"},
            {"Doors: MCP, HTTP, Python, shell": "docs/doors.md"},
            {"A skill for agents": "docs/skills/zeno/SKILL.md"},
            {"Traces": "docs/trace.md"},
            {"Recursion": "docs/recursive.md"},
            {"Symbols": "docs/symbols.md"},
            {"Speed": "docs/performance.md"},
        ]
    },
    {
        "normalizer": [
            {"Bundles and records": "docs/normalizer.md"},
            {"A worked example": "docs/example-study/README.md"},
            {"Results of other tools": "docs/dialects/README.md"},
            {"A tutorial with results of another tool": "docs/dialects/tutorial.md"},
            {"Judging": "docs/judging.md"},
            {"From records to numbers": "docs/aggregation.md"},
            {"Comparisons and preferences": "docs/preferences.md"},
            {"Judges against people": "docs/calibration.md"},
            {"Gates": "docs/gate.md"},
            {"The report": "docs/report.md"},
            {"Python and exports": "docs/python.md"},
            {"How it grows": "docs/scale.md"},
            {"Clause by clause": "docs/clauses.md"},
        ]
    },
    {"In CI and registries": "docs/ci.md"},
    {"Compared with other tools": "docs/comparison.md"},
    {
        "Contribute": [
            {"Architecture": "ARCHITECTURE.md"},
            {"Contributing": "CONTRIBUTING.md"},
            {"The contract": "spec/README.md"},
            {"Decisions": "spec/decisions/README.md"},
            {"Tests": "tests/README.md"},
            {"Conformance kit": "tests/conformance/README.md"},
            {"Releasing": "RELEASE.md"},
            {"Changes": "CHANGELOG.md"},
            {"Security": "SECURITY.md"},
        ]
    },
]
CONFIG: dict[str, Any] = {
    "site_name": "Zeno and normalizer",
    "use_directory_urls": False,
    "theme": {
        "font": False,  # nothing is fetched from a network
        "features": ["navigation.sections", "navigation.indexes", "content.code.copy", "search.highlight"],
        "palette": [{"scheme": "default", "media": "(prefers-color-scheme: light)"}, {"scheme": "slate"}],
    },
    "plugins": ["search"],
    "markdown_extensions": ["tables", "fenced_code", "toc", "pymdownx.superfences", "pymdownx.highlight"],
    "validation": {"links": {"not_found": "ignore", "unrecognized_links": "ignore", "anchors": "warn"}},
}


def gather(source: Path) -> None:
    """Copy the pages and what they link to into the new folder `source`, and write the pages that are made."""
    source.mkdir()
    for name in TOP:
        shutil.copy(ROOT / name, source / name)
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for page in [*(ROOT / "spec").rglob("*.md"), *(ROOT / "tests").rglob("*.md")]:
        target = source / page.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
    (source / "reference").mkdir()
    (source / "reference" / "python.md").write_text(python_page(), encoding="utf-8")
    (source / "reference" / "http.md").write_text(http_page(), encoding="utf-8")
    for name in spec.names():
        target = source / "reference" / "schemas" / f"{name.removesuffix('.json')}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(schema_page(name, spec.schema(name)), encoding="utf-8")


def schema_page(name: str, schema: dict[str, Any]) -> str:
    """A schema as tables of its objects, then the whole document."""
    parts = [f"# {schema.get('title', name)}", f"`{name}`", schema.get("description", "")]
    for where, node in [("", schema), *((key, value) for key, value in schema.get("$defs", {}).items())]:
        if "properties" in node:
            parts += [f"## {node.get('title', where or schema.get('title', name))}", node.get("description", "")]
            parts.append(_table(node))
    parts += ["## The document", f"```json\n{json.dumps(schema, indent=2, ensure_ascii=False)}\n```"]
    return "\n\n".join(filter(None, parts)) + "\n"


def _table(node: dict[str, Any]) -> str:
    """The properties of an object."""
    rows = ["| property | type | default | |", "| --- | --- | --- | --- |"]
    for name, value in node["properties"].items():
        needed = "required" if name in node.get("required", ()) else ""
        default = f"`{json.dumps(value['default'])}`" if "default" in value else needed
        kind = value.get("type") or value.get("$ref", "").rpartition("/")[2] or "one of several"
        about = str(value.get("description", "")).replace("|", "\\|").replace("\n", " ")
        rows.append(f"| `{name}` | {kind if isinstance(kind, str) else ' or '.join(kind)} | {default} | {about} |")
    return "\n".join(rows)


def python_page() -> str:
    """The methods of the Python client."""
    parts = ["# The Python client", "`zeno.client.Zeno` has these methods; `AsyncZeno` has the same to await."]
    for name, method in inspect.getmembers(Methods, inspect.isfunction):
        if not name.startswith("_"):
            text = inspect.cleandoc(method.__doc__ or "")
            parts += [f"## {name}", f"```python\n{name}{inspect.signature(method)}\n```", text]
    return "\n\n".join(parts) + "\n"


def http_page() -> str:
    """The requests of the HTTP door."""
    document = spec.resource("openapi.json")
    rows = ["# The HTTP API", document["info"].get("description", ""), "", "| request | |", "| --- | --- |"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            rows.append(
                f"| `{method.upper()} {path}` | {operation.get('summary') or operation.get('description', '')} |"
            )
    rows += ["", "The whole document is served at `/openapi.json` and committed as `spec/openapi.json`."]
    return "\n".join(rows) + "\n"


def navigation() -> list[dict[str, Any]]:
    """The menu: the pages above, and a reference with one entry for each schema."""
    schemas = [
        {name.removesuffix(".json"): f"reference/schemas/{name.removesuffix('.json')}.md"} for name in spec.names()
    ]
    reference = [{"Python client": "reference/python.md"}, {"HTTP API": "reference/http.md"}, {"Schemas": schemas}]
    return [*NAV[:-1], {"Reference": reference}, NAV[-1]]


def main(argv: list[str] | None = None) -> int:
    """Build the site; returns the generator's exit status, which is not 0 where a page or an anchor is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="folder (default: build/site)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:  # the generator keeps its cache beside its configuration
        source, made, config = (Path(folder) / name for name in ("source", "made", "mkdocs.yml"))
        gather(source)
        text = {**CONFIG, "docs_dir": source.name, "site_dir": made.name, "nav": navigation()}
        config.write_text(json.dumps(text), encoding="utf-8")  # JSON is YAML
        command = [str(Path(sys.executable).parent / "zensical"), "build", "--clean", "--strict", "-f", str(config)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8")
        if done.returncode:
            print(done.stdout + done.stderr, file=sys.stderr)
            return done.returncode
        shutil.rmtree(options.out, ignore_errors=True)
        shutil.move(made, options.out)
    print(f"{options.out}/index.html: {len(list(options.out.rglob('*.html')))} pages")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
