"""The pages of reference are what would be made, and have every code, operation, command and flag."""

import contract_spec as spec
from contract_spec.operations import operations

from normalizer.cli import COMMANDS
from tools import reference


def test_the_pages_are_what_would_be_made(capsys):
    assert reference.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_drift_is_told_with_the_command_that_mends_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    assert reference.main(["--check"]) == 1
    assert "nox -s generate" in capsys.readouterr().out
    assert reference.main([]) == 0
    assert reference.main(["--check"]) == 0


def test_every_code_has_a_row():
    page = reference.errors_page()
    codes = spec.schema("zeno/error.json")["properties"]["code"]["enum"]
    for code in (*codes, *spec.resource("rules/reasons.json"), *spec.resource("rules/flags.json")):
        assert f"\n- `{code}`: " in page


def test_every_operation_and_argument_has_a_row():
    page = reference.operations_page()
    for name in operations():
        _, _, section = page.partition(f"\n## {name}\n")
        for argument in spec.schema(f"zeno/ops/{name}.json")["$defs"]["args"]["properties"]:
            assert f"\n- `{argument}`: " in section.partition("\n## ")[0]


def test_every_command_has_a_section_with_its_flags():
    zeno, normalizer = reference.zeno_page(), reference.normalizer_page()
    for name in ("serve", "mcp", "http", "call", "trace verify", "trace view"):
        _, _, section = zeno.partition(f"\n## zeno {name}\n")
        assert "`--" in section.partition("\n## ")[0]
    for name in COMMANDS:
        assert f"\n### {name}\n\n`normalizer {name}" in normalizer
    assert "\n- `--max-seconds N`: " in zeno


def test_every_member_of_a_dialect_has_a_row_and_every_kind_of_dialect_an_example():
    page, schema = reference.dialect_page(), spec.schema("eval/dialect.json")
    sections = {"": schema, **schema["$defs"]}
    for name, part in sections.items():
        section = page.partition(f"\n## {name}\n")[2] if name else page
        for member in part["properties"]:
            assert f"\n- `{member}`: " in section.partition("\n## ")[0]
    shown = str(schema["examples"])
    declared = {*schema["$defs"]["value"]["properties"]} & {"pattern", "failed_like", "words", "number"}
    for word in (*declared, "columns", "delimiter", "split_text", "select_part", "winner", "**", "self_judged"):
        assert word in shown, word
