"""Tasks of a merge in any order, and done twice, as Spark may, write the files of the plain definition."""

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.batch.workers import WorkerPool
from normalizer.cli import main
from normalizer.ledger import bucket_merge
from normalizer.ledger.bucket_merge import MergeTask
from normalizer.ledger.buckets import chunks, split
from normalizer.ledger.line_format import FILES
from normalizer.ledger.reader import reading
from normalizer.ledger.transaction import Staging
from tests.support.bundles import bundle, entry

RUNS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=12), min_size=1, max_size=3)
"""The numbers of entries of the bundles of each run."""


def bundles_of(folder: Path, run: int, sizes: list[int]) -> list[str]:
    paths = []
    for number, size in enumerate(sizes):
        # Some are INVALID, and a bundle of 7 is none at all.
        entries = (entry(f"{item}.pdf", **({"surplus": 1} if item % 4 == 3 else {})) for item in range(size))
        text = json.dumps(bundle(*entries, run_id=f"{run}-{number}"))
        paths.append(folder / f"{run}-{number}.json")
        paths[-1].write_text("{" + text if size == 7 else text)
    return list(map(str, paths))


@settings(max_examples=25, deadline=None)
@given(RUNS, st.integers(0, 2**32), st.sampled_from([1500, 3000, 6000]), st.booleans())
def test_tasks_in_any_order_and_done_twice_write_the_files_of_the_plain_definition(runs, seed, size, replaced):
    chance, each, tasks = random.Random(seed), WorkerPool.each, list[MergeTask]()

    def shuffle(self, parts):
        every = list(parts)
        chance.shuffle(every)
        if every and isinstance(every[0], MergeTask):
            tasks.extend(every)
            list(each(self, every[: chance.randint(0, len(every))]))
        return each(self, every)

    with TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr("normalizer.ledger.buckets.BUCKET_BYTES", size)
        patch.setattr("normalizer.ledger.commit_tree.MOST_FILES", 8)
        patch.setattr(WorkerPool, "each", shuffle)
        folder = Path(scratch)
        ledger, paths = folder / "ledger", list[str]()
        for number, sizes in enumerate(runs):
            paths = bundles_of(folder, number, sizes)
            assert main(["normalize", *paths, "--out", str(ledger)]) in (0, 1)
        if replaced:
            (folder / "manifest.json").write_text(json.dumps({"files": [{"file": "0.pdf"}]}))
            other = ["--replace", "--manifest", str(folder / "manifest.json"), "--out", str(ledger)]
            assert main(["normalize", *paths[: chance.randint(1, len(paths))], *other]) in (0, 1)
        with reading(ledger) as opened:
            for kind in FILES:
                plain = dict(split(kind, "", chunks(kind, opened.lines(kind))))
                assert plain == {place: (ledger / place.name).read_bytes() for place in opened.places(kind)}
        assert main(["audit", str(ledger)]) == 0
    assert {task.kind for task in tasks} == set(FILES)  # the first run makes a file of each


def test_a_lost_attempt_that_still_writes_leaves_the_committed_bytes_whole(tmp_path, monkeypatch):
    again, seen, commit = list[Path](), list[bool](), Staging.commit

    def look(*given, **named):
        """Open a file as the attempt does, and compare all that was written before it writes."""
        file = open(*given, **named)  # noqa: SIM115 (the caller closes it)
        seen.append(all(path.read_bytes() == data for path, data in written.items()))
        return file

    def commit_after_another_attempt(self):
        written.update({path: path.read_bytes() for path in (self.root / "new").iterdir()})
        monkeypatch.setattr(bucket_merge, "open", look, raising=False)
        for kind in FILES:
            for task in bucket_merge.plan_merge(self.root.parent, self._intact.tree, kind, replace=False):
                bucket_merge.merge_bucket(self.root.parent, task, replace=False)
                again.append(self.root)
        commit(self)

    written: dict[Path, bytes] = {}
    paths = bundles_of(tmp_path, 0, [3, 5, 8])
    assert main(["normalize", *paths, "--out", str(tmp_path / "plain")]) == 1
    monkeypatch.setattr(Staging, "commit", commit_after_another_attempt)
    assert main(["normalize", *paths, "--out", str(tmp_path / "ledger")]) == 1
    assert again
    assert seen
    assert all(seen)
    for path in (tmp_path / "plain").glob("*.json*"):
        assert (tmp_path / "ledger" / path.name).read_bytes() == path.read_bytes()
