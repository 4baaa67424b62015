# Made from spec/schemas by `nox -s generate`. Do not edit: change the schema and make it anew.
"""The operations as methods. A subclass says how one is asked; None stands for an argument that is not given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from contract_spec.model import ClientResult, Model

from .ops.describe import DescribeResult
from .ops.extract_symbols import ExtractSymbolsResult
from .ops.find_references import FindReferencesResult
from .ops.find_symbols import FindSymbolsResult
from .ops.grep import GrepResult
from .ops.list_files import ListFilesResult
from .ops.peek import PeekResult
from .ops.read_file import ReadFileResult
from .ops.search import SearchResult
from .ops.stat import StatResult
from .ops.verify import VerifyResult

R = TypeVar("R", bound=ClientResult)


class Methods:
    """The operations, answered before the method returns."""

    def call(self, op: str, args: Mapping[str, Any], result: type[R]) -> R:
        """Ask one operation."""
        raise NotImplementedError

    def pages(self, op: str, args: Mapping[str, Any], result: type[R]) -> Iterator[R]:
        """Ask one operation again and again, with the cursor of each result, until a result has none."""
        raise NotImplementedError

    def describe(
        self,
        *,
        schemas: bool | None = None,
        op: str | None = None,
    ) -> DescribeResult:
        """Tell what this server is: the version of the protocol, the operations with their schemas, the limits and flags in force.

        schemas: Also return the schemas, some 50 kB of them. Default: true.
        op: Tell of this operation only, and return its schema with every reference replaced by what it points to.
        """
        return self.call("describe", _given(schemas=schemas, op=op), DescribeResult)

    def extract_symbols(
        self,
        path: str,
        *,
        name: str | None = None,
        kinds: Sequence[Any] | None = None,
        max_symbols: int | None = None,
        cursor: str | None = None,
        rev: str | None = None,
    ) -> ExtractSymbolsResult:
        """Find the definitions in a source file, with their extents where a grammar of its language can tell.

        path: Path relative to the root, or absolute and under it. The language is chosen by the name of the file.
        name: Only definitions with this name. With dots it is compared with the end of the containers and the name.
        kinds: Only definitions of these kinds.
        max_symbols: Return at most this many symbols. Default: 400.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments must
            be the same.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.call("extract_symbols", _given(path=path, name=name, kinds=kinds, max_symbols=max_symbols, cursor=cursor, rev=rev), ExtractSymbolsResult)

    def extract_symbols_pages(
        self,
        path: str,
        *,
        name: str | None = None,
        kinds: Sequence[Any] | None = None,
        max_symbols: int | None = None,
        cursor: str | None = None,
        rev: str | None = None,
    ) -> Iterator[ExtractSymbolsResult]:
        """All pages of extract_symbols, one after the other.

        path: Path relative to the root, or absolute and under it. The language is chosen by the name of the file.
        name: Only definitions with this name. With dots it is compared with the end of the containers and the name.
        kinds: Only definitions of these kinds.
        max_symbols: Return at most this many symbols. Default: 400.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments must
            be the same.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.pages("extract_symbols", _given(path=path, name=name, kinds=kinds, max_symbols=max_symbols, cursor=cursor, rev=rev), ExtractSymbolsResult)

    def find_references(
        self,
        name: str,
        *,
        roles: Sequence[Literal['definition', 'import', 'call', 'use', 'string', 'comment', 'text']] | None = None,
        callers: int | None = None,
        paths: Sequence[str] | None = None,
        max_hits: int | None = None,
        context: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> FindReferencesResult:
        """Find every line with an identifier as a whole word, each with its role and its enclosing definition. Nothing is resolved: a role classifies how the name stands there.

        name: The identifier to find. One run of the characters A-Z, a-z, 0-9 and _.
        roles: Return only lines with these roles. Absent: all lines, exactly those that grep finds with the regular
            expression \\b and the name and \\b.
        callers: Also return callers of the definitions around calls, this many levels up. By name alone: whatever
            calls a name of theirs. Each name is followed once, at most 64 of them. Default: 0.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_hits: Return at most this many lines. Totals count all. Default: 200.
        context: With each line also return this many lines before and after it. Default: 0.
        max_files: List lines of the first max_files candidates in sorted order only. Candidates are the regular files
            left after the hidden and exclude rules. Totals count all. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same.
        receipts: With each line also return sha256, by which it can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters, around the name.
        max_chars: Return at most this many characters of text in all, context included. A line that does not fit is
            left for the next page; one that would not fit on any page is clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.call("find_references", _given(name=name, roles=roles, callers=callers, paths=paths, max_hits=max_hits, context=context, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), FindReferencesResult)

    def find_references_pages(
        self,
        name: str,
        *,
        roles: Sequence[Literal['definition', 'import', 'call', 'use', 'string', 'comment', 'text']] | None = None,
        callers: int | None = None,
        paths: Sequence[str] | None = None,
        max_hits: int | None = None,
        context: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> Iterator[FindReferencesResult]:
        """All pages of find_references, one after the other.

        name: The identifier to find. One run of the characters A-Z, a-z, 0-9 and _.
        roles: Return only lines with these roles. Absent: all lines, exactly those that grep finds with the regular
            expression \\b and the name and \\b.
        callers: Also return callers of the definitions around calls, this many levels up. By name alone: whatever
            calls a name of theirs. Each name is followed once, at most 64 of them. Default: 0.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_hits: Return at most this many lines. Totals count all. Default: 200.
        context: With each line also return this many lines before and after it. Default: 0.
        max_files: List lines of the first max_files candidates in sorted order only. Candidates are the regular files
            left after the hidden and exclude rules. Totals count all. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same.
        receipts: With each line also return sha256, by which it can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters, around the name.
        max_chars: Return at most this many characters of text in all, context included. A line that does not fit is
            left for the next page; one that would not fit on any page is clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.pages("find_references", _given(name=name, roles=roles, callers=callers, paths=paths, max_hits=max_hits, context=context, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), FindReferencesResult)

    def find_symbols(
        self,
        *,
        name: str | None = None,
        match: Literal['exact', 'prefix', 'substring', 'regex'] | None = None,
        case_sensitive: bool | None = None,
        kinds: Sequence[Any] | None = None,
        max_depth: int | None = None,
        paths: Sequence[str] | None = None,
        max_symbols: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        rev: str | None = None,
    ) -> FindSymbolsResult:
        """Find definitions by name in many files, or outline a selection. Symbols sort by path, line and name.

        name: The name to find. With match exact and a dot at its end: the members of the definitions with the name
            before it. Absent: all definitions of the selection, an outline.
        match: exact: the whole name, with dots the end of its containers and it; prefix:, substring: and regex: (RE2,
            anywhere unless anchored) see the bare name. Default: "exact".
        case_sensitive: False folds case. Default: true.
        kinds: Only definitions of these kinds.
        max_depth: Only definitions with fewer containers than this: 1 is the top level. Namespaces count.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_symbols: Return at most this many symbols. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments must
            be the same.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.call("find_symbols", _given(name=name, match=match, case_sensitive=case_sensitive, kinds=kinds, max_depth=max_depth, paths=paths, max_symbols=max_symbols, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, rev=rev), FindSymbolsResult)

    def find_symbols_pages(
        self,
        *,
        name: str | None = None,
        match: Literal['exact', 'prefix', 'substring', 'regex'] | None = None,
        case_sensitive: bool | None = None,
        kinds: Sequence[Any] | None = None,
        max_depth: int | None = None,
        paths: Sequence[str] | None = None,
        max_symbols: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        rev: str | None = None,
    ) -> Iterator[FindSymbolsResult]:
        """All pages of find_symbols, one after the other.

        name: The name to find. With match exact and a dot at its end: the members of the definitions with the name
            before it. Absent: all definitions of the selection, an outline.
        match: exact: the whole name, with dots the end of its containers and it; prefix:, substring: and regex: (RE2,
            anywhere unless anchored) see the bare name. Default: "exact".
        case_sensitive: False folds case. Default: true.
        kinds: Only definitions of these kinds.
        max_depth: Only definitions with fewer containers than this: 1 is the top level. Namespaces count.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_symbols: Return at most this many symbols. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments must
            be the same.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.pages("find_symbols", _given(name=name, match=match, case_sensitive=case_sensitive, kinds=kinds, max_depth=max_depth, paths=paths, max_symbols=max_symbols, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, rev=rev), FindSymbolsResult)

    def grep(
        self,
        pattern: str | None = None,
        *,
        patterns: Sequence[str] | None = None,
        regex: bool | None = None,
        multiline: bool | None = None,
        case_sensitive: bool | None = None,
        paths: Sequence[str] | None = None,
        output: Literal['hits', 'files', 'count'] | None = None,
        max_hits: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        context: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        receipts: bool | None = None,
        scope: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
        changed_since: str | None = None,
    ) -> GrepResult:
        """Search text files line by line, or with multiline as whole texts, for a literal or a regular expression. Hits sort by path, then line.

        pattern: The text to find, or with regex an RE2 regular expression. It is matched against one line at a time,
            without the line's end, or with multiline against whole texts.
        patterns: Instead of pattern: find lines that match any of these. Each hit then has patterns, the indexes of
            those that match. Not with multiline.
        regex: Take pattern, or each of patterns, as a regular expression. Default: false.
        multiline: Let a match run over several lines. The pattern is matched against the text of each file: its
            lines, each with \\n after it, the last one too. ^ and $ are the ends of lines, . matches no \\n unless
            (?s) says so, and classes such as \\s and [^x] do match it. A hit is the lines of a match, from line to
            end_line; matches that share a line are one hit. Default: false.
        case_sensitive: False folds case the simple Unicode way, for literals and regular expressions alike. Default:
            true.
        paths: Search only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        output: hits: matching lines; files: paths with counts of matching lines; count: totals only. With files
            (result counts) and count (result total) no line is returned, and context, receipts and max_line_chars say
            nothing; max_chars says nothing with count. Default: "hits".
        max_hits: Return at most this many hits, or with output files this many files. With output count it says
            nothing: all is counted. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        context: With each hit also return this many lines before and after it. Default: 0.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same.
        receipts: With each hit also return sha256, by which its line can be cited and verified. Default: false.
        scope: With each hit also return scope, the innermost definition around it. Default: false.
        max_line_chars: Clip longer lines to this many characters: a hit around its first match, other lines at their
            end.
        max_chars: Return at most this many characters of text in all, context included. A hit that does not fit is
            left for the next page; one that would not fit on any page is clipped: its lines share the room, and where
            they are too many text has only the first. With output files the characters of the paths count, and the
            first file is returned however long its path is.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        changed_since: Take only files whose content differs from that in this commit of the repository at the root,
            and those that it does not have. Named as in rev.
        """
        return self.call("grep", _given(pattern=pattern, patterns=patterns, regex=regex, multiline=multiline, case_sensitive=case_sensitive, paths=paths, output=output, max_hits=max_hits, max_files=max_files, max_bytes=max_bytes, context=context, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, receipts=receipts, scope=scope, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev, changed_since=changed_since), GrepResult)

    def grep_pages(
        self,
        pattern: str | None = None,
        *,
        patterns: Sequence[str] | None = None,
        regex: bool | None = None,
        multiline: bool | None = None,
        case_sensitive: bool | None = None,
        paths: Sequence[str] | None = None,
        output: Literal['hits', 'files', 'count'] | None = None,
        max_hits: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        context: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        receipts: bool | None = None,
        scope: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
        changed_since: str | None = None,
    ) -> Iterator[GrepResult]:
        """All pages of grep, one after the other.

        pattern: The text to find, or with regex an RE2 regular expression. It is matched against one line at a time,
            without the line's end, or with multiline against whole texts.
        patterns: Instead of pattern: find lines that match any of these. Each hit then has patterns, the indexes of
            those that match. Not with multiline.
        regex: Take pattern, or each of patterns, as a regular expression. Default: false.
        multiline: Let a match run over several lines. The pattern is matched against the text of each file: its
            lines, each with \\n after it, the last one too. ^ and $ are the ends of lines, . matches no \\n unless
            (?s) says so, and classes such as \\s and [^x] do match it. A hit is the lines of a match, from line to
            end_line; matches that share a line are one hit. Default: false.
        case_sensitive: False folds case the simple Unicode way, for literals and regular expressions alike. Default:
            true.
        paths: Search only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        output: hits: matching lines; files: paths with counts of matching lines; count: totals only. With files
            (result counts) and count (result total) no line is returned, and context, receipts and max_line_chars say
            nothing; max_chars says nothing with count. Default: "hits".
        max_hits: Return at most this many hits, or with output files this many files. With output count it says
            nothing: all is counted. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        context: With each hit also return this many lines before and after it. Default: 0.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same.
        receipts: With each hit also return sha256, by which its line can be cited and verified. Default: false.
        scope: With each hit also return scope, the innermost definition around it. Default: false.
        max_line_chars: Clip longer lines to this many characters: a hit around its first match, other lines at their
            end.
        max_chars: Return at most this many characters of text in all, context included. A hit that does not fit is
            left for the next page; one that would not fit on any page is clipped: its lines share the room, and where
            they are too many text has only the first. With output files the characters of the paths count, and the
            first file is returned however long its path is.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        changed_since: Take only files whose content differs from that in this commit of the repository at the root,
            and those that it does not have. Named as in rev.
        """
        return self.pages("grep", _given(pattern=pattern, patterns=patterns, regex=regex, multiline=multiline, case_sensitive=case_sensitive, paths=paths, output=output, max_hits=max_hits, max_files=max_files, max_bytes=max_bytes, context=context, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, receipts=receipts, scope=scope, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev, changed_since=changed_since), GrepResult)

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
        gitignore: bool | None = None,
        cursor: str | None = None,
        sort: Literal['path', 'mtime'] | None = None,
        tree: bool | None = None,
        depth: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
        changed_since: str | None = None,
    ) -> ListFilesResult:
        """List regular files under the root, sorted by the code points of their relative path or by time, or count them by directory.

        glob: Case-sensitive fnmatch glob over the whole relative path; * and ? also match /, a leading **/ also
            matches nothing, {a,b} are alternatives.
        regex: RE2 regular expression searched for in the relative path. Ignored when glob is given, but it must still
            be a valid pattern.
        max: Return at most this many files, or with tree this many directories. Default: 500.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        include_hidden: Also list files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same. Refused with sort mtime and with tree.
        sort: path: by path; mtime: last modified first. Equal times sort by path; a link has the time of the file it
            leads to, and files whose time cannot be read come last. Files are sorted before max cuts. Default:
            "path".
        tree: Instead of files return directories with the number of files and lines below each. Not with sort mtime.
            Default: false.
        depth: With tree, how many levels below the root have entries of their own. Deeper files are counted in them.
            Default: 2.
        max_chars: Return at most this many characters of paths in all. The first path is returned however long it is.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        changed_since: Take only files whose content differs from that in this commit of the repository at the root,
            and those that it does not have. Named as in rev.
        """
        return self.call("list_files", _given(glob=glob, regex=regex, max=max, max_files=max_files, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, sort=sort, tree=tree, depth=depth, max_chars=max_chars, rev=rev, changed_since=changed_since), ListFilesResult)

    def list_files_pages(
        self,
        *,
        glob: str | None = None,
        regex: str | None = None,
        max: int | None = None,
        max_files: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        sort: Literal['path', 'mtime'] | None = None,
        tree: bool | None = None,
        depth: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
        changed_since: str | None = None,
    ) -> Iterator[ListFilesResult]:
        """All pages of list_files, one after the other.

        glob: Case-sensitive fnmatch glob over the whole relative path; * and ? also match /, a leading **/ also
            matches nothing, {a,b} are alternatives.
        regex: RE2 regular expression searched for in the relative path. Ignored when glob is given, but it must still
            be a valid pattern.
        max: Return at most this many files, or with tree this many directories. Default: 500.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        include_hidden: Also list files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same. Refused with sort mtime and with tree.
        sort: path: by path; mtime: last modified first. Equal times sort by path; a link has the time of the file it
            leads to, and files whose time cannot be read come last. Files are sorted before max cuts. Default:
            "path".
        tree: Instead of files return directories with the number of files and lines below each. Not with sort mtime.
            Default: false.
        depth: With tree, how many levels below the root have entries of their own. Deeper files are counted in them.
            Default: 2.
        max_chars: Return at most this many characters of paths in all. The first path is returned however long it is.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        changed_since: Take only files whose content differs from that in this commit of the repository at the root,
            and those that it does not have. Named as in rev.
        """
        return self.pages("list_files", _given(glob=glob, regex=regex, max=max, max_files=max_files, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, sort=sort, tree=tree, depth=depth, max_chars=max_chars, rev=rev, changed_since=changed_since), ListFilesResult)

    def peek(
        self,
        path: str,
        *,
        head_lines: int | None = None,
        tail_lines: int | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> PeekResult:
        """Read the first and the last lines of a text file.

        path: Path relative to the root, or absolute and under it.
        head_lines: Number of lines from the start. Default: 60.
        tail_lines: Number of lines from the end. Default: 60.
        receipts: Also return sha256, by which each slice can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters, at their end.
        max_chars: Return at most this many characters of text in all, line feeds between lines included. Each slice
            may take half of them and what the other leaves. Lines that do not fit are left out, in the head from its
            end, in the tail from its start; one that does not fit alone is clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.call("peek", _given(path=path, head_lines=head_lines, tail_lines=tail_lines, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), PeekResult)

    def read_file(
        self,
        path: str,
        *,
        start_line: int | None = None,
        end_line: int | None = None,
        symbol: str | None = None,
        ranges: Sequence[Mapping[str, Any] | Model] | None = None,
        max_lines: int | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> ReadFileResult:
        """Read a range of lines of a text file.

        path: Path relative to the root, or absolute and under it.
        start_line: First line wanted, counted from 1. Default: 1.
        end_line: Last line wanted, not below start_line. Absent: start_line, that is one line.
        symbol: Read the lines of the definition with this name instead of start_line to end_line. With dots it is
            compared with the end of its containers and its name; start_line chooses among several.
        ranges: Further ranges to read in the same answer, of this or other files. If one of them cannot be read, the
            whole request is refused.
        max_lines: Return at most this many lines, those of all ranges together. Default: 400.
        receipts: Also return sha256, by which the lines can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters, at their end.
        max_chars: Return at most this many characters of text, those of all ranges together, line feeds between lines
            included. Lines that do not fit are left out; a first line that does not fit is clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.call("read_file", _given(path=path, start_line=start_line, end_line=end_line, symbol=symbol, ranges=ranges, max_lines=max_lines, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), ReadFileResult)

    def search(
        self,
        query: str,
        *,
        paths: Sequence[str] | None = None,
        max_results: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> SearchResult:
        """Rank files by how likely they are about a query: words, identifiers or a whole bug report. Each comes with its best passage and what made its score. Equal trees and queries have equal answers.

        query: Words, identifiers or a whole bug report.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_results: Return at most this many files. Default: 10.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also rank files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        receipts: With each line also return sha256, by which it can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters.
        max_chars: Return at most this many characters of lines in all. A file whose lines do not fit ends the list;
            the first one's lines are clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.call("search", _given(query=query, paths=paths, max_results=max_results, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), SearchResult)

    def stat(
        self,
        *,
        path: str | None = None,
        paths: Sequence[str] | None = None,
        rev: str | None = None,
    ) -> StatResult:
        """Tell size and time of one or more paths.

        path: A path relative to the root, or absolute and under it. It is answered first.
        paths: More paths, answered in the order given.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.call("stat", _given(path=path, paths=paths, rev=rev), StatResult)

    def verify(
        self,
        citations: Sequence[Mapping[str, Any] | Model],
    ) -> VerifyResult:
        """Check citations against the tree as it is now: are these lines still there, and do they still say that?

        citations: The citations, answered in the order given. One that makes no sense has a verdict of its own and
            leaves the others as they are.
        """
        return self.call("verify", _given(citations=citations), VerifyResult)


class AsyncMethods:
    """The operations, to be awaited."""

    async def call(self, op: str, args: Mapping[str, Any], result: type[R]) -> R:
        """Ask one operation."""
        raise NotImplementedError

    def pages(self, op: str, args: Mapping[str, Any], result: type[R]) -> AsyncIterator[R]:
        """Ask one operation again and again, with the cursor of each result, until a result has none."""
        raise NotImplementedError

    async def describe(
        self,
        *,
        schemas: bool | None = None,
        op: str | None = None,
    ) -> DescribeResult:
        """Tell what this server is: the version of the protocol, the operations with their schemas, the limits and flags in force.

        schemas: Also return the schemas, some 50 kB of them. Default: true.
        op: Tell of this operation only, and return its schema with every reference replaced by what it points to.
        """
        return await self.call("describe", _given(schemas=schemas, op=op), DescribeResult)

    async def extract_symbols(
        self,
        path: str,
        *,
        name: str | None = None,
        kinds: Sequence[Any] | None = None,
        max_symbols: int | None = None,
        cursor: str | None = None,
        rev: str | None = None,
    ) -> ExtractSymbolsResult:
        """Find the definitions in a source file, with their extents where a grammar of its language can tell.

        path: Path relative to the root, or absolute and under it. The language is chosen by the name of the file.
        name: Only definitions with this name. With dots it is compared with the end of the containers and the name.
        kinds: Only definitions of these kinds.
        max_symbols: Return at most this many symbols. Default: 400.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments must
            be the same.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return await self.call("extract_symbols", _given(path=path, name=name, kinds=kinds, max_symbols=max_symbols, cursor=cursor, rev=rev), ExtractSymbolsResult)

    def extract_symbols_pages(
        self,
        path: str,
        *,
        name: str | None = None,
        kinds: Sequence[Any] | None = None,
        max_symbols: int | None = None,
        cursor: str | None = None,
        rev: str | None = None,
    ) -> AsyncIterator[ExtractSymbolsResult]:
        """All pages of extract_symbols, one after the other.

        path: Path relative to the root, or absolute and under it. The language is chosen by the name of the file.
        name: Only definitions with this name. With dots it is compared with the end of the containers and the name.
        kinds: Only definitions of these kinds.
        max_symbols: Return at most this many symbols. Default: 400.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments must
            be the same.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.pages("extract_symbols", _given(path=path, name=name, kinds=kinds, max_symbols=max_symbols, cursor=cursor, rev=rev), ExtractSymbolsResult)

    async def find_references(
        self,
        name: str,
        *,
        roles: Sequence[Literal['definition', 'import', 'call', 'use', 'string', 'comment', 'text']] | None = None,
        callers: int | None = None,
        paths: Sequence[str] | None = None,
        max_hits: int | None = None,
        context: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> FindReferencesResult:
        """Find every line with an identifier as a whole word, each with its role and its enclosing definition. Nothing is resolved: a role classifies how the name stands there.

        name: The identifier to find. One run of the characters A-Z, a-z, 0-9 and _.
        roles: Return only lines with these roles. Absent: all lines, exactly those that grep finds with the regular
            expression \\b and the name and \\b.
        callers: Also return callers of the definitions around calls, this many levels up. By name alone: whatever
            calls a name of theirs. Each name is followed once, at most 64 of them. Default: 0.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_hits: Return at most this many lines. Totals count all. Default: 200.
        context: With each line also return this many lines before and after it. Default: 0.
        max_files: List lines of the first max_files candidates in sorted order only. Candidates are the regular files
            left after the hidden and exclude rules. Totals count all. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same.
        receipts: With each line also return sha256, by which it can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters, around the name.
        max_chars: Return at most this many characters of text in all, context included. A line that does not fit is
            left for the next page; one that would not fit on any page is clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return await self.call("find_references", _given(name=name, roles=roles, callers=callers, paths=paths, max_hits=max_hits, context=context, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), FindReferencesResult)

    def find_references_pages(
        self,
        name: str,
        *,
        roles: Sequence[Literal['definition', 'import', 'call', 'use', 'string', 'comment', 'text']] | None = None,
        callers: int | None = None,
        paths: Sequence[str] | None = None,
        max_hits: int | None = None,
        context: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> AsyncIterator[FindReferencesResult]:
        """All pages of find_references, one after the other.

        name: The identifier to find. One run of the characters A-Z, a-z, 0-9 and _.
        roles: Return only lines with these roles. Absent: all lines, exactly those that grep finds with the regular
            expression \\b and the name and \\b.
        callers: Also return callers of the definitions around calls, this many levels up. By name alone: whatever
            calls a name of theirs. Each name is followed once, at most 64 of them. Default: 0.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_hits: Return at most this many lines. Totals count all. Default: 200.
        context: With each line also return this many lines before and after it. Default: 0.
        max_files: List lines of the first max_files candidates in sorted order only. Candidates are the regular files
            left after the hidden and exclude rules. Totals count all. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same.
        receipts: With each line also return sha256, by which it can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters, around the name.
        max_chars: Return at most this many characters of text in all, context included. A line that does not fit is
            left for the next page; one that would not fit on any page is clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.pages("find_references", _given(name=name, roles=roles, callers=callers, paths=paths, max_hits=max_hits, context=context, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), FindReferencesResult)

    async def find_symbols(
        self,
        *,
        name: str | None = None,
        match: Literal['exact', 'prefix', 'substring', 'regex'] | None = None,
        case_sensitive: bool | None = None,
        kinds: Sequence[Any] | None = None,
        max_depth: int | None = None,
        paths: Sequence[str] | None = None,
        max_symbols: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        rev: str | None = None,
    ) -> FindSymbolsResult:
        """Find definitions by name in many files, or outline a selection. Symbols sort by path, line and name.

        name: The name to find. With match exact and a dot at its end: the members of the definitions with the name
            before it. Absent: all definitions of the selection, an outline.
        match: exact: the whole name, with dots the end of its containers and it; prefix:, substring: and regex: (RE2,
            anywhere unless anchored) see the bare name. Default: "exact".
        case_sensitive: False folds case. Default: true.
        kinds: Only definitions of these kinds.
        max_depth: Only definitions with fewer containers than this: 1 is the top level. Namespaces count.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_symbols: Return at most this many symbols. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments must
            be the same.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return await self.call("find_symbols", _given(name=name, match=match, case_sensitive=case_sensitive, kinds=kinds, max_depth=max_depth, paths=paths, max_symbols=max_symbols, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, rev=rev), FindSymbolsResult)

    def find_symbols_pages(
        self,
        *,
        name: str | None = None,
        match: Literal['exact', 'prefix', 'substring', 'regex'] | None = None,
        case_sensitive: bool | None = None,
        kinds: Sequence[Any] | None = None,
        max_depth: int | None = None,
        paths: Sequence[str] | None = None,
        max_symbols: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        rev: str | None = None,
    ) -> AsyncIterator[FindSymbolsResult]:
        """All pages of find_symbols, one after the other.

        name: The name to find. With match exact and a dot at its end: the members of the definitions with the name
            before it. Absent: all definitions of the selection, an outline.
        match: exact: the whole name, with dots the end of its containers and it; prefix:, substring: and regex: (RE2,
            anywhere unless anchored) see the bare name. Default: "exact".
        case_sensitive: False folds case. Default: true.
        kinds: Only definitions of these kinds.
        max_depth: Only definitions with fewer containers than this: 1 is the top level. Namespaces count.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_symbols: Return at most this many symbols. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments must
            be the same.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return self.pages("find_symbols", _given(name=name, match=match, case_sensitive=case_sensitive, kinds=kinds, max_depth=max_depth, paths=paths, max_symbols=max_symbols, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, rev=rev), FindSymbolsResult)

    async def grep(
        self,
        pattern: str | None = None,
        *,
        patterns: Sequence[str] | None = None,
        regex: bool | None = None,
        multiline: bool | None = None,
        case_sensitive: bool | None = None,
        paths: Sequence[str] | None = None,
        output: Literal['hits', 'files', 'count'] | None = None,
        max_hits: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        context: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        receipts: bool | None = None,
        scope: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
        changed_since: str | None = None,
    ) -> GrepResult:
        """Search text files line by line, or with multiline as whole texts, for a literal or a regular expression. Hits sort by path, then line.

        pattern: The text to find, or with regex an RE2 regular expression. It is matched against one line at a time,
            without the line's end, or with multiline against whole texts.
        patterns: Instead of pattern: find lines that match any of these. Each hit then has patterns, the indexes of
            those that match. Not with multiline.
        regex: Take pattern, or each of patterns, as a regular expression. Default: false.
        multiline: Let a match run over several lines. The pattern is matched against the text of each file: its
            lines, each with \\n after it, the last one too. ^ and $ are the ends of lines, . matches no \\n unless
            (?s) says so, and classes such as \\s and [^x] do match it. A hit is the lines of a match, from line to
            end_line; matches that share a line are one hit. Default: false.
        case_sensitive: False folds case the simple Unicode way, for literals and regular expressions alike. Default:
            true.
        paths: Search only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        output: hits: matching lines; files: paths with counts of matching lines; count: totals only. With files
            (result counts) and count (result total) no line is returned, and context, receipts and max_line_chars say
            nothing; max_chars says nothing with count. Default: "hits".
        max_hits: Return at most this many hits, or with output files this many files. With output count it says
            nothing: all is counted. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        context: With each hit also return this many lines before and after it. Default: 0.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same.
        receipts: With each hit also return sha256, by which its line can be cited and verified. Default: false.
        scope: With each hit also return scope, the innermost definition around it. Default: false.
        max_line_chars: Clip longer lines to this many characters: a hit around its first match, other lines at their
            end.
        max_chars: Return at most this many characters of text in all, context included. A hit that does not fit is
            left for the next page; one that would not fit on any page is clipped: its lines share the room, and where
            they are too many text has only the first. With output files the characters of the paths count, and the
            first file is returned however long its path is.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        changed_since: Take only files whose content differs from that in this commit of the repository at the root,
            and those that it does not have. Named as in rev.
        """
        return await self.call("grep", _given(pattern=pattern, patterns=patterns, regex=regex, multiline=multiline, case_sensitive=case_sensitive, paths=paths, output=output, max_hits=max_hits, max_files=max_files, max_bytes=max_bytes, context=context, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, receipts=receipts, scope=scope, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev, changed_since=changed_since), GrepResult)

    def grep_pages(
        self,
        pattern: str | None = None,
        *,
        patterns: Sequence[str] | None = None,
        regex: bool | None = None,
        multiline: bool | None = None,
        case_sensitive: bool | None = None,
        paths: Sequence[str] | None = None,
        output: Literal['hits', 'files', 'count'] | None = None,
        max_hits: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        context: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        receipts: bool | None = None,
        scope: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
        changed_since: str | None = None,
    ) -> AsyncIterator[GrepResult]:
        """All pages of grep, one after the other.

        pattern: The text to find, or with regex an RE2 regular expression. It is matched against one line at a time,
            without the line's end, or with multiline against whole texts.
        patterns: Instead of pattern: find lines that match any of these. Each hit then has patterns, the indexes of
            those that match. Not with multiline.
        regex: Take pattern, or each of patterns, as a regular expression. Default: false.
        multiline: Let a match run over several lines. The pattern is matched against the text of each file: its
            lines, each with \\n after it, the last one too. ^ and $ are the ends of lines, . matches no \\n unless
            (?s) says so, and classes such as \\s and [^x] do match it. A hit is the lines of a match, from line to
            end_line; matches that share a line are one hit. Default: false.
        case_sensitive: False folds case the simple Unicode way, for literals and regular expressions alike. Default:
            true.
        paths: Search only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        output: hits: matching lines; files: paths with counts of matching lines; count: totals only. With files
            (result counts) and count (result total) no line is returned, and context, receipts and max_line_chars say
            nothing; max_chars says nothing with count. Default: "hits".
        max_hits: Return at most this many hits, or with output files this many files. With output count it says
            nothing: all is counted. Default: 200.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        context: With each hit also return this many lines before and after it. Default: 0.
        include_hidden: Also search files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same.
        receipts: With each hit also return sha256, by which its line can be cited and verified. Default: false.
        scope: With each hit also return scope, the innermost definition around it. Default: false.
        max_line_chars: Clip longer lines to this many characters: a hit around its first match, other lines at their
            end.
        max_chars: Return at most this many characters of text in all, context included. A hit that does not fit is
            left for the next page; one that would not fit on any page is clipped: its lines share the room, and where
            they are too many text has only the first. With output files the characters of the paths count, and the
            first file is returned however long its path is.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        changed_since: Take only files whose content differs from that in this commit of the repository at the root,
            and those that it does not have. Named as in rev.
        """
        return self.pages("grep", _given(pattern=pattern, patterns=patterns, regex=regex, multiline=multiline, case_sensitive=case_sensitive, paths=paths, output=output, max_hits=max_hits, max_files=max_files, max_bytes=max_bytes, context=context, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, receipts=receipts, scope=scope, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev, changed_since=changed_since), GrepResult)

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
        gitignore: bool | None = None,
        cursor: str | None = None,
        sort: Literal['path', 'mtime'] | None = None,
        tree: bool | None = None,
        depth: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
        changed_since: str | None = None,
    ) -> ListFilesResult:
        """List regular files under the root, sorted by the code points of their relative path or by time, or count them by directory.

        glob: Case-sensitive fnmatch glob over the whole relative path; * and ? also match /, a leading **/ also
            matches nothing, {a,b} are alternatives.
        regex: RE2 regular expression searched for in the relative path. Ignored when glob is given, but it must still
            be a valid pattern.
        max: Return at most this many files, or with tree this many directories. Default: 500.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        include_hidden: Also list files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same. Refused with sort mtime and with tree.
        sort: path: by path; mtime: last modified first. Equal times sort by path; a link has the time of the file it
            leads to, and files whose time cannot be read come last. Files are sorted before max cuts. Default:
            "path".
        tree: Instead of files return directories with the number of files and lines below each. Not with sort mtime.
            Default: false.
        depth: With tree, how many levels below the root have entries of their own. Deeper files are counted in them.
            Default: 2.
        max_chars: Return at most this many characters of paths in all. The first path is returned however long it is.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        changed_since: Take only files whose content differs from that in this commit of the repository at the root,
            and those that it does not have. Named as in rev.
        """
        return await self.call("list_files", _given(glob=glob, regex=regex, max=max, max_files=max_files, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, sort=sort, tree=tree, depth=depth, max_chars=max_chars, rev=rev, changed_since=changed_since), ListFilesResult)

    def list_files_pages(
        self,
        *,
        glob: str | None = None,
        regex: str | None = None,
        max: int | None = None,
        max_files: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        cursor: str | None = None,
        sort: Literal['path', 'mtime'] | None = None,
        tree: bool | None = None,
        depth: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
        changed_since: str | None = None,
    ) -> AsyncIterator[ListFilesResult]:
        """All pages of list_files, one after the other.

        glob: Case-sensitive fnmatch glob over the whole relative path; * and ? also match /, a leading **/ also
            matches nothing, {a,b} are alternatives.
        regex: RE2 regular expression searched for in the relative path. Ignored when glob is given, but it must still
            be a valid pattern.
        max: Return at most this many files, or with tree this many directories. Default: 500.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        include_hidden: Also list files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        cursor: The cursor of an earlier, cut result: continue strictly after its last item. All other arguments but
            max_chars must be the same. Refused with sort mtime and with tree.
        sort: path: by path; mtime: last modified first. Equal times sort by path; a link has the time of the file it
            leads to, and files whose time cannot be read come last. Files are sorted before max cuts. Default:
            "path".
        tree: Instead of files return directories with the number of files and lines below each. Not with sort mtime.
            Default: false.
        depth: With tree, how many levels below the root have entries of their own. Deeper files are counted in them.
            Default: 2.
        max_chars: Return at most this many characters of paths in all. The first path is returned however long it is.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        changed_since: Take only files whose content differs from that in this commit of the repository at the root,
            and those that it does not have. Named as in rev.
        """
        return self.pages("list_files", _given(glob=glob, regex=regex, max=max, max_files=max_files, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, cursor=cursor, sort=sort, tree=tree, depth=depth, max_chars=max_chars, rev=rev, changed_since=changed_since), ListFilesResult)

    async def peek(
        self,
        path: str,
        *,
        head_lines: int | None = None,
        tail_lines: int | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> PeekResult:
        """Read the first and the last lines of a text file.

        path: Path relative to the root, or absolute and under it.
        head_lines: Number of lines from the start. Default: 60.
        tail_lines: Number of lines from the end. Default: 60.
        receipts: Also return sha256, by which each slice can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters, at their end.
        max_chars: Return at most this many characters of text in all, line feeds between lines included. Each slice
            may take half of them and what the other leaves. Lines that do not fit are left out, in the head from its
            end, in the tail from its start; one that does not fit alone is clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return await self.call("peek", _given(path=path, head_lines=head_lines, tail_lines=tail_lines, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), PeekResult)

    async def read_file(
        self,
        path: str,
        *,
        start_line: int | None = None,
        end_line: int | None = None,
        symbol: str | None = None,
        ranges: Sequence[Mapping[str, Any] | Model] | None = None,
        max_lines: int | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> ReadFileResult:
        """Read a range of lines of a text file.

        path: Path relative to the root, or absolute and under it.
        start_line: First line wanted, counted from 1. Default: 1.
        end_line: Last line wanted, not below start_line. Absent: start_line, that is one line.
        symbol: Read the lines of the definition with this name instead of start_line to end_line. With dots it is
            compared with the end of its containers and its name; start_line chooses among several.
        ranges: Further ranges to read in the same answer, of this or other files. If one of them cannot be read, the
            whole request is refused.
        max_lines: Return at most this many lines, those of all ranges together. Default: 400.
        receipts: Also return sha256, by which the lines can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters, at their end.
        max_chars: Return at most this many characters of text, those of all ranges together, line feeds between lines
            included. Lines that do not fit are left out; a first line that does not fit is clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return await self.call("read_file", _given(path=path, start_line=start_line, end_line=end_line, symbol=symbol, ranges=ranges, max_lines=max_lines, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), ReadFileResult)

    async def search(
        self,
        query: str,
        *,
        paths: Sequence[str] | None = None,
        max_results: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        include_hidden: bool | None = None,
        exclude_dirs: Sequence[str] | None = None,
        exclude_globs: Sequence[str] | None = None,
        gitignore: bool | None = None,
        receipts: bool | None = None,
        max_line_chars: int | None = None,
        max_chars: int | None = None,
        rev: str | None = None,
    ) -> SearchResult:
        """Rank files by how likely they are about a query: words, identifiers or a whole bug report. Each comes with its best passage and what made its score. Equal trees and queries have equal answers.

        query: Words, identifiers or a whole bug report.
        paths: Look only here: globs over the relative path, a file's path to the letter, or a directory's path for
            all below it. Absent: everywhere.
        max_results: Return at most this many files. Default: 10.
        max_files: Look at the first max_files candidates in sorted order only. Candidates are the regular files left
            after the hidden and exclude rules. Default: 20000.
        max_bytes: Skip files larger than this. Files over 64 MiB are skipped whatever it says. Default: 2000000.
        include_hidden: Also rank files with a path component that begins with a dot. Default: false.
        exclude_dirs: Names of directories to leave out, at any depth. Default: [].
        exclude_globs: Globs over the relative path; what matches one is left out. Default: [].
        gitignore: Leave out what .gitignore, .ignore and .git/info/exclude under the root tell git to ignore, and
            .git itself. Where it is absent, the server's --gitignore flag decides. Default: false.
        receipts: With each line also return sha256, by which it can be cited and verified. Default: false.
        max_line_chars: Clip longer lines to this many characters.
        max_chars: Return at most this many characters of lines in all. A file whose lines do not fit ends the list;
            the first one's lines are clipped.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return await self.call("search", _given(query=query, paths=paths, max_results=max_results, max_files=max_files, max_bytes=max_bytes, include_hidden=include_hidden, exclude_dirs=exclude_dirs, exclude_globs=exclude_globs, gitignore=gitignore, receipts=receipts, max_line_chars=max_line_chars, max_chars=max_chars, rev=rev), SearchResult)

    async def stat(
        self,
        *,
        path: str | None = None,
        paths: Sequence[str] | None = None,
        rev: str | None = None,
    ) -> StatResult:
        """Tell size and time of one or more paths.

        path: A path relative to the root, or absolute and under it. It is answered first.
        paths: More paths, answered in the order given.
        rev: Answer from the tree of this commit of the repository at the root: a branch, a tag, or an id of at least
            ten digits. With named roots it is looked up in each; NAME=REV for each, with commas, names them apart.
        """
        return await self.call("stat", _given(path=path, paths=paths, rev=rev), StatResult)

    async def verify(
        self,
        citations: Sequence[Mapping[str, Any] | Model],
    ) -> VerifyResult:
        """Check citations against the tree as it is now: are these lines still there, and do they still say that?

        citations: The citations, answered in the order given. One that makes no sense has a verdict of its own and
            leaves the others as they are.
        """
        return await self.call("verify", _given(citations=citations), VerifyResult)


def _given(**args: Any) -> dict[str, Any]:
    """The arguments that were given. No argument of the protocol may be null."""
    return {name: value for name, value in args.items() if value is not None}
