"""Where a server records requests and answers: the interface of trace writers, and one that writes nothing."""

from typing import Any, Protocol

from contract_models.zeno.metrics import Metrics
from contract_models.zeno.request import Request
from contract_spec.model import Model

from zeno.errors import ZenoError


class Trace(Protocol):
    """Where the server records requests and answers."""

    def request(self, request: Request) -> None: ...
    def summary(self, result: Model) -> Any: ...
    def response(self, request: Request, summary: Any, metrics: Metrics) -> None: ...
    def error(self, request_id: str | None, op: str | None, error: ZenoError) -> None: ...


class NoTrace:
    """Records nothing."""

    def request(self, request: Request) -> None: ...
    def summary(self, result: Model) -> None: ...
    def response(self, request: Request, summary: Any, metrics: Metrics) -> None: ...
    def error(self, request_id: str | None, op: str | None, error: ZenoError) -> None: ...
