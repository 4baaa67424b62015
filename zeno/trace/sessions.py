"""Sessions of a trace: run requests again under the policy and the limits that their server had.

A server states them in a `session` event, which holds for the requests up to the next one. A trace without such events
is run under the flags that are given. Flags that contradict what a server stated are refused, by name, and so is a
statement that cannot be read: without its policy, answers would hold what that server denied.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from zeno.errors import CannotRun, InvalidArgs, ZenoError
from zeno.files.file_tree import FileTree
from zeno.files.policy import SECRETS, Policy
from zeno.options import Options
from zeno.search.corpus import Corpus
from zeno.trace.events import Exchange, TraceLine
from zeno.trace.replay import Replayer

MakeCorpus = Callable[[FileTree, str | None], Corpus]
"""Returns the corpus of a tree, or of a commit of its repository. Raises ZenoError."""


class GivenFlags(NamedTuple):
    """Flags that describe the traced server; None for those that are not given."""

    policy: Policy | None = None
    max_response_bytes: int | None = None
    gitignore: bool | None = None
    rev: str | None = None
    """Another commit than the traced server served."""


def follow_sessions(
    steps: Iterable[TraceLine | Exchange],
    replayer: Replayer,
    given: GivenFlags,
    tree: FileTree,
    make_corpus: MakeCorpus,
) -> Iterator[TraceLine | Exchange]:
    """Yield the steps; at each session, let the replayer go on as that server.

    Raises CannotRun if a flag differs, or if what the server stated cannot be read.
    """
    for step in steps:
        if isinstance(step, TraceLine) and step.event is not None and step.event["event"] == "session":
            try:
                _begin(step.event, replayer, tree, given, make_corpus)
            except CannotRun as error:
                raise CannotRun(f"line {step.number}: {error}") from None
        elif isinstance(step, TraceLine) and step.lost_session and step.problem is not None:
            raise CannotRun(
                f"line {step.number}: a server started here, and its policy cannot be read ({step.problem[1]}); run "
                "the lines of the other servers by themselves"
            )
        yield step


def _begin(
    event: dict[str, Any], replayer: Replayer, tree: FileTree, given: GivenFlags, make_corpus: MakeCorpus
) -> None:
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
    policy = stated if within is None else stated.narrow(within)
    options = Options(max_response_bytes=size, gitignore=gitignore)
    try:
        replayer.change(make_corpus(tree.under(policy), given.rev or event.get("rev")), options)
    except ZenoError as error:
        raise CannotRun(f"the commit that was served cannot be read: {error}") from None


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
