"""Sessions of a trace: run requests again under the policy and the limits that their server had.

A server states them in a `session` event, which holds for the requests up to the next one. A trace without such events
is run under the flags that are given. Flags that contradict what a server stated are refused, by name.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from zeno.errors import CannotRun, InvalidArgs
from zeno.files.file_tree import FileTree
from zeno.files.policy import SECRETS, Policy
from zeno.options import Options
from zeno.search.cold import ColdCorpus
from zeno.search.roots_corpus import corpus_of
from zeno.trace.events import Exchange, TraceLine
from zeno.trace.replay import Replayer


class GivenFlags(NamedTuple):
    """Flags that describe the traced server; None for those that are not given."""

    policy: Policy | None = None
    max_response_bytes: int | None = None
    gitignore: bool | None = None


def follow_sessions(
    steps: Iterable[TraceLine | Exchange], replayer: Replayer, given: GivenFlags
) -> Iterator[TraceLine | Exchange]:
    """Yield the steps; at each session, let the replayer go on as that server. Raises CannotRun if a flag differs."""
    tree = replayer.corpus.tree
    for step in steps:
        if isinstance(step, TraceLine) and step.event is not None and step.event["event"] == "session":
            try:
                _begin(step.event, replayer, tree, given)
            except CannotRun as error:
                raise CannotRun(f"line {step.number}: {error}") from None
        yield step


def _begin(event: dict[str, Any], replayer: Replayer, tree: FileTree, given: GivenFlags) -> None:
    roots = event.get("roots", [])
    if roots != tree.names:
        had = f"the roots {', '.join(roots)}; give each as --root NAME=DIR" if roots else "one root without a name"
        raise CannotRun(f"the traced server had {had}")
    stated = _policy(event.get("policy"))
    if given.policy is not None and _flags(given.policy) != _flags(stated):
        raise _difference(_flags(stated), _flags(given.policy))
    size, gitignore = event["limits"]["max_response_bytes"], event["gitignore"]
    if given.max_response_bytes not in (None, size):
        raise _difference([f"--max-response-bytes {size}"], [f"--max-response-bytes {given.max_response_bytes}"])
    if given.gitignore not in (None, gitignore):
        raise _difference([], ["--gitignore"])
    within = event.get("policy", {}).get("within")
    policy = stated if within is None else stated.narrowed(within)
    options = Options(max_response_bytes=size, gitignore=gitignore)
    replayer.change(corpus_of(tree.under(policy), ColdCorpus), options)


def _policy(stated: dict[str, Any] | None) -> Policy:
    if stated is None:
        return Policy()
    if strange := [name for name in stated["lists"] if name != SECRETS]:
        raise CannotRun(f"the traced server denied the list {strange[0]!r}, which is not known here")
    try:
        return Policy(stated["deny"], stated["only"], lists=stated["lists"], ignored=stated["ignored"])
    except InvalidArgs as error:
        raise CannotRun(f"the policy of the traced server cannot be used: {error}") from None


def _flags(policy: Policy) -> list[str]:
    """Return the flags that make a policy, sorted."""
    denied = [*policy.deny, *policy.lists, *(["ignored"] if policy.ignored else [])]
    return [*(f"--deny {glob}" for glob in sorted(denied)), *(f"--only {glob}" for glob in sorted(policy.only))]


def _difference(stated: list[str], given: list[str]) -> CannotRun:
    more = [f"it was run without {flag}" for flag in given if flag not in stated]
    more += [f"it was run with {flag}" for flag in stated if flag not in given]
    return CannotRun(
        f"the flags are not those of the traced server: {', '.join(more)}; leave them out, the trace has them"
    )
