# Made from spec/schemas by `nox -s generate`. Do not edit: change the schema and make it anew.
"""The operations as methods. A subclass says how one is asked; None stands for an argument that is not given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from contract_spec.model import Model

from .ops.extract_symbols import ExtractSymbolsResult
from .ops.grep import GrepResult
from .ops.list_files import ListFilesResult
from .ops.peek import PeekResult
from .ops.read_file import ReadFileResult
from .ops.stat import StatResult

R = TypeVar("R", bound=Model)


class Methods:
    """The operations, answered before the method returns."""

    def call(self, op: str, args: Mapping[str, Any], result: type[R]) -> R:
        """Ask one operation."""
        raise NotImplementedError

    def pages(self, op: str, args: Mapping[str, Any], result: type[R]) -> Iterator[R]:
        """Ask one operation again and again, with the cursor of each result, until a result has none."""
        raise NotImplementedError

    def extract_symbols(
        self,
        path: str,
        *,
        max_symbols: int | None = None,
    ) -> ExtractSymbolsResult:
        """Find the definitions in a source file by regular expressions: quick, and honest about being a heuristic.

        path: Path relative to the root, or absolute and under it. The language is chosen by the name of the file.
        max_symbols: Return at most this many symbols. Default: 400.
        """
        return self.call("extract_symbols", _given(path=path, max_symbols=max_symbols), ExtractSymbolsResult)

    def grep(
        self,
        pattern: str,
        *,
        regex: bool | None = None,
        case_sensitive: bool | None = None,
        paths: Sequence[str] | None = None,
        max_hits: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        context: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
    ) -> GrepResult:
        """Search text files line by line for a literal or a regular expression. Hits sort by path, then line.

        pattern: The text to find, or with regex an RE2 regular expression. It is matched against one line at a time,
            without the line's end.
        regex: Take pattern as a regular expression. Default: false.
        case_sensitive: False folds case the simple Unicode way, for literals and regular expressions alike. Default:
            true.
        paths: Search only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_hits: Return at most this many hits. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Default: 2000000.
        context: With each hit also return this many lines before and after it. Default: 0.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        """
        return self.call("grep", _given(pattern=pattern, regex=regex, case_sensitive=case_sensitive, paths=paths, max_hits=max_hits, max_files=max_files, max_bytes=max_bytes, context=context, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs), GrepResult)

    def list_files(
        self,
        *,
        glob: str | None = None,
        regex: str | None = None,
        max: int | None = None,
        max_files: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
    ) -> ListFilesResult:
        """List regular files under the root, sorted by the code points of their relative path.

        glob: Case-sensitive fnmatch glob over the whole relative path; * and ? also match /, a leading **/ also
            matches nothing, {a,b} are alternatives.
        regex: RE2 regular expression searched for in the relative path. Ignored when glob is given, but it must still
            be a valid pattern.
        max: Return at most this many files. Default: 500.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        include_hidden: Also list files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        """
        return self.call("list_files", _given(glob=glob, regex=regex, max=max, max_files=max_files, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs), ListFilesResult)

    def peek(
        self,
        path: str,
        *,
        head_lines: int | None = None,
        tail_lines: int | None = None,
    ) -> PeekResult:
        """Read the first and the last lines of a text file.

        path: Path relative to the root, or absolute and under it.
        head_lines: Number of lines from the start. Default: 60.
        tail_lines: Number of lines from the end. Default: 60.
        """
        return self.call("peek", _given(path=path, head_lines=head_lines, tail_lines=tail_lines), PeekResult)

    def read_file(
        self,
        path: str,
        *,
        start_line: int | None = None,
        end_line: int | None = None,
        max_lines: int | None = None,
    ) -> ReadFileResult:
        """Read a range of lines of a text file.

        path: Path relative to the root, or absolute and under it.
        start_line: First line wanted, counted from 1. Default: 1.
        end_line: Last line wanted, not below start_line. Absent: start_line, that is one line.
        max_lines: Return at most this many lines. Default: 400.
        """
        return self.call("read_file", _given(path=path, start_line=start_line, end_line=end_line, max_lines=max_lines), ReadFileResult)

    def stat(
        self,
        *,
        path: str | None = None,
        paths: Sequence[str] | None = None,
    ) -> StatResult:
        """Tell size and time of one or more paths.

        path: A path relative to the root, or absolute and under it. It is answered first.
        paths: More paths, answered in the order given.
        """
        return self.call("stat", _given(path=path, paths=paths), StatResult)


class AsyncMethods:
    """The operations, to be awaited."""

    async def call(self, op: str, args: Mapping[str, Any], result: type[R]) -> R:
        """Ask one operation."""
        raise NotImplementedError

    def pages(self, op: str, args: Mapping[str, Any], result: type[R]) -> AsyncIterator[R]:
        """Ask one operation again and again, with the cursor of each result, until a result has none."""
        raise NotImplementedError

    async def extract_symbols(
        self,
        path: str,
        *,
        max_symbols: int | None = None,
    ) -> ExtractSymbolsResult:
        """Find the definitions in a source file by regular expressions: quick, and honest about being a heuristic.

        path: Path relative to the root, or absolute and under it. The language is chosen by the name of the file.
        max_symbols: Return at most this many symbols. Default: 400.
        """
        return await self.call("extract_symbols", _given(path=path, max_symbols=max_symbols), ExtractSymbolsResult)

    async def grep(
        self,
        pattern: str,
        *,
        regex: bool | None = None,
        case_sensitive: bool | None = None,
        paths: Sequence[str] | None = None,
        max_hits: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        context: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
    ) -> GrepResult:
        """Search text files line by line for a literal or a regular expression. Hits sort by path, then line.

        pattern: The text to find, or with regex an RE2 regular expression. It is matched against one line at a time,
            without the line's end.
        regex: Take pattern as a regular expression. Default: false.
        case_sensitive: False folds case the simple Unicode way, for literals and regular expressions alike. Default:
            true.
        paths: Search only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_hits: Return at most this many hits. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Default: 2000000.
        context: With each hit also return this many lines before and after it. Default: 0.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        """
        return await self.call("grep", _given(pattern=pattern, regex=regex, case_sensitive=case_sensitive, paths=paths, max_hits=max_hits, max_files=max_files, max_bytes=max_bytes, context=context, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs), GrepResult)

    async def list_files(
        self,
        *,
        glob: str | None = None,
        regex: str | None = None,
        max: int | None = None,
        max_files: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
    ) -> ListFilesResult:
        """List regular files under the root, sorted by the code points of their relative path.

        glob: Case-sensitive fnmatch glob over the whole relative path; * and ? also match /, a leading **/ also
            matches nothing, {a,b} are alternatives.
        regex: RE2 regular expression searched for in the relative path. Ignored when glob is given, but it must still
            be a valid pattern.
        max: Return at most this many files. Default: 500.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        include_hidden: Also list files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        """
        return await self.call("list_files", _given(glob=glob, regex=regex, max=max, max_files=max_files, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs), ListFilesResult)

    async def peek(
        self,
        path: str,
        *,
        head_lines: int | None = None,
        tail_lines: int | None = None,
    ) -> PeekResult:
        """Read the first and the last lines of a text file.

        path: Path relative to the root, or absolute and under it.
        head_lines: Number of lines from the start. Default: 60.
        tail_lines: Number of lines from the end. Default: 60.
        """
        return await self.call("peek", _given(path=path, head_lines=head_lines, tail_lines=tail_lines), PeekResult)

    async def read_file(
        self,
        path: str,
        *,
        start_line: int | None = None,
        end_line: int | None = None,
        max_lines: int | None = None,
    ) -> ReadFileResult:
        """Read a range of lines of a text file.

        path: Path relative to the root, or absolute and under it.
        start_line: First line wanted, counted from 1. Default: 1.
        end_line: Last line wanted, not below start_line. Absent: start_line, that is one line.
        max_lines: Return at most this many lines. Default: 400.
        """
        return await self.call("read_file", _given(path=path, start_line=start_line, end_line=end_line, max_lines=max_lines), ReadFileResult)

    async def stat(
        self,
        *,
        path: str | None = None,
        paths: Sequence[str] | None = None,
    ) -> StatResult:
        """Tell size and time of one or more paths.

        path: A path relative to the root, or absolute and under it. It is answered first.
        paths: More paths, answered in the order given.
        """
        return await self.call("stat", _given(path=path, paths=paths), StatResult)


def _given(**args: Any) -> dict[str, Any]:
    """The arguments that were given. No argument of the protocol may be null."""
    return {name: value for name, value in args.items() if value is not None}
