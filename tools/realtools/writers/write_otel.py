"""OpenTelemetry: evaluation events through the SDK and its OTLP encoder, as OTLP JSON. It publishes no means."""

import base64
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

COUNT = 6


def with_hex_ids(value: Any) -> Any:
    """OTLP JSON has trace and span ids in hexadecimal, protobuf's JSON in Base64."""
    if isinstance(value, dict):
        return {
            key: base64.b64decode(inner).hex() if key in ("traceId", "spanId") else with_hex_ids(inner)
            for key, inner in value.items()
        }
    return [with_hex_ids(inner) for inner in value] if isinstance(value, list) else value


def spans() -> dict[str, Any]:
    """Spans with evaluation results as events, one of them an error. Returns what is told of the file."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("ours")
    for number in range(COUNT):
        with tracer.start_as_current_span("chat", attributes={"gen_ai.request.model": "mock-writer"}) as span:
            result: dict[str, Any] = {"gen_ai.evaluation.score.value": number / 5}
            if number == COUNT - 1:
                result = {"error.type": "timeout"}
            span.add_event("gen_ai.evaluation.result", {"gen_ai.evaluation.name": "Relevance", **result})
            span.add_event("other")
    sent = with_hex_ids(MessageToDict(encode_spans(exporter.get_finished_spans())))
    Path("spans.jsonl").write_text(json.dumps(sent) + "\n")
    stated = {"judge_model": "mock-judge"}
    return {"file": "spans.jsonl", "dialect": "otel-spans", "set": stated, "entries": COUNT, "published": []}


def main() -> None:
    """Emit evaluation results, one of them an error, and another event."""
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    logger = provider.get_logger("ours")
    for number in range(COUNT):
        result: dict[str, Any] = {
            "gen_ai.evaluation.score.value": number / 5,
            "gen_ai.evaluation.explanation": "because",
        }
        if number == COUNT - 1:
            result = {"error.type": "timeout"}
        attributes = {"gen_ai.evaluation.name": "Relevance", "gen_ai.response.id": f"r{number}", **result}
        logger.emit(
            LogRecord(
                timestamp=1_767_225_600_000_000_000 + number,
                severity_number=SeverityNumber.INFO,
                event_name="gen_ai.evaluation.result",
                attributes=attributes,
            )
        )
    logger.emit(LogRecord(timestamp=1, severity_number=SeverityNumber.INFO, event_name="other"))
    finished = exporter.get_finished_logs()
    batches = [finished[:4], finished[4:]]
    lines = [json.dumps(with_hex_ids(MessageToDict(encode_logs(batch)))) + "\n" for batch in batches]
    Path("logs.jsonl").write_text("".join(lines))
    stated = {"judge_model": "mock-judge", "generator_model": "mock-writer"}
    file = {"file": "logs.jsonl", "dialect": "otel", "set": stated, "entries": COUNT, "published": []}
    with open("told.json", "w") as out:
        json.dump({"tool": f"opentelemetry-sdk {version('opentelemetry-sdk')}", "files": [file, spans()]}, out)


main()
