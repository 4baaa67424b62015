"""Read the logs of soaked servers: every line is an event, and every request has its answer."""

from pathlib import Path

from zeno.trace import events


def problems(name: str, log: Path, torn: int, left: int) -> list[str]:
    """Return what is wrong with a log.

    At most `torn` lines may be incomplete, because the log could not grow, and at most `left` more requests
    unanswered, because their clients left.
    """
    pairing = events.Pairing()
    unreadable: list[tuple[str, str]] = []
    answered = 0
    with log.open("rb") as stream:
        for one in events.exchanges(events.read(stream), pairing):
            if isinstance(one, events.Exchange):
                answered += 1
            elif one.problem is not None:
                unreadable.append(one.problem)
    found = []
    if len(unreadable) > torn:
        found.append(f"{name}: {len(unreadable)} lines of the log cannot be read, first {unreadable[0]}")
    if len(pairing.list_unanswered()) > torn + left or not answered:
        found.append(
            f"{name}: {len(pairing.list_unanswered())} requests without an answer in the log, {answered} with one"
        )
    return found
