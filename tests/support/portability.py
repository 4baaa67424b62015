"""Which tests are about a feature of the system itself, and are skipped where ZENO_WITHOUT switches it off.

`nox -s portable` runs all others, to show that answers do not depend on inotify, openat2 and fork.
"""

import pytest

from zeno.options import is_without

ABOUT = {
    "inotify": (
        "tests/zeno/cache/test_tree_cache.py",
        "tests/zeno/cache/test_freshness.py::test_once_all_directories_can_be_listed_again_the_listing_is_held_again",
    ),
    "openat2": ("tests/zeno/files/test_openat2.py",),
    "fork": ("tests/zeno/search/test_fork_helper.py",),
}


def skip_what_is_switched_off(items: list[pytest.Item]) -> None:
    """Mark the tests of features that are switched off as skipped."""
    for feature, places in ABOUT.items():
        if is_without(feature):
            for item in items:
                if item.nodeid.startswith(places):
                    item.add_marker(pytest.mark.skip(reason=f"{feature} is switched off"))
