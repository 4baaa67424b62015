"""The result of list_files as text for models."""

from itertools import chain

from zeno.interfaces.rows import Asked, Result, name_paths, one_line
from zeno.interfaces.status import completeness, count
from zeno.interfaces.texts import other


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return the paths, or directories with counts."""
    if "files" not in result:
        return other.write_text(result, args)
    if "tree" in result:
        return _tree(result, args)
    files = result["files"]
    if not all(isinstance(path, str) for path in files):
        return other.write_text(result, args)
    return list(chain.from_iterable(name_paths(files))), f"{count(len(files), 'file')}; {completeness(result, args)}"


def _tree(result: Result, args: Asked) -> tuple[list[str], str]:
    """Directories behind their numbers of files and lines.

    A plus where the lines of some files were not counted, a question mark where those of none were.
    """
    body = []
    for one in result["tree"]:
        none = one["files_not_counted"] == one["files"]
        lines = "? lines" if none else f"{count(one['lines'], 'line')}{'+' if one['files_not_counted'] else ''}"
        body.append(f"{count(one['files'], 'file')}, {lines}\t{one_line(one['path'])}")
    status = f"{len(body)} {'directory' if len(body) == 1 else 'directories'}; {completeness(result, args)}"
    # The root comes first and holds all files.
    not_counted = result["tree"][0]["files_not_counted"] if body else 0
    return body, status + (f"; lines of {count(not_counted, 'file')} not counted (+, ?)" if not_counted else "")
