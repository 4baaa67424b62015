"""The tools that can be installed, and what their environments need."""

from typing import NamedTuple


class Tool(NamedTuple):
    """One tool: its packages on PyPI or npm. The script `writers/write_NAME.py` has it write files."""

    packages: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    """Packages installed without their dependencies; those that are needed are in `packages`."""


TOOLS: dict[str, Tool] = {
    "inspect": Tool(("inspect-ai", "zstandard")),
    "deepeval": Tool(("deepeval",)),
    "lm_eval": Tool(("lm-eval", "datasets")),
    "mlflow": Tool(("mlflow",)),
    "promptfoo": Tool(npm=("promptfoo",)),
    "alpaca_eval": Tool(("alpaca-eval", "setuptools<81")),
    # Most of its dependencies are for single evals of its registry.
    "openai_evals": Tool(
        ("openai", "tiktoken", "pyyaml", "tqdm", "blobfile", "backoff", "dacite", "fire", "pandas", "lz4", "zstandard"),
        alone=("evals",),
    ),
    "langfuse": Tool(("langfuse",)),
    "otel": Tool(("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-common")),
}

WITHOUT_A_WRITER = {
    "mt-bench": "FastChat's judge scripts are in its repository and not in its package",
    "mt-bench-pair": "FastChat's judge scripts are in its repository and not in its package",
    "arena-hard": "there is no package",
    "wildbench": "there is no package",
    "wildbench-pair": "there is no package",
    "judgebench": "there is no package",
    "prometheus": "the package prometheus-eval grades and writes no file; the scripts that do are in its repository",
}
"""Dialects whose files no installable tool writes. Their fixtures follow the tool's source."""
