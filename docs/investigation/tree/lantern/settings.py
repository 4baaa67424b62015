"""Settings, read from a file of `name = value` lines."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What can be set, and what it is where nothing is said."""

    session_seconds: int = 3600
    page_size: int = 20
    language: str = "en"


def load(text: str) -> Settings:
    """Read settings; an unknown name is an error."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if not line:
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"not a setting: {line!r}")
        values[name.strip()] = value.strip()
    defaults = Settings()
    return Settings(
        session_seconds=_seconds(values.pop("session", f"{defaults.session_seconds}s")),
        page_size=int(values.pop("page_size", defaults.page_size)),
        language=values.pop("language", defaults.language),
    )


def _seconds(text: str) -> int:
    """A span of time: 90s, 15m or 1h."""
    units = {"s": 1, "m": 60, "h": 60}
    return int(text[:-1]) * units[text[-1]]
