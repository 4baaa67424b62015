"""Compute the index in another process; a thread feeds it, so that no request waits."""

import sys
from typing import TYPE_CHECKING, BinaryIO, cast

from zeno.cache.segments import Piece
from zeno.index import signatures
from zeno.index.signatures import Block

if TYPE_CHECKING:
    import subprocess
    from threading import Thread

# One helper process may be killed, for instance when memory is short; where all fail there is no numpy or no process.
MAX_FAILURES = 3


class Builder:
    """Computes the bits of pieces of text in the background. Without numpy, or without processes, there is no index."""

    def __init__(self) -> None:
        self._failures = 0
        """Number of helper processes that failed since one succeeded."""
        self._closed = False
        self._thread: Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._finished: list[tuple[Block, list[Piece]]] = []

    @property
    def broken(self) -> bool:
        """Whether too many helper processes failed, so that no other is started."""
        return self._failures >= MAX_FAILURES

    @property
    def busy(self) -> bool:
        """Whether a computation is under way."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, blocks: list[list[Piece]]) -> None:
        """Compute the bits of these blocks: the first time at normal priority, because every search waits for it."""
        from threading import Thread

        self._thread = Thread(target=self._run, args=(blocks, [] if self._thread is None else ["--nice"]), daemon=True)
        self._thread.start()

    def take_finished(self) -> list[tuple[Block, list[Piece]]]:
        """Return the blocks that were computed since the last call."""
        done, self._finished = self._finished, []
        return done

    def close(self) -> None:
        """Stop the computation."""
        self._closed = True
        if self._thread is not None:
            if self._process is not None:
                self._process.kill()
            self._thread.join()

    def _run(self, blocks: list[list[Piece]], flags: list[str]) -> None:
        import subprocess

        # In isolated mode no module is imported from the current directory.
        command = [sys.executable, "-I", signatures.__file__, *flags]
        try:
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as process:
                self._process = process
                if self._closed:
                    process.kill()
                sink, source = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
                for pieces in blocks:
                    signatures.send((piece.text for piece in pieces), len(pieces), sink)
                    bits = signatures.receive(len(pieces), source)
                    if bits is None:
                        self._failures += 1
                        break
                    self._failures = 0
                    self._finished.append((bits, pieces))
        except OSError:
            self._failures += 1
