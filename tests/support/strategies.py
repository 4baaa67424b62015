"""JSON values made from our own schemas, right and nearly right. Knows exactly the keywords that spec/ allows."""

import copy
from typing import Any

import contract_spec as spec
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.sampled_from([0.0, 1.0, 1.5, -2.0, 2**53, 2**53 + 1, 10**30]), TEXT
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)


def resolve(name: str, node: Any) -> tuple[str, Any]:
    """Follow the references of a schema node; `name` is the file it stands in."""
    while "$ref" in node:
        target, _, fragment = node["$ref"].partition("#")
        if target:
            parts = name.split("/")[:-1]
            for step in target.split("/"):
                parts = parts[:-1] if step == ".." else [*parts, step]
            name = "/".join(parts)
        node = spec.schema(name)
        for step in fragment.split("/")[1:]:
            node = node[step]
    return name, node


def valid(name: str, node: Any) -> st.SearchStrategy[Any]:
    """Values that the schema node accepts."""
    name, node = resolve(name, node)
    if "const" in node:
        return st.just(node["const"])
    if "enum" in node:
        return st.sampled_from(node["enum"])
    for keyword in ("oneOf", "anyOf"):
        if keyword in node:
            return st.one_of([valid(name, branch) for branch in node[keyword]])
    types = node.get("type")
    if types is None:
        return JSON
    if isinstance(types, list):
        return st.one_of([valid(name, {**node, "type": one}) for one in types])
    return _TYPES[types](name, node)


def _object(name: str, node: Any) -> st.SearchStrategy[Any]:
    properties = node.get("properties", {})
    required = {key: valid(name, properties[key]) for key in node.get("required", [])}
    optional = {key: valid(name, value) for key, value in properties.items() if key not in required}
    least = node.get("minProperties", 0)
    built = st.fixed_dictionaries(required, optional=optional)
    extra = node.get("additionalProperties", True)
    if extra is not False:
        keys = st.from_regex(node["propertyNames"]["pattern"]) if "pattern" in node.get("propertyNames", {}) else TEXT
        if node.get("propertyNames", {}).get("minLength"):
            keys = keys.filter(bool)
        inner = JSON if extra is True else valid(name, extra)
        more = st.dictionaries(keys, inner, min_size=least, max_size=max(3, least))
        built = st.builds(
            lambda known, more: {**{k: v for k, v in more.items() if k not in properties}, **known}, built, more
        )
    return built.filter(lambda value: len(value) >= least)


def _array(name: str, node: Any) -> st.SearchStrategy[Any]:
    if "prefixItems" in node:
        return st.tuples(*[valid(name, item) for item in node["prefixItems"]]).map(list)
    least = node.get("minItems", 0)
    items = valid(name, node.get("items", {}))
    unique = (lambda item: repr(item)) if node.get("uniqueItems") else None
    return st.lists(items, min_size=least, max_size=node.get("maxItems", max(3, least)), unique_by=unique)


def _string(_name: str, node: Any) -> st.SearchStrategy[Any]:
    if "pattern" in node:
        return st.from_regex(node["pattern"].replace(r"$(?!\n)", r"\Z")).filter(lambda text: not text.endswith("\n"))
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=node.get("minLength", 0), max_size=12)


def _integer(_name: str, node: Any) -> st.SearchStrategy[Any]:
    low, high = node.get("minimum", -(2**40)), node.get("maximum", 2**40)
    low = max(low, node["exclusiveMinimum"] + 1) if "exclusiveMinimum" in node else low
    whole = st.integers(low, high)
    return whole | whole.filter(lambda number: abs(number) < 2**53).map(float)


def _number(_name: str, node: Any) -> st.SearchStrategy[Any]:
    low, high = node.get("minimum"), node.get("maximum")
    floats = st.floats(low, high, allow_nan=False, allow_infinity=False)
    if "exclusiveMinimum" in node:
        floats = floats.filter(lambda number: number > node["exclusiveMinimum"])
    return floats | st.integers(int(low) if low is not None else 1, int(high) if high is not None else 2**60)


_TYPES = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda _name, _node: st.booleans(),
    "null": lambda _name, _node: st.none(),
}


@st.composite
def nearly(draw: st.DrawFn, name: str, node: Any) -> Any:
    """A value that the schema node accepts, with one change somewhere: often wrong, sometimes still right."""
    holder = [copy.deepcopy(draw(valid(name, node)))]
    places: list[tuple[Any, Any]] = [(holder, 0)]
    for container, key in places:
        inner = container[key]
        if isinstance(inner, dict):
            places += [(inner, one) for one in inner]
        elif isinstance(inner, list):
            places += [(inner, one) for one in range(len(inner))]
    container, key = draw(st.sampled_from(places))
    change = draw(st.sampled_from(["replace", "drop", "add", "retype"]))
    if change == "drop" and isinstance(container, dict):
        del container[key]
    elif change == "add" and isinstance(container[key], dict):
        container[key][draw(TEXT)] = draw(SCALARS)
    elif change == "retype":
        container[key] = _retyped(container[key])
    else:
        container[key] = draw(JSON)
    return holder[0]


def _retyped(value: Any) -> Any:
    """The same value as another type says it: what a careless validator takes for the same."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return bool(value) if value in (0, 1) else str(value)
    if isinstance(value, str):
        return None if not value else [value]
    return str(value)
