"""Operations once more, as plainly as can be: whole files in memory, no streams, no RE2, no speed, no attacks.

What the server answers is compared with this on random trees and requests. Nothing of the server is used here. Regular
expressions come from a small language on which Python's `re` and RE2 agree about whether a text matches.
"""

import fnmatch
import os
import re
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from inspect import signature
from typing import Any

from contract_spec.bundle import inlined
from contract_spec.operations import args_schema, operations
from jsonschema import Draft202012Validator

from tests.support.plain_ranker import PlainRanker

BOM = b"\xef\xbb\xbf"


class Refused(Exception):
    """The answer is an error with this code."""


class Part(dict[str, Any]):
    """Some members of a result; the model does not know the others."""


class Nothing(Exception):
    """A path inside the root leads nowhere; carries the path as far as it is known, None where it is not."""


class Model:
    """What a server of this root must answer. `aliases` are links elsewhere that lead to the root."""

    def __init__(self, root: str, aliases: list[str]) -> None:
        self.root = os.fsencode(root)
        self.prefixes = [os.fsencode(prefix) for prefix in (root, *aliases)]

    def answer(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        """The result without metrics, or `{"error": code}`."""
        try:
            check(op, args)
            result: dict[str, Any] = getattr(self, op)(**args)
            return result
        except Refused as refused:
            return {"error": str(refused)}

    # Operations

    def list_files(
        self,
        glob: str | None = None,
        regex: str | None = None,
        max: int = 500,
        sort: str = "path",
        tree: bool = False,
        depth: int = 2,
        **rules: Any,
    ) -> dict[str, Any]:
        if tree and sort == "mtime":
            raise Refused("invalid_args")
        search = compiled(regex, True) if regex else None
        names, cut = self.names(**rules)

        def wanted(path: str) -> bool:
            return glob_matches(glob, path) if glob else not search or bool(search.search(path))

        def reaches(folder: str) -> bool:
            return not glob or may_hold(glob, folder)

        files = [path for path, rule in names if rule == "file" and wanted(path)]
        directories = self.directories(files, int(depth)) if tree else []
        limits = ["max"] * (len(directories if tree else files) > max) + ["max_files"] * cut
        gaps = [(path, rule) for path, rule in names if rule == "not_regular" and wanted(path)]
        shown: dict[str, Any] = {"files": files[: int(max)]}
        if sort == "mtime":
            newest = sorted(files, key=lambda path: (-os.stat(self.full(self.resolve(path))).st_mtime_ns, path))
            shown = {"files": newest[: int(max)]}
        elif tree:
            shown = {"files": [], "tree": directories[: int(max)]}
        return {
            **shown,
            **truncated(limits),
            "complete": bool(files) and not limits and not gaps,
            "skipped": {"unreadable": 0, "not_regular": len(gaps)},
            **skipped_files(gaps),
            "files_selected": len(files),
            "left_out": left_out(names, wanted, reaches),
        }

    def directories(self, files: list[str], depth: int) -> list[dict[str, Any]]:
        """Every directory above files, down to a depth, with what is below it."""
        above = {path: ["", *(path[:at] for at, char in enumerate(path) if char == "/")][: depth + 1] for path in files}
        found = []
        for directory in sorted({each for folders in above.values() for each in folders}):
            inside = [self.content(path) for path in files if directory in above[path]]
            text = [data for data in inside if not binary(data) and not wide(data)]
            lines = sum(len(lines_of(data)) for data in text)
            counts = {"files": len(inside), "lines": lines, "files_not_counted": len(inside) - len(text)}
            found.append({"path": directory or ".", **counts})
        return found

    def read_file(
        self,
        path: str,
        start_line: int = 1,
        end_line: int | None = None,
        max_lines: int = 400,
        ranges: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        wanted = [{"path": path, "start_line": start_line, "end_line": end_line or start_line}, *(ranges or [])]
        spans = [(int(one.get("start_line", 1)), int(one.get("end_line", one.get("start_line", 1)))) for one in wanted]
        if any(end < start for start, end in spans):
            raise Refused("invalid_args")
        left, cut, slices = int(max_lines), False, []
        for one, (start, end) in zip(wanted, spans, strict=True):
            name, lines = self.text(one.get("path", path))
            asked = lines[start - 1 : end]
            kept = asked[:left]
            left -= len(kept)
            cut |= len(asked) > len(kept)
            numbers = {"start_line": start, "end_line": start + len(kept) - 1, "total_lines": len(lines)}
            slices.append({"path": name, **numbers, "text": "\n".join(kept)})
        more = {"ranges": slices[1:]} if ranges else {}
        return {**slices[0], **truncated(["max_lines"] * cut), **more}

    def peek(self, path: str, head_lines: int = 60, tail_lines: int = 60) -> dict[str, Any]:
        name, lines = self.text(path)
        numbered = list(enumerate(lines, 1))
        head, tail = numbered[: int(head_lines)], numbered[max(0, len(lines) - int(tail_lines)) :]
        return {"path": name, "total_lines": len(lines), "head": piece(head), "tail": piece(tail)}

    def grep(
        self,
        pattern: str | None = None,
        patterns: list[str] | None = None,
        regex: bool = False,
        case_sensitive: bool = True,
        paths: list[str] | None = None,
        max_hits: int = 200,
        max_bytes: int = 2_000_000,
        context: int = 0,
        output: str = "hits",
        multiline: bool = False,
        **rules: Any,
    ) -> dict[str, Any]:
        if (pattern is None) == (patterns is None) or (patterns is not None and multiline):
            raise Refused("invalid_args")
        sought = [pattern] if pattern is not None else patterns or []
        each = [compiled(one if regex else re.escape(one), case_sensitive, multiline) for one in sought]
        names, cut, wanted, reaches = self.selected(paths, rules)
        files = [path for path, rule in names if rule == "file" and wanted(path)]
        gaps = [(path, rule) for path, rule in names if rule == "not_regular" and wanted(path)]
        skipped = {"binary": 0, "too_large": 0, "unreadable": 0, "not_regular": len(gaps)}
        hits: list[dict[str, Any]] = []
        for path in files:
            data = self.content(path)
            reason = "too_large" if len(data) > max_bytes else "unreadable" if wide(data) else None
            if reason or binary(data):
                skipped[reason or "binary"] += 1
                gaps += [(path, reason)] if reason else []
                continue
            lines = lines_of(data)
            matching = [[at for at, search in enumerate(each) if search.search(line)] for line in lines]
            single = [(number, number) for number, found in enumerate(matching, 1) if found]
            for first, last in spans(each[0], lines) if multiline else single:
                hit: dict[str, Any] = {"path": path, "line": first, "text": "\n".join(lines[first - 1 : last])}
                if multiline:
                    hit["end_line"] = last
                if patterns is not None:
                    hit["patterns"] = matching[first - 1]
                if context:
                    around = [n for n in range(1, len(lines) + 1) if first - context <= n <= last + context]
                    hit["context"] = [{"line": n, "text": lines[n - 1]} for n in around]
                hits.append(hit)
        counted = [
            {"path": path, "lines": sum(hit["text"].count("\n") + 1 for hit in hits if hit["path"] == path)}
            for path in sorted({hit["path"] for hit in hits})
        ]
        shown: dict[str, Any] = {"hits": hits[: int(max_hits)]}
        most = len(hits)
        if output == "files":
            shown, most = {"hits": [], "counts": counted[: int(max_hits)]}, len(counted)
        elif output == "count":
            shown, most = (
                {"hits": [], "total": {"files": len(counted), "lines": sum(one["lines"] for one in counted)}},
                0,
            )
        limits = ["max_files"] * cut + ["max_hits"] * (most >= max_hits)
        return {
            **shown,
            **truncated(limits),
            "complete": bool(files) and not limits and not gaps,
            "skipped": skipped,
            **skipped_files(gaps),
            "files_selected": len(files),
            "left_out": left_out(names, wanted, reaches),
        }

    def find_references(
        self,
        name: str,
        paths: list[str] | None = None,
        max_hits: int = 200,
        max_bytes: int = 2_000_000,
        callers: int = 0,
        **rules: Any,
    ) -> dict[str, Any]:
        """Lines as those of grep; their roles and scopes are not known here."""
        word = f"(^|[^0-9A-Za-z_]){name}($|[^0-9A-Za-z_])"
        searched = self.grep(word, None, True, True, paths, max_hits, max_bytes, **rules)
        del searched["hits"]
        if callers:
            # Whether all callers were followed is not known here.
            del searched["complete"]
        return Part(searched)

    def find_symbols(self, paths: list[str] | None = None, **rules: Any) -> dict[str, Any]:
        """What is selected; definitions are not known here."""
        names, _, wanted, reaches = self.selected(paths, rules)
        files = [path for path, rule in names if rule == "file" and wanted(path)]
        return Part({"files_selected": len(files), "left_out": left_out(names, wanted, reaches)})

    def search(
        self,
        query: str,
        paths: list[str] | None = None,
        max_results: int = 10,
        max_bytes: int = 2_000_000,
        **rules: Any,
    ) -> dict[str, Any]:
        # Which files are looked at and how they are skipped is as in a search for a text.
        found = self.grep(pattern="x", paths=paths, max_bytes=max_bytes, max_hits=1 << 53, **rules)
        entries = [self.entry(text) for text in paths] if paths else ["."]
        names, cut = self.names(**rules)
        texts = {}
        for path in (path for path, rule in names if rule == "file" and any(below(entry, path) for entry in entries)):
            data = self.content(path)
            if len(data) <= max_bytes and not wide(data) and not binary(data):
                texts[path] = "".join(f"{line}\n" for line in lines_of(data))
        ranked, terms = PlainRanker(texts, {}).rank(query)
        limits = ["max_files"] * cut + ["max_results"] * (len(ranked) > max_results)
        parts = ("complete", "skipped", "files_selected", "left_out")
        return Part(
            {
                "terms": [{"term": term, "files": files} for term, files in terms],
                **truncated(limits),
                **{part: found[part] for part in parts},
            }
        )

    def extract_symbols(self, path: str, max_symbols: int = 400) -> dict[str, Any]:
        return Part({"path": self.text(path)[0]})

    def stat(self, path: str | None = None, paths: list[str] | None = None) -> dict[str, Any]:
        asked = ([path] if path is not None else []) + (paths or [])
        return {"items": [self.item(each) for each in asked]}

    def item(self, path: str) -> dict[str, Any]:
        try:
            names = self.resolve(path)
        except Nothing as nothing:
            return {"path": nothing.args[0], "exists": False, "is_file": False, "is_dir": False}
        found = os.lstat(self.full(names))
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=found.st_mtime_ns // 10**9)
        return {
            "path": printed(b"/".join(names)) if names else ".",
            "exists": True,
            "size": found.st_size,
            "mtime": found.st_mtime,
            "mtime_iso": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "is_file": stat.S_ISREG(found.st_mode),
            "is_dir": stat.S_ISDIR(found.st_mode),
        }

    # Paths

    def full(self, names: list[bytes]) -> bytes:
        return b"/".join([self.root, *names])

    def inside(self, path: bytes) -> bytes:
        for prefix in self.prefixes:
            if path == prefix or path.startswith(prefix + b"/"):
                return path[len(prefix) :]
        raise Refused("path_outside_root")

    def resolve(self, path: str) -> list[bytes]:
        """The names that a path leads to, one step at a time and links by hand."""
        todo = self.steps(raw(path))
        names: list[bytes] = []
        links = 0
        while todo:
            step = todo.pop(0)
            if step == b"..":
                if not names:
                    raise Refused("path_outside_root")
                names.pop()
                continue
            here = self.full([*names, step])
            if os.path.islink(here) and links < 40:
                links += 1
                target = os.readlink(here)
                if target.startswith(b"/"):
                    names = []
                todo = self.steps(target) + todo
            elif (
                step != b"."
                and os.path.lexists(here)
                and not os.path.islink(here)
                and (os.path.isdir(here) or not todo)
            ):
                names.append(step)
            elif step != b".":
                depth = len(names) + 1
                for rest in todo:
                    depth += {b"..": -1, b".": 0}.get(rest, 1)
                    if depth < 0:
                        raise Refused("path_outside_root")
                rest_of_it = [each for each in todo if each != b"."]
                raise Nothing(None if os.path.islink(here) else printed(b"/".join([*names, step, *rest_of_it])))
        return names

    def steps(self, path: bytes) -> list[bytes]:
        if path.startswith(b"/"):
            path = self.inside(path)
        # A slash at the end of a file's name asks for what is below it, as a dot does.
        return [b"." if name == b"" else name for name in path.split(b"/")]

    def text(self, path: str) -> tuple[str, list[str]]:
        """The resolved name and the lines of a text file."""
        try:
            names = self.resolve(path)
        except Nothing:
            raise Refused("not_found") from None
        if not stat.S_ISREG(os.lstat(self.full(names)).st_mode):
            raise Refused("not_a_file")
        name = printed(b"/".join(names))
        data = self.content(name)
        if binary(data) or wide(data):
            raise Refused("not_a_file")
        return name, lines_of(data)

    def content(self, path: str) -> bytes:
        with open(self.full([raw(path)]), "rb") as file:
            return file.read()

    def names(
        self,
        max_files: int = 20000,
        include_hidden: bool = False,
        exclude_dirs: tuple[str, ...] = (),
        exclude_globs: tuple[str, ...] = (),
    ) -> tuple[list[tuple[str, str]], bool]:
        """Every name that a walk comes by with what becomes of it, sorted; a directory is one only if not entered.

        Of files only the first `max_files`, and with a cut nothing behind the last of them.
        """
        found: list[tuple[str, str]] = []
        for folder, folders, files in os.walk(self.root):
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for name in [*files, *folders]:
                path = printed(os.path.relpath(os.path.join(folder, name), self.root))
                entered = name in folders and name not in links
                if not include_hidden and name.startswith(b"."):
                    found.append((path + "/" * entered, "hidden"))
                elif entered and printed(name) in exclude_dirs:
                    found.append((path + "/", "excluded"))
                elif entered:
                    continue
                elif any(glob_matches(glob, path) for glob in exclude_globs):
                    found.append((path, "excluded"))
                else:
                    found.append((path, self.kind(path)))
            left = {path.rstrip("/") for path, rule in found if rule in ("hidden", "excluded")}
            folders[:] = [
                name for name in folders if printed(os.path.relpath(os.path.join(folder, name), self.root)) not in left
            ]
        found.sort()
        files_found = [path for path, rule in found if rule == "file"]
        if len(files_found) <= max_files:
            return found, False
        last = files_found[int(max_files) - 1]
        return [(path, rule) for path, rule in found if path <= last], True

    def selected(self, paths: list[str] | None, rules: dict[str, Any]) -> Any:
        """Names, whether they were cut, and which files and folders a search is about."""
        entries = [self.entry(text) for text in paths] if paths else ["."]
        names, cut = self.names(**rules)

        def wanted(path: str) -> bool:
            return any(below(entry, path) for entry in entries)

        def reaches(folder: str) -> bool:
            return any(
                entry == "."
                or folder.startswith(entry.rstrip("/") + "/")
                or may_hold(entry.rstrip("/") + "/", folder)
                or may_hold(entry, folder)
                for entry in entries
            )

        # A link to a directory that was asked for by name, or on the way to something, is no rule's matter.
        asked = [f"{entry}/" for entry in entries]
        names = [
            (
                path,
                "not_regular" if rule == "linked_dirs" and any(one.startswith(f"{path}/") for one in asked) else rule,
            )
            for path, rule in names
        ]
        return names, cut, wanted, reaches

    def kind(self, path: str) -> str:
        """Return what the name of a file or a link is in a list of files."""
        try:
            mode = os.lstat(self.full(self.resolve(path))).st_mode
        except (Refused, Nothing):
            return "not_regular"
        return "file" if stat.S_ISREG(mode) else "linked_dirs" if stat.S_ISDIR(mode) else "not_regular"

    def entry(self, text: str) -> str:
        """An entry of `grep.paths` as a relative one."""
        name = raw(text)
        if text.startswith("/"):
            inside = printed(self.inside(name))
            text = "/".join(step for step in inside.split("/") if step not in ("", ".")) or "."
        while text.startswith("./"):
            text = text[2:] or "."
        depth = 0
        for step in text.split("/"):
            depth += {"..": -1, ".": 0, "": 0}.get(step, 1)
            if depth < 0:
                raise Refused("path_outside_root")
        return text


# Arguments


def check(op: str, args: dict[str, Any]) -> None:
    """Refuse arguments that the schema does not accept, by another validator than that of the server."""
    if not Draft202012Validator(inlined(f"zeno/ops/{op}.json#/$defs/args")).is_valid(args):
        raise Refused("invalid_args")


def arguments() -> dict[str, dict[str, Any]]:
    """The arguments that the model knows of each operation it has, with their schemas."""
    found: dict[str, dict[str, Any]] = {}
    for op in operations():
        if hasattr(Model, op):
            schema = args_schema(op)
            names = {*signature(getattr(Model, op)).parameters}
            if "rules" in names:
                names |= {*signature(Model.names).parameters}
            found[op] = {
                name: {**one, "required": name in schema.get("required", ())}
                for name, one in schema["properties"].items()
                if name in names
            }
    return found


def spans(search: re.Pattern[str], lines: list[str]) -> list[tuple[int, int]]:
    """First and last line of each match in the text of all lines; matches that share a line are one."""
    text = "".join(line + "\n" for line in lines)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(text) and (match := search.search(text, at)) and match.start() < len(text):
        start, end = match.span()
        first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, max(start, end - 1)) + 1
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
        at = max(end, start + 1)
    return found


def compiled(pattern: str, case_sensitive: bool, multiline: bool = False) -> re.Pattern[str]:
    """An expression of the common language, where only `$` is said otherwise; what only `re` can do is refused.

    With `multiline`, `^` and `$` are the ends of lines, as both say it.
    """
    if re.search(r"\(\?[=<]|\\1|1001", pattern):
        raise Refused("invalid_pattern")
    try:
        if multiline:
            return re.compile(pattern, re.MULTILINE | (0 if case_sensitive else re.IGNORECASE))
        return re.compile(re.sub(r"(?<!\\)\$", r"\\Z", pattern), 0 if case_sensitive else re.IGNORECASE)
    except re.error:
        raise Refused("invalid_pattern") from None


def truncated(limits: list[str]) -> dict[str, Any]:
    return {"truncated": True, "truncated_by": limits} if limits else {"truncated": False}


def left_out(
    names: list[tuple[str, str]], wanted: Callable[[str], bool], reaches: Callable[[str], bool]
) -> dict[str, int]:
    """How many names each rule left out though they were asked for."""
    asked = [(path, rule) for path, rule in names if (reaches(path) if path.endswith("/") else wanted(path))]
    counts = {name: sum(rule == name for _, rule in asked) for name in ("hidden", "ignored", "excluded")}
    folders = sum(path.endswith("/") and rule in counts for path, rule in asked)
    linked = sum(rule == "linked_dirs" and (wanted(path) or reaches(path + "/")) for path, rule in names)
    return {**counts, **({"linked_dirs": linked} if linked else {}), "directories": folders + linked}


def skipped_files(gaps: list[tuple[str, str]]) -> dict[str, Any]:
    """The first five of the entries that make an answer incomplete."""
    named = [{"path": path, "reason": reason} for path, reason in sorted(gaps)[:5]]
    return {"skipped_files": named} if named else {}


def may_hold(glob: str, folder: str) -> bool:
    """Whether what stands before the first wildcard of a glob lets it match something below a directory."""
    literal = re.split(r"[*?\[{]", glob, maxsplit=1)[0]
    return literal.startswith(folder) or (literal != glob and folder.startswith(literal))


# Names, globs, lines


def printed(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    return "".join(f"\0{ord(char) - 0xDC00:02x}" if 0xDC80 <= ord(char) <= 0xDCFF else char for char in text)


def raw(path: str) -> bytes:
    name = re.sub("\0([0-9a-f]{2})", lambda found: chr(0xDC00 + int(found[1], 16)), path)
    try:
        data = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise Refused("invalid_args") from None
    if printed(data) != path or b"\0" in data:
        raise Refused("invalid_args")
    return data


def below(entry: str, path: str) -> bool:
    """Whether an entry of `grep.paths` takes a path."""
    return entry in (".", path) or path.startswith(entry.rstrip("/") + "/") or glob_matches(entry, path)


def glob_matches(glob: str, path: str) -> bool:
    return any(_matches(each, 0, path, 0) for each in alternatives(glob))


def alternatives(glob: str) -> list[str]:
    """Braces resolved from the inside out; those without a comma are set aside as other characters."""
    found = re.search(r"\{([^{}]*)\}", glob)
    if not found:
        return [glob.replace("\ue000", "{").replace("\ue001", "}")]
    before, after, parts = glob[: found.start()], glob[found.end() :], found[1].split(",")
    if len(parts) == 1:
        return alternatives(f"{before}\ue000{parts[0]}\ue001{after}")
    return [text for part in parts for text in alternatives(before + part + after)]


def _matches(glob: str, at: int, path: str, here: int) -> bool:
    if at == len(glob):
        return here == len(path)
    if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
        ends = [here, *(index + 1 for index in range(here, len(path)) if path[index] == "/")]
        return any(_matches(glob, at + 3, path, end) for end in ends)
    if glob[at] == "*":
        return any(_matches(glob, at + 1, path, end) for end in range(here, len(path) + 1))
    if here == len(path):
        return False
    if glob[at] == "[":
        end = at + 1 + glob.startswith("!", at + 1)
        end = glob.find("]", end + 1)
        if end >= 0:
            fits = fnmatch.fnmatchcase(path[here], glob[at : end + 1])
            return fits and _matches(glob, end + 1, path, here + 1)
    return glob[at] in ("?", path[here]) and _matches(glob, at + 1, path, here + 1)


def binary(data: bytes) -> bool:
    return b"\0" in data[:8192]


def wide(data: bytes) -> bool:
    """Whether a mark says that a text is UTF-16 or UTF-32."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))


def lines_of(data: bytes) -> list[str]:
    if data.startswith(BOM):
        data = data[3:]
    lines = [line[:-1] if line.endswith(b"\r") else line for line in data.split(b"\n")[:-1]]
    last = data.split(b"\n")[-1]
    return [line.decode("utf-8", "replace") for line in lines + [last] * (last != b"")]


def piece(numbered: list[tuple[int, str]]) -> dict[str, Any]:
    if not numbered:
        return {"start_line": 0, "end_line": 0, "text": ""}
    return {
        "start_line": numbered[0][0],
        "end_line": numbered[-1][0],
        "text": "\n".join(text for _, text in numbered),
    }
