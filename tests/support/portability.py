"""Which tests are about a feature of the system itself, and are skipped where ZENO_WITHOUT switches it off.

`nox -s portable` runs all others, to show that answers do not depend on inotify, openat2 and fork.
"""

import pytest

from zeno.options import is_without

ABOUT = {
    "inotify": (
        "tests/zeno/cache/test_tree_cache.py",
        "tests/zeno/cache/test_freshness.py::test_a_snapshot_is_given_again_until_the_rules_leave_other_files",
        "tests/zeno/cache/test_freshness.py::test_once_all_directories_can_be_listed_again_the_listing_is_held_again",
        "tests/zeno/cache/test_freshness.py::test_changes_are_applied_while_nobody_asks",
        # Without watches nothing is held in memory.
        "tests/zeno/cache/test_unheld_files.py::test_a_linked_file_is_searched_in_the_text_of_its_target",
        "tests/zeno/cache/test_unheld_files.py::test_size_and_kind_are_known_of_files_without_room_for_their_texts",
        "tests/zeno/cache/test_unheld_files.py::test_texts_are_held_when_there_is_room_again",
        "tests/zeno/cache/test_unwatched_files.py::test_texts_are_held_without_watches",
        "tests/zeno/cache/test_unwatched_files.py::test_a_file_that_changed_just_now_is_read_from_disk",
        "tests/zeno/cache/test_unwatched_files.py::test_a_file_system_without_change_times_is_not_held",
        "tests/zeno/files/test_moved_out.py::TestWarm",
        "tests/zeno/interfaces/test_shell.py::test_the_shell_reads_the_tree_into_memory_while_nothing_is_typed_and_says_so",
        "tests/zeno/files/test_policy.py::test_memory_holds_no_denied_text",
        "tests/zeno/interfaces/test_http.py::test_the_tree_is_read_into_memory_before_anybody_asks",
        "tests/whole/test_architecture.py::test_a_warm_grep_over_mcp_passes_few_modules",
    ),
    "openat2": (
        "tests/zeno/files/test_openat2.py",
        "tests/zeno/files/test_moved_out.py::test_quick_stat_of_what_left_right_before",
    ),
    "fork": (
        "tests/zeno/search/test_fork_helper.py",
        "tests/zeno/test_forked.py",
        "tests/zeno/search/test_corpus.py::test_answers_are_the_same_with_help",
        "tests/zeno/search/test_corpus.py::test_many_directories_are_walked_by_two_processes_in_the_order_of_one",
        # A request that cannot be interrupted between two files is killed in its forked process.
        "tests/zeno/session/test_server.py::test_a_request_over_its_time_is_refused_and_the_next_one_answered",
        "tests/zeno/session/test_server.py::test_a_server_that_is_killed_leaves_no_process_behind",
        "tests/zeno/interfaces/test_http.py::test_nobody_waits_for_a_slow_request_and_it_ends_when_its_client_leaves",
        "tests/zeno/interfaces/test_http.py::test_a_stream_answers_in_order_and_ends_when_its_client_leaves",
        "tests/zeno/interfaces/test_http.py::test_a_request_over_its_time_is_a_problem_with_its_code",
        "tests/zeno/interfaces/test_mcp.py::test_a_slow_call_delays_nobody_and_is_stopped_when_it_is_cancelled",
        "tests/zeno/interfaces/test_mcp.py::test_a_slow_call_after_the_last_message_ends_when",
        "tests/zeno/interfaces/test_mcp.py::test_whoever_asks_for_progress_hears_of_it",
        "tests/zeno/interfaces/test_mcp_versions.py",
    ),
}


def skip_what_is_switched_off(items: list[pytest.Item]) -> None:
    """Mark the tests of features that are switched off as skipped."""
    for feature, places in ABOUT.items():
        if is_without(feature):
            for item in items:
                if item.nodeid.startswith(places):
                    item.add_marker(pytest.mark.skip(reason=f"{feature} is switched off"))
