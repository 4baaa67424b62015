"""Spark: the session, and a pool of its executors. Imported only when it is used, because it imports Spark."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from normalizer.batch.workers import STANDARD_INPUT, TaskRunner, Work
from normalizer.errors import CannotRun

T = TypeVar("T")
Outcome = TypeVar("Outcome")
_AT_ONCE = 1024
"""Tasks that are handed to Spark together; the limit bounds the memory of this process."""
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",  # overflow and bad casts are errors, never nulls
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
}
_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
}
"""Settings of a local session: no web page, and no connection to another machine."""
_QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Settings for short runs: Java starts sooner and optimizes less."""


def session(*, quick: bool) -> SparkSession:
    """The session that is there, or a new one: on the master that SPARK_MASTER or spark-submit names, else local."""
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        raise CannotRun("Spark needs Java 17 or newer: install it, or use --engine duckdb")
    builder = SparkSession.builder.appName("normalizer")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    master = os.environ.get("SPARK_MASTER", "local[*]")
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # then spark-submit has named the master
    if SparkSession.getActiveSession() is None and not submitted:
        builder = builder.master(master)
        if master.startswith("local"):
            # Workers on this machine run in the environment of this process, whatever python the PATH has.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            # Java looks up the name of this machine, and does not start where the name cannot be resolved.
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        local = {**_LOCAL, **(_QUICK if quick else {})}
        for name, value in local.items() if master.startswith("local") else ():
            builder = builder.config(name, value)
    try:
        made = builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        raise CannotRun(f"Spark does not start: {_cause(error)}") from None
    made.sparkContext.setLogLevel("ERROR")
    return made


class SparkPool:
    """Runs the tasks of `normalize` on Spark, like `workers.WorkerPool`.

    Spark's executors take bundles in, normalize them and write the buckets, so they must see the bundles and the
    ledger's folder under the same paths; standard input is read by this process. A task that Spark repeats gives the
    same bytes.
    """

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = replace(runner, folder=runner.folder.absolute())
        self._session = session(quick=True)  # the work is done by Python

    def each(self, parts: Iterable[Work]) -> Iterator[Any]:
        """Run the tasks, many at a time, and yield their results."""
        parts = iter(parts)
        while some := list(islice(parts, _AT_ONCE)):
            here = [part for part in some if part is STANDARD_INPUT]
            yield from map(self._runner.do, here)
            yield from _run(self._session, self._runner.do, [part for part in some if part is not STANDARD_INPUT])

    def __enter__(self) -> "SparkPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The session stays: another command of this process may use it."""


def map_files(scratch: Path) -> Callable[[Callable[[T], bytes], list[T]], Iterator[bytes]]:
    """Return a function that applies another to items on Spark's executors, and yields what it returns, in order.

    Executors write it into files of a folder that all of them see; this process reads one after the other.
    """

    def run(convert: Callable[[T], bytes], items: list[T]) -> Iterator[bytes]:
        def write(numbered: tuple[int, T]) -> None:
            (scratch / str(numbered[0])).write_bytes(convert(numbered[1]))

        _run(session(quick=True), write, list(enumerate(items)))
        for number in range(len(items)):
            yield (scratch / str(number)).read_bytes()
            (scratch / str(number)).unlink()

    return run


def _run(spark: SparkSession, do: Callable[[T], Outcome], items: list[T]) -> list[Outcome]:
    """Run a task for each item on the executors; what tasks return is small."""
    try:
        return spark.sparkContext.parallelize(items, len(items)).map(do).collect() if items else []
    except (PySparkException, Py4JError) as error:
        raise CannotRun(f"Spark could not do it: {_cause(error)}") from None


def _cause(error: Exception) -> str:
    """Return the line of a Spark error that names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if "Error" in line or "CannotRun" in line]
    return lines[-1] if lines else str(error).splitlines()[0]
