"""Files and lines below each directory: the overview that list_files gives with `tree`."""

from collections import Counter
from collections.abc import Sequence

import contract_spec as spec
from contract_models.zeno.ops.list_files import ListFilesDirectory

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.meter import Meter
from zeno.search.corpus import Corpus
from zeno.text.file_lines import Window

_LIMITS = spec.resource("rules/request_limits.json")
MAX_BYTES: int = _LIMITS["max_counted_bytes"]
"""Limit on the bytes of text in which lines are counted."""
MAX_FILE_BYTES: int = _LIMITS["max_counted_file_bytes"]
"""Lines of larger files are not counted."""


def directory_counts(
    paths: Sequence[str], depth: int, corpus: Corpus, meter: Meter, max_bytes: int = MAX_BYTES
) -> list[ListFilesDirectory]:
    """Return the directories above sorted paths of files, down to `depth` levels below the root, with their counts."""
    counter = _LineCounter(corpus, meter, max_bytes)
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    not_counted: Counter[str] = Counter()
    for path in meter.check_each(paths):
        found = counter.lines_of(path)
        names = path.split("/")[:-1]
        # The root is "" here, so that it sorts first.
        for directory in ("/".join(names[:level]) for level in range(min(len(names), depth) + 1)):
            files[directory] += 1
            lines[directory] += found or 0
            not_counted[directory] += found is None
    return [
        ListFilesDirectory(
            path=directory or ".",
            files=files[directory],
            lines=lines[directory],
            files_not_counted=not_counted[directory],
        )
        for directory in sorted(files)
    ]


class _LineCounter:
    """Counts the lines of files one after the other, until they are more text than may be read."""

    def __init__(self, corpus: Corpus, meter: Meter, max_bytes: int) -> None:
        self._corpus = corpus
        self._meter = meter
        self._room = max_bytes
        self._full = False

    def lines_of(self, path: str) -> int | None:
        """Return the number of lines of a file, or None where they are not counted."""
        if self._full:
            return None
        try:
            with self._corpus.open(path) as file:
                if file.size > MAX_FILE_BYTES or file.no_text is not None:
                    return None
                self._full = file.size > self._room
                if self._full:
                    return None
                window = Window(1, 0, self._meter.charge_text)
                window.feed(file.chunks(), is_normal=file.is_normal)
        except (Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied):
            return None
        self._room -= file.size
        self._meter.bytes_read += file.bytes_read
        return window.total
