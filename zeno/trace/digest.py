"""The digest of a result: what a replay compares. SHA-256 of canonical JSON (RFC 8785), metrics left out."""

import hashlib
import json
from typing import Any

from contract_spec.model import Model


def digest(result: Model) -> str:
    """The digest of a result as it stands in a response event."""
    return digest_of(result.model_dump(mode="json"))


def digest_of(result: dict[str, Any]) -> str:
    """The digest of a result as a client received it."""
    body = {key: value for key, value in result.items() if key != "metrics"}
    return hashlib.sha256(canonical(body)).hexdigest()


def canonical(value: Any) -> bytes:
    """Canonical JSON. Keys of results are ASCII, so that code points order them as RFC 8785 asks."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def _plain(value: Any) -> Any:
    """Numbers as ECMAScript writes them: a whole float without its point. Only times are floats here."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
