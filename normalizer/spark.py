"""The Spark session. Importing this imports Spark: only what was asked to run on it may."""

import os
import shutil

from pyspark.sql import SparkSession

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
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
}
"""On one machine nobody watches a page, and nothing leaves it."""


def session() -> SparkSession:
    """The session that is there, or a new one: on the master that SPARK_MASTER or spark-submit names, else local."""
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        raise CannotRun("Spark needs Java 17 or newer: install it, or use --engine duckdb")
    builder = SparkSession.builder.appName("normalizer")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    master = os.environ.get("SPARK_MASTER", "local[*]")
    if SparkSession.getActiveSession() is None and "MASTER" not in os.environ:
        builder = builder.master(master)
        for name, value in _LOCAL.items() if master.startswith("local") else ():
            builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made
