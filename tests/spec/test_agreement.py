"""Schema and model agree: what one accepts the other accepts unchanged, what one refuses the other refuses.

Three judges see every value: jsonschema as the independent referee, jsonschema-rs as it runs in the server, and the
generated model.
"""

import importlib
from typing import Any

import contract_spec as spec
import jsonschema
import pytest
from contract_spec.model import Model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError, create_model

from tests.spec.test_schemas import REGISTRY
from tests.support.strategies import nearly, valid
from tools.generate import RAW


def titled() -> list[tuple[str, str, str]]:
    """Every schema that becomes a class or an alias: its file, its pointer and its name."""
    found = []
    for name in spec.names():
        schema = spec.schema(name)
        found.append((name, "", schema["title"]))
        for key, node in schema.get("$defs", {}).items():
            # A title on a plain string is only a caption: the generator inlines it.
            if "title" in node and (node.get("type") == "object" or "oneOf" in node):
                found.append((name, f"#/$defs/{key}", node["title"]))
    return found


class Carrier:
    """A generated class or alias as one that carries values."""

    def __init__(self, name: str, title: str) -> None:
        module = importlib.import_module("contract_models." + name.removesuffix(".json").replace("/", "."))
        kind = getattr(module, title)
        # An alias has no base class of its own: it is judged the way it is used, inside a model.
        self._alias = not isinstance(kind, type)
        self._model = TypeAdapter(create_model("Holder", __base__=Model, value=(kind, ...)) if self._alias else kind)

    def accepts(self, value: Any) -> bool:
        """Whether it takes the value; then it must give it back unchanged."""
        given = {"value": value} if self._alias else value
        try:
            carried = self._model.validate_python(given)
        except ValidationError:
            return False
        assert self._model.dump_python(carried, mode="json", exclude_unset=True) == given, "the model changes its value"
        return True


@pytest.mark.parametrize(("name", "pointer", "title"), titled(), ids=lambda part: str(part))
def test_schema_and_model_agree(name, pointer, title):
    model = None if name in RAW else Carrier(name, title)
    referee = jsonschema.Draft202012Validator({"$ref": spec.BASE + name + pointer}, registry=REGISTRY)
    node = {"$ref": pointer} if pointer else spec.schema(name)

    @settings(max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(value=st.one_of(valid(name, node), nearly(name, node), nearly(name, node)))
    def agree(value: Any) -> None:
        accepted = referee.is_valid(value)
        assert (spec.violations(name + pointer, value) == []) is accepted
        assert model is None or model.accepts(value) is accepted

    agree()


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ({"max": 5}, True),
        ({"max": 5.0}, True),
        ({"max": 1e1}, True),
        ({"max": "5"}, False),
        ({"max": True}, False),
        ({"max": 5.5}, False),
        ({"max": None}, False),
        ({"glob": None}, False),
        ({"glob": ""}, False),
        ({"include_hidden": 1}, False),
        ({"exclude_dirs": "a"}, False),
        ({"exclude_dirs": [""]}, False),
        ({"surplus": 1}, False),
    ],
    ids=repr,
)
def test_known_traps_are_judged_alike(value, accepted):
    ref = "zeno/ops/list_files.json#/$defs/args"
    assert (spec.violations(ref, value) == []) is accepted
    assert Carrier("zeno/ops/list_files.json", "ListFilesArgs").accepts(value) is accepted


def test_true_is_not_one_in_a_literal():
    model = Carrier("zeno/response.json", "Success")
    assert model.accepts({"id": "1", "ok": True, "result": {}})
    assert not model.accepts({"id": "1", "ok": 1, "result": {}})
