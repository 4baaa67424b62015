"""The pages about the interfaces tell the truth: their requests are valid, their tables complete."""

import json
import re
import tomllib
from pathlib import Path

import contract_spec as spec
import pytest

from tools.reference import with_operations
from zeno.cli.parser import main
from zeno.session.dispatch import OPS

ROOT = Path(__file__).parents[2]
DOORS = (ROOT / "docs" / "guides" / "interfaces.md").read_text(encoding="utf-8")
SKILL = (ROOT / "docs" / "skills" / "zeno" / "SKILL.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_every_request_of_the_skill_is_valid() -> None:
    requests = [json.loads(line) for block in blocks(SKILL, "json") for line in block.splitlines()]
    assert len(requests) > 8
    for request in requests:
        assert spec.violations(f"zeno/ops/{request['op']}.json#/$defs/args", request["args"]) == [], request


def test_the_skill_has_a_head_that_agents_read_and_names_every_operation() -> None:
    _, head, body = SKILL.split("---\n", 2)
    assert re.search(r"^name: zeno$", head, re.MULTILINE)
    description = re.search(r"^description: (.+)$", head, re.MULTILINE)
    assert description
    assert len(description[1]) <= 1024
    assert ", ".join(OPS) in description[1]
    assert with_operations(SKILL) == SKILL
    for op in OPS:
        assert f"- `{op}`: " in body


def test_the_table_of_statuses_is_that_of_the_rules() -> None:
    told = {
        code: status.split(",")
        for status, codes in re.findall(r"^- ([\d, ]+): (`.*(?:\n  .*)*)", DOORS, re.MULTILINE)
        for code in re.findall(r"`(\w+)`", codes)
        if status != "413"
    }
    rules = spec.resource("rules/http.json")["statuses"]
    assert told.keys() == rules.keys()
    for code, statuses in told.items():
        assert rules[code] in map(int, statuses)


def test_the_configurations_are_well_formed_and_start_what_exists(capsys: pytest.CaptureFixture[str]) -> None:
    servers = [
        *(next(iter(json.loads(block).values()))["zeno"] for block in blocks(DOORS, "json")),
        *(tomllib.loads(block)["mcp_servers"]["zeno"] for block in blocks(DOORS, "toml")),
    ]
    assert len(servers) == 3
    for server in servers:
        assert server["command"] == "zeno"
        with pytest.raises(SystemExit) as ended:
            main([*server["args"], "--help"])
        assert ended.value.code == 0
