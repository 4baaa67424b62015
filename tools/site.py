"""Build the documentation as a site: python -m tools.site [--out build/site].

The pages are those of the repository, at their places, so that links between them work. Pages for the schemas and the
Python client are made from spec/ and generated/. Zensical makes the site. It fetches nothing from a network when it is
read; serve it with `python3 -m http.server -d build/site`, which its search needs.
"""

import argparse
import inspect
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contract_spec as spec
from contract_models.client.methods import Methods
from contract_spec import pages

import normalizer
from normalizer.api import Ledgers
from zeno.client import AsyncZeno, Zeno

ROOT = Path(__file__).resolve().parent.parent
TOP = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASE.md", "SECURITY.md", "LICENSE")
NAV: list[dict[str, Any]] = [
    {"Start": "README.md"},
    *(
        {room.capitalize(): [{pages.title(name): f"docs/{pages.place(name)}"} for name in names]}
        for room, names in pages.rooms().items()
    ),
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
        "features": ["navigation.sections", "content.code.copy", "search.highlight"],
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
    (source / "reference" / "ledgers.md").write_text(ledgers_page(), encoding="utf-8")
    (source / "reference" / "http.md").write_text(http_page(), encoding="utf-8")
    for name in spec.names():
        target = source / "reference" / "schemas" / f"{name.removesuffix('.json')}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(schema_page(name, spec.schema(name)), encoding="utf-8")


def schema_page(name: str, schema: dict[str, Any]) -> str:
    """A schema: its properties, a section for each definition, then the whole document."""
    parts = [f"# {schema.get('title', name)}", f"`{name}`", schema.get("description", ""), _table(schema)]
    for key, node in schema.get("$defs", {}).items():
        parts += [f"## {key}", node.get("description", ""), _table(node) or f"Type: {_kind(node)}"]
    parts += ["## The document", f"```json\n{json.dumps(schema, indent=2, ensure_ascii=False)}\n```"]
    return "\n\n".join(filter(None, parts)) + "\n"


def _table(node: dict[str, Any]) -> str:
    """The properties of an object; nothing where it has none."""
    if "properties" not in node:
        return ""
    rows = ["| property | type | default | |", "| --- | --- | --- | --- |"]
    for name, value in node["properties"].items():
        needed = "required" if name in node.get("required", ()) else ""
        default = f"`{json.dumps(value['default'])}`" if "default" in value else needed
        about = str(value.get("description", "")).replace("|", "\\|").replace("\n", " ")
        rows.append(f"| `{name}` | {_kind(value)} | {default} | {about} |")
    return "\n".join(rows)


def _kind(node: dict[str, Any]) -> str:
    """The type of a value in words, with a link to the definition it refers to."""
    if "$ref" in node:
        file, _, inside = node["$ref"].partition("#")
        name = inside.rpartition("/")[2]
        target = f"{file.removesuffix('.json')}.md" if file else ""
        anchor = f"#{name}" if inside.startswith("/$defs/") else ""  # only definitions have sections
        return f"[{name or file.removesuffix('.json').rpartition('/')[2]}]({target}{anchor})"
    if "const" in node or "enum" in node:
        return ", ".join(f"`{json.dumps(value)}`" for value in node.get("enum", [node.get("const")]))
    if "items" in node and isinstance(node["items"], dict):
        return f"array of {_kind(node['items'])}"
    for word in ("anyOf", "oneOf"):
        if word in node:
            return " or ".join(map(_kind, node[word]))
    kind = node.get("type", "any value")
    return kind if isinstance(kind, str) else " or ".join(kind)


def python_page() -> str:
    """The Python client of Zeno: how it is started, and its methods."""
    parts = ["# Python: the client of Zeno", "How to work with it: [Interfaces](../docs/guides/interfaces.md#python)."]
    parts += [_function("Zeno", Zeno.__init__, Zeno.__doc__), _function("AsyncZeno", AsyncZeno.__init__)]
    parts.append("Both have these methods; those of `AsyncZeno` are awaited.")
    return "\n\n".join([*parts, *_methods(Methods)]) + "\n"


def ledgers_page() -> str:
    """The Python API of normalizer."""
    parts = ["# Python: ledgers of normalizer", "With examples: [Python and exports](../docs/guides/python.md)."]
    parts += [_function("normalizer.open", normalizer.open), "It returns an object with these methods."]
    return "\n\n".join([*parts, *_methods(Ledgers)]) + "\n"


def _methods(owner: type) -> list[str]:
    """The public methods of a class, one section each."""
    members = inspect.getmembers(owner, inspect.isfunction)
    return [_function(name, method) for name, method in members if not name.startswith("_")]


def _function(name: str, function: Callable[..., Any], text: str | None = None) -> str:
    """A function as a section: its signature with one argument a line, and what it says about itself."""
    signature = inspect.signature(function)
    arguments: list[str] = []
    keyword = inspect.Parameter.KEYWORD_ONLY
    for argument in signature.parameters.values():
        if argument.name != "self":
            if argument.kind is keyword and "    *," not in arguments:
                arguments.append("    *,")
            arguments.append(f"    {_argument(argument)},")
    inside = "\n".join(["", *arguments, ""]) if arguments else ""
    returned = signature.return_annotation
    after = "" if returned in (inspect.Signature.empty, None) else f" -> {_type(returned)}"
    about = re.sub(r"^(\w+): ", r"- `\1`: ", inspect.cleandoc(text or function.__doc__ or ""), flags=re.MULTILINE)
    return f"## {name.rpartition('.')[2]}\n\n```python\n{name}({inside}){after}\n```\n\n{about}"


def _argument(argument: inspect.Parameter) -> str:
    star = "*" if argument.kind is inspect.Parameter.VAR_POSITIONAL else ""
    default = "" if argument.default is inspect.Parameter.empty else f" = {argument.default!r}"
    return f"{star}{argument.name}: {_type(argument.annotation)}{default}"


def _type(annotation: Any) -> str:
    """An annotation as it stands in the source, without the names of standard modules."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:collections\.abc|os|pathlib|typing)\.", "", text)


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
    reference = [
        {"Python: Zeno": "reference/python.md"},
        {"Python: normalizer": "reference/ledgers.md"},
        {"HTTP API": "reference/http.md"},
        {"Schemas": schemas},
    ]
    return [*NAV[:-1], {"Schemas, HTTP, Python": reference}, NAV[-1]]


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
