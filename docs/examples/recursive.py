"""A recursive language-model loop over a tree that is too large for any context.

The model never sees the tree. It sees a task, asks Zeno for small pieces, and may hand part of the task to a copy of
itself that begins with an empty context and returns only an answer with its evidence.
docs/guides/recursive.md explains it.

The model is any OpenAI-compatible endpoint: OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL say which.
"""

import argparse
import json
import os
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zeno.client import Refused, Zeno
from zeno.interfaces.plain_text import plain
from zeno.session.dispatch import OPS
from zeno.trace.recorder import Recorder

SYSTEM = """\
You answer a task about a directory tree that you cannot see as a whole. Reply with exactly one JSON object, one of:
{"op": NAME, "args": {...}}  to ask Zeno. NAME is one of OPS.
{"ask": TASK}  to hand a part of the task to a copy of yourself, which knows nothing but TASK.
{"answer": TEXT, "evidence": [{"path": P, "start_line": A, "end_line": B}, ...]}  when you are done.
Ask for little at a time: what does not fit is cut. Cite only lines that you were shown."""


class Unusable(Exception):
    """The endpoint, or what it said, cannot be worked with."""


@dataclass
class Endpoint:
    """An OpenAI-compatible chat endpoint."""

    url: str
    key: str
    model: str
    timeout: float = 120

    @classmethod
    def from_environment(cls) -> "Endpoint":
        """The endpoint that the environment names."""
        url = os.environ.get("OPENAI_BASE_URL", "")
        if not url.startswith(("http://", "https://")):
            raise Unusable("set OPENAI_BASE_URL to an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1")
        return cls(url.rstrip("/"), os.environ.get("OPENAI_API_KEY", ""), os.environ.get("OPENAI_MODEL", "default"))

    def reply(self, messages: list[dict[str, str]]) -> str:
        """What the model says next."""
        body = json.dumps({"model": self.model, "messages": messages, "temperature": 0}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.url}/chat/completions", body, headers)  # noqa: S310 - checked above
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:  # noqa: S310 - the same
                text = json.load(response)["choices"][0]["message"]["content"]
        except (urllib.error.URLError, OSError, KeyError, IndexError, ValueError) as error:
            raise Unusable(f"the endpoint {self.url} gave no reply: {error}") from None
        return str(text)


@dataclass
class Answer:
    """What a call returns to whoever made it."""

    text: str
    evidence: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Recursion:
    """One question in work: the model, the tree, the limits, and what they came to."""

    endpoint: Endpoint
    zeno: Zeno
    record: Recorder
    max_depth: int
    max_steps: int
    context_chars: int
    calls: int = 0
    replies: int = 0
    largest: int = 0

    def solve(self, task: str, depth: int = 0) -> Answer:
        """Answer a task in a context of its own."""
        self.calls += 1
        messages = [
            {"role": "system", "content": SYSTEM.replace("OPS", ", ".join(sorted(OPS)))},
            {"role": "user", "content": task},
        ]
        with self.record.subcall(task) as subcall:
            for _ in range(self.max_steps):
                step = _object(self._say(messages))
                if "answer" in step:
                    answer = self._checked(str(step["answer"]) or "(empty)", step.get("evidence"))
                    subcall.outcome = answer.text
                    return answer
                messages.append({"role": "user", "content": self._observe(step, depth)})
        return Answer("(no answer within the allowed steps)")

    def _say(self, messages: list[dict[str, str]]) -> str:
        # The task stays, what was seen longest ago goes: the context never grows beyond its limit.
        while sum(len(one["content"]) for one in messages) > self.context_chars and len(messages) > 3:
            del messages[2:4]
        self.largest = max(self.largest, sum(len(one["content"]) for one in messages))
        self.replies += 1
        said = self.endpoint.reply(messages)
        messages.append({"role": "assistant", "content": said})
        return said

    def _observe(self, step: dict[str, Any], depth: int) -> str:
        if isinstance(step.get("ask"), str):
            if depth >= self.max_depth:
                return "You cannot hand on any further: ask Zeno yourself."
            part = self.solve(step["ask"], depth + 1)
            return self._cut(f"ANSWER: {part.text}\nEVIDENCE: {json.dumps(part.evidence)}")
        if step.get("op") in OPS and isinstance(step.get("args"), dict):
            return self._cut(f"RESULT: {self._ask(step['op'], step['args'])}")
        return "That was not one of the three JSON objects you can reply with. Try again."

    def _ask(self, op: str, args: dict[str, Any]) -> str:
        try:
            return plain(getattr(self.zeno, op)(**args).model_dump(mode="json", exclude_none=True))
        except (Refused, TypeError) as error:
            return str(error)

    def _cut(self, text: str) -> str:
        limit = self.context_chars // 3
        return (
            text if len(text) <= limit else f"{text[:limit]}\n(cut: {len(text) - limit} more characters; ask for less)"
        )

    def _checked(self, text: str, evidence: Any) -> Answer:
        """The answer with only the evidence that is really there, each piece with the receipt for its lines."""
        kept = []
        for citation in evidence if isinstance(evidence, list) else []:
            try:
                path, start, end = citation["path"], citation["start_line"], citation["end_line"]
                found = self.zeno.read_file(path, start_line=start, end_line=end, max_lines=10_000, receipts=True)
            except (Refused, KeyError, TypeError):
                continue
            if found.end_line == end:
                kept.append({"path": found.path, "start_line": start, "end_line": end, "sha256": found.sha256})
        self.record.claim(text, kept)
        return Answer(text, kept)


def _object(said: str) -> dict[str, Any]:
    """The JSON object in a reply; models like to wrap it in words or fences."""
    try:
        value = json.loads(said[said.index("{") : said.rindex("}") + 1])
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def main(argv: Sequence[str] | None = None) -> int:
    """Ask one question; the answer on standard output, what it took on standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", help="what to find out about the tree")
    parser.add_argument("--root", required=True, help="the tree")
    parser.add_argument("--log", help="append the trace to this file: requests, subcalls and claims")
    parser.add_argument("--max-depth", type=int, default=2, help="how deep calls may nest (default 2)")
    parser.add_argument("--max-steps", type=int, default=40, help="replies for each call (default 40)")
    parser.add_argument("--context-chars", type=int, default=24_000, help="size of each context (default 24000)")
    options = parser.parse_args(argv)
    try:
        with (
            tempfile.TemporaryDirectory() as scratch,
            Zeno(options.root, flags=["--log", log := options.log or f"{scratch}/trace.jsonl"]) as zeno,
            Recorder(log, options.root) as record,
        ):
            limits = (options.max_depth, options.max_steps, options.context_chars)
            work = Recursion(Endpoint.from_environment(), zeno, record, *limits)
            answer = work.solve(options.question)
    except (Unusable, OSError) as error:
        print(f"recursive: {error}", file=sys.stderr)
        return 2
    print(answer.text)
    for citation in answer.evidence:
        print(f"  {citation['path']}:{citation['start_line']}-{citation['end_line']} sha256:{citation['sha256'][:12]}")
    print(f"{work.calls} calls, {work.replies} replies, largest context {work.largest} characters", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
