"""Start the engine that a command names."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contract_spec.extras import install_command

from normalizer.aggregate.engines.interface import Engine
from normalizer.errors import CannotRun

ENGINES = ("duckdb", "spark")


@contextmanager
def start_engine(name: str, memory: str, work: int) -> Iterator[Engine]:
    """Start an engine for about `work` bytes of records. It is imported here, because both take long to import."""
    if name == "duckdb":
        try:
            from normalizer.aggregate.engines.on_duckdb import DuckDB
        except ImportError:
            raise CannotRun(f"aggregation needs DuckDB: {install_command('report')}") from None
        with tempfile.TemporaryDirectory(prefix="normalizer-") as scratch:
            yield DuckDB(Path(scratch), memory, work)
        return
    try:
        from normalizer.aggregate.engines.on_spark import Spark
    except ImportError:
        raise CannotRun(f"this engine needs Spark: {install_command('spark')}") from None
    yield Spark(work)
