"""Generated models are used: both packages carry values in them, and none is made for nothing."""

import re
from pathlib import Path
from typing import Annotated, Literal

import contract_spec as spec
import pytest
from contract_spec.model import Model
from pydantic import Field, StrictFloat, StrictInt, ValidationError
from typing_extensions import TypeAliasType

from tests.spec.test_layout import ROOT, imports_of
from tools.generate import RAW

MODELS = ROOT / "generated"


def imported_by(package: str) -> set[Path]:
    """The generated modules that the modules of a package import."""
    names = {
        name
        for path in (ROOT / package).rglob("*.py")
        for name in imports_of(path.read_text(encoding="utf-8"), for_types=True)
        if name.startswith("contract_models.")
    }
    files = {MODELS.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in names}
    return {file for file in files if file.is_file()}


def reached_from(files: set[Path]) -> set[Path]:
    """These modules and those that they need."""
    found: set[Path] = set()
    left = list(files)
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            for dots, names in re.findall(r"^from (\.+) import (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE):
                left += [file.parents[len(dots) - 1] / f"{name.split()[0]}.py" for name in names.split(",")]
    return found


@pytest.mark.parametrize("package", ["zeno", "normalizer"])
def test_both_packages_carry_generated_models(package):
    assert imported_by(package)


@pytest.mark.parametrize(("package", "folder"), [("zeno", "zeno"), ("zeno", "client"), ("normalizer", "eval")])
def test_no_model_is_made_for_nothing(package, folder):
    made = {path for path in (MODELS / folder).glob("*.py") if path.stem != "__init__"}
    # The models of operations are imported by name.
    operations = set((MODELS / folder).glob("ops/[!_]*.py"))
    assert made <= reached_from(imported_by(package) | operations)


def test_schemas_without_a_model_are_schemas():
    assert set(RAW) <= set(spec.names())


Bounded = TypeAliasType("Bounded", Annotated[StrictInt, Field(ge=1)])
Share = TypeAliasType("Share", Annotated[StrictFloat, Field(le=1)])
Level = TypeAliasType("Level", Literal[0, 1])


class Named(Model):
    """A model whose numbers have types with names."""

    bounded: list[Bounded]
    share: list[Share]
    level: list[Level]


def test_a_number_whose_type_has_a_name_is_read_as_the_schema_reads_it():
    """A definition that was rewritten around itself ended the process."""
    found = Named.model_validate_json('{"bounded": [1, 2.0], "share": [1, 0.5], "level": [1, 0.0]}')
    assert found.model_dump_json() == '{"bounded":[1,2],"share":[1,0.5],"level":[1,0]}'
    for wrong in ('{"bounded": [0], "share": [], "level": []}', '{"bounded": [], "share": [], "level": [true]}'):
        with pytest.raises(ValidationError):
            Named.model_validate_json(wrong)
