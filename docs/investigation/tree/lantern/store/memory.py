"""A store that forgets when the server stops."""

from typing import Any


class MemoryStore:
    """Values by key, each with the moment it expires."""

    def __init__(self) -> None:
        self._items: dict[str, tuple[float, Any]] = {}

    def put(self, key: str, value: Any, expires: float) -> None:
        """Keep a value until then."""
        self._items[key] = (expires, value)

    def get(self, key: str, now: float) -> Any:
        """The value, or None once it has expired."""
        expires, value = self._items.get(key, (0.0, None))
        if expires <= now:
            self._items.pop(key, None)
            return None
        return value

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._items.pop(key, None)
