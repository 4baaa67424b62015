"""The result of stat as text for models."""

from zeno.interfaces.rows import Asked, Result, one_line, visible


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return a row for each path."""
    return [_stat_row(item) for item in result["items"]], ""


def _stat_row(item: Result) -> str:
    path = one_line(item["path"])
    if not item["exists"]:
        return f"{path}: {visible(item['error'])}"
    kind = "file" if item["is_file"] else "directory" if item["is_dir"] else "other"
    return f"{path}: {kind}, {item['size']} bytes, {item['mtime_iso']}"
