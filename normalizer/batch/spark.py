"""Spark: the session, and a pool of its executors. Imported only when it is used, because it imports Spark."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import TracebackType

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from normalizer.batch.workers import BundleCounts, Normalize, Take, TaskRunner
from normalizer.errors import CannotRun

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

    Bundles are taken in by this process and normalized by Spark's executors, which must see the ledger's folder under
    the same path. A task that Spark repeats gives the same bytes.
    """

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = replace(runner, folder=runner.folder.absolute())
        self._session = session(quick=True)  # the work is done by Python

    def each(self, parts: Iterable[Take | Normalize]) -> Iterator[BundleCounts]:
        """Run the tasks; yields their results as they finish."""
        buckets = []
        for part in parts:
            if isinstance(part, Normalize):
                buckets.append(part)
            else:
                yield self._runner.do(part)
        if not buckets:
            return
        shared = self._session.sparkContext
        try:
            yield from shared.parallelize(buckets, len(buckets)).map(self._runner.do).collect()
        except (PySparkException, Py4JError) as error:
            raise CannotRun(f"Spark could not do it: {_cause(error)}") from None

    def __enter__(self) -> "SparkPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The session stays: another command of this process may use it."""


def _cause(error: Exception) -> str:
    """Return the line of a Spark error that names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if "Error" in line or "CannotRun" in line]
    return lines[-1] if lines else str(error).splitlines()[0]
