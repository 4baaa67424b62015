"""Which files differ from those in a commit, for reviews."""

from collections.abc import Sequence
from itertools import zip_longest

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.meter import Meter
from zeno.search.corpus import Corpus
from zeno.search.selection import Selection
from zeno.text.path_names import Paths


def select_changed(paths: Sequence[str], rev: str, selection: Selection, corpus: Corpus, meter: Meter) -> Selection:
    """Return a selection of those of the selected paths whose content a commit does not have at the same path.

    A file that cannot be read counts as changed.
    """
    since = corpus.revisions.at(rev, "args.changed_since")
    changed = Paths(path for path in meter.check_each(paths) if _differs(path, corpus, since))
    known = frozenset(changed)
    return Selection(known.__contains__, selection.reaches, lambda _: changed)


def _differs(path: str, corpus: Corpus, since: Corpus) -> bool:
    try:
        with corpus.tree.open(path) as now, since.tree.open(path) as then:
            return now.size != then.size or any(one != other for one, other in zip_longest(now.chunks(), then.chunks()))
    except (Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied):
        return True
