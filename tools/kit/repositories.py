"""Repositories described as JSON become the files of a `.git`: each object in a file of its own, as git writes them."""

import hashlib
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.kit.trees import content, raw

_PERSON = "kit <kit@example>"
_MODES = {"link": b"120000", "submodule": b"160000"}


def write_repository(described: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Write a repository into a new folder; return the ids of its commits by name."""
    (folder / "objects").mkdir(parents=True)
    (folder / "HEAD").write_text(f"ref: {described['head']}\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    (folder / "refs").mkdir()
    ids: dict[str, str] = {}
    for commit in described["commits"]:
        tree = _write_tree(folder, {raw(entry["path"]): entry for entry in commit["tree"]})
        who = f"{_PERSON} {commit['time']} +0000"
        lines = [f"tree {tree.hex()}", *(f"parent {ids[name]}" for name in commit.get("parents", []))]
        text = "\n".join([*lines, f"author {who}", f"committer {who}", "", commit["name"], ""])
        ids[commit["name"]] = _write(folder, b"commit", text.encode()).hex()
    for module in described.get("modules", []):
        write_repository(module["repository"], folder / "modules" / module["name"])
    for ref in described["refs"]:
        path = folder / ref["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ids[ref["commit"]] + "\n")
    return ids


def _write_tree(folder: Path, entries: Mapping[bytes, Mapping[str, Any]]) -> bytes:
    """Write a directory, given by the paths below it; return its id."""
    found: dict[bytes, tuple[bytes, bytes]] = {}
    below: dict[bytes, dict[bytes, Mapping[str, Any]]] = {}
    for path, entry in entries.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        elif entry["type"] == "submodule":
            found[name] = _MODES["submodule"], bytes.fromhex(entry["id"])
        else:
            data = raw(entry["target"]) if entry["type"] == "link" else content(entry)
            plain = b"100755" if entry.get("mode") == "0755" else b"100644"
            found[name] = _MODES.get(entry["type"], plain), _write(folder, b"blob", data, kept=entry["type"] != "lost")
    for name, inner in below.items():
        found[name] = b"40000", _write_tree(folder, inner)
    # As git sorts them: a directory as if a slash were behind its name.
    names = sorted(found, key=lambda name: name + b"/" * (found[name][0] == b"40000"))
    return _write(folder, b"tree", b"".join(b"%b %b\0%b" % (found[name][0], name, found[name][1]) for name in names))


def _write(folder: Path, kind: bytes, data: bytes, *, kept: bool = True) -> bytes:
    whole = b"%b %d\0%b" % (kind, len(data), data)
    found = hashlib.sha1(whole, usedforsecurity=False)
    path = folder / "objects" / found.hexdigest()[:2] / found.hexdigest()[2:]
    if kept and not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(whole))
        os.chmod(path, 0o444)
    return found.digest()
