"""A Spark cluster on the loopback, from the jars of pyspark: a master and two workers, and what its stages did."""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pyspark

from tests.support.patience import until

_HOME = Path(pyspark.__file__).parent
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_DEPLOY = "org.apache.spark.deploy"


class Cluster(NamedTuple):
    """A running cluster."""

    master: str
    folder: Path

    def environment(self) -> dict[str, str]:
        """Return the environment of a driver, which writes the log of its events into the folder."""
        settings = {
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": _QUICK,
            "spark.driver.extraJavaOptions": _QUICK,
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"file://{self.folder}",
            "spark.sql.shuffle.partitions": "2",
            # Compiling queries takes longer than running them on so few records.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        }
        arguments = [f"--conf {name}={json.dumps(value)}" for name, value in settings.items()]
        return {
            **os.environ,
            "SPARK_MASTER": self.master,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": " ".join([*arguments, "pyspark-shell"]),
        }


@contextmanager
def started(folder: Path) -> Iterator[Cluster]:
    """Start a master and two workers; they are stopped at the end."""
    with ExitStack() as stack:
        log = stack.enter_context(_process(folder, "master", "master.Master", "--port", "0"))
        found = until(lambda: re.search(r"spark://127\.0\.0\.1:\d+", log.read_text()), "the master listens")
        assert found is not None
        for number in range(2):
            own = ["--cores", "1", "--memory", "700m", "--work-dir", str(folder / f"work-{number}"), found[0]]
            stack.enter_context(_process(folder, f"worker-{number}", "worker.Worker", *own))
        until(lambda: log.read_text().count("Registering worker") == 2, "both workers are known")
        yield Cluster(found[0], folder)


@contextmanager
def _process(folder: Path, name: str, kind: str, *arguments: str) -> Iterator[Path]:
    command = ["java", "-Xmx256m", *_QUICK.split(), "-cp", f"{_HOME}/jars/*", f"{_DEPLOY}.{kind}"]
    command += ["--host", "127.0.0.1", "--webui-port", "0", *arguments]
    environment = {**os.environ, "SPARK_HOME": str(_HOME), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SCALA_VERSION": "2.13"}
    log = folder / f"{name}.log"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=folder) as child:
        try:
            yield log
        finally:
            child.terminate()


class Stage(NamedTuple):
    """What the tasks of a stage read and wrote, in bytes."""

    tasks: int = 0
    read: int = 0
    shuffled: int = 0
    result: int = 0
    """What came to the driver."""


def stages(folder: Path) -> tuple[dict[str, dict[int, Stage]], set[str]]:
    """Return the stages of each job group of a driver that has ended, and the executors that ran a task."""
    groups: dict[int, str] = {}
    found: dict[str, dict[int, Stage]] = defaultdict(dict)
    executors = set()
    [log] = folder.glob("app-*")
    for event in map(json.loads, log.read_text().splitlines()):
        if event["Event"] == "SparkListenerStageSubmitted":
            name = event.get("Properties", {}).get("spark.job.description", "")
            groups[event["Stage Info"]["Stage ID"]] = name
        if event["Event"] == "SparkListenerTaskEnd" and "Task Metrics" in event:
            metrics, number = event["Task Metrics"], event["Stage ID"]
            executors.add(event["Task Info"]["Executor ID"])
            before = found[groups[number]].get(number, Stage())
            now = Stage(
                1,
                metrics["Input Metrics"]["Bytes Read"],
                metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"],
                metrics["Result Size"],
            )
            found[groups[number]][number] = Stage(*(one + other for one, other in zip(before, now, strict=True)))
    return found, executors
