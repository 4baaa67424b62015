"""The digest of a result, which a replay compares: SHA-256 of canonical JSON (RFC 8785) without metrics."""

import hashlib
import json
from decimal import Decimal
from typing import Any

from contract_spec.model import Model


def digest(result: Model) -> str:
    """Return the digest of a result model."""
    return digest_of(result.model_dump(mode="json"))


def digest_of(result: dict[str, Any]) -> str:
    """Return the digest of a result given as JSON values."""
    body = {key: value for key, value in result.items() if key != "metrics"}
    return hashlib.sha256(canonical(body)).hexdigest()


def canonical(value: Any) -> bytes:
    """Return a value as canonical JSON. Keys of results are ASCII, so sorting by code point follows RFC 8785."""
    return _text(value).encode()


def _text(value: Any) -> str:
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_other(key)}:{_text(item)}" for key, item in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return _other(value)


_other = json.JSONEncoder(ensure_ascii=False).encode


def _number(value: float) -> str:
    """Write a number like ECMAScript: whole ones without a point, exponents only from 1e21 and below 1e-6."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        return mantissa
    power = int(exponent)
    return f"{Decimal(repr(value)):f}" if -7 < power < 21 else f"{mantissa}e{power:+d}"
