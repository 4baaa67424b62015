"""Claims of clients, written into the trace of the server they ask."""

import os
from typing import Any

from zeno.errors import InvalidArgs, TraceFailed
from zeno.files.file_tree import FileTree
from zeno.results.seals import NotRecorded
from zeno.session import wire
from zeno.trace.recorder import Recorder

_ARGS = "zeno/claim.json#/$defs/args"


class Claims:
    """Validates claims and appends them to a trace."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def cite_from(self, tree: FileTree) -> None:
        """Look up cited lines in another tree from now on."""
        self._recorder.cite_from(tree)

    def record(self, args: Any) -> dict[str, Any]:
        """Write a claim; return the event as written. Raises InvalidJson, InvalidArgs, Denied or TraceFailed."""
        wire.require_valid(_ARGS, args)
        try:
            return self._recorder.claim(
                args["claim"],
                args.get("evidence", ()),
                answers=args.get("answers", ()),
                search=args.get("search"),
                id=args.get("id"),
                parent=args.get("parent"),
            )
        except NotRecorded as error:
            raise error.cause or InvalidArgs(str(error)) from None
        except OSError as error:
            raise TraceFailed(f"the log cannot be written: {os.strerror(error.errno or 0)}") from None
