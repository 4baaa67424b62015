"""Every module has a test module of its own, or is listed here with the one that tests it.

`tests/zeno/files/test_walk.py` is for `zeno/files/walk.py`. Modules that only make sense together are tested together:
through a server, a command or a page. A new module needs one or the other.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# By folder: a test module below tests/, and the modules of the folder that it tests.
TESTED_BY = {
    "normalizer": {"normalizer/test_cli.py": "__main__ errors"},
    "normalizer/aggregate": {
        "normalizer/aggregate/test_summary.py": "groups parsed_lines query restated_scores",
    },
    "normalizer/aggregate/engines": {
        "normalizer/aggregate/test_summary.py": "interface on_duckdb start",
        "normalizer/batch/test_spark.py": "on_spark",
    },
    "normalizer/batch": {"normalizer/batch/test_run.py": "workers"},
    "normalizer/calibration": {
        "normalizer/calibration/test_judge_accuracy.py": "ceiling choice measures prediction_powered"
    },
    "normalizer/checks": {
        "normalizer/checks/test_lint.py": "schema_lint",
    },
    "normalizer/checks/study": {"normalizer/checks/study/test_findings.py": "collect"},
    # Commands are run by the tests of what they call, and by those of the pages that show them.
    "normalizer/commands": {
        "normalizer/test_cli.py": "options",
    },
    "normalizer/commands/judge": {
        "normalizer/checks/test_lint.py": "lint",
        "normalizer/judge/calling/test_command.py": "judge",
    },
    "normalizer/commands/look": {
        "normalizer/test_cli.py": "explain restore",
        "whole/test_files_from_elsewhere.py": "list",
    },
    "normalizer/commands/numbers": {
        "normalizer/aggregate/test_summary.py": "aggregate",
        "normalizer/calibration/test_judge_accuracy.py": "calibrate",
        "normalizer/gate/test_paired_verdicts.py": "gate",
        "normalizer/noise/test_study_plan.py": "plan",
        "normalizer/preferences/test_group_preferences.py": "preferences",
        "normalizer/statistics/test_agreement.py": "agreement",
        "normalizer/statistics/test_contrasts.py": "compare",
    },
    "normalizer/commands/publish": {
        "normalizer/checks/published_tables/test_compare.py": "check",
        "normalizer/export/test_flat.py": "export",
        "normalizer/report/test_html_page.py": "report",
        "normalizer/test_cli.py": "docs",
    },
    "normalizer/commands/read": {
        "normalizer/containers/test_shipped.py": "dialects",
        "normalizer/test_cli.py": "normalize",
        "whole/test_files_from_elsewhere.py": "guess",
    },
    "normalizer/commands/shell": {
        "normalizer/test_cli.py": "completion",
        "whole/test_manual.py": "man",
    },
    "normalizer/commands/trust": {
        "normalizer/batch/test_repair.py": "repair",
        "normalizer/checks/test_audit.py": "audit",
        "normalizer/ledger/test_signing.py": "sign",
    },
    "normalizer/containers": {
        "normalizer/containers/test_shipped.py": "forms values",
    },
    "normalizer/containers/readers": {"normalizer/containers/test_shipped.py": "rows"},
    "normalizer/documents": {
        "normalizer/screening/test_pipeline.py": "settings",
    },
    "normalizer/export": {"normalizer/export/test_flat.py": "arrow eee inspect_log"},
    "normalizer/gate": {"normalizer/gate/test_paired_verdicts.py": "sides verdict"},
    "normalizer/api": {"normalizer/api/test_ledgers.py": "numbers"},
    "normalizer/guess": {
        "normalizer/api/test_sources.py": "certain",
        "normalizer/guess/test_propose.py": "duels grids nested preview readings roles rows scores "
        "text_scores verdict_texts weights",
        "whole/test_files_from_elsewhere.py": "shipped_fit",
    },
    "normalizer/guess/fields": {
        "normalizer/guess/test_propose.py": "column_names names orders profile result_tables values",
        "normalizer/guess/test_told_fields.py": "unexplained item_properties",
    },
    "normalizer/judge": {"normalizer/judge/calling/test_command.py": "describe prepare run run_folder"},
    "normalizer/judge/calling": {
        "normalizer/judge/calling/test_command.py": "calls",
    },
    "normalizer/ledger": {
        "normalizer/aggregate/test_summary.py": "open_ledgers",
        "normalizer/ledger/test_power_cut.py": "durable",
        "normalizer/ledger/test_signing.py": "signature",
        "normalizer/ledger/test_transaction.py": "line_format reader",
    },
    "normalizer/noise": {"normalizer/noise/test_study_plan.py": "components designs sample_size"},
    "normalizer/preferences": {
        "normalizer/preferences/test_controlled_recipes.py": "alpaca_length arena_style",
        "normalizer/preferences/test_group_preferences.py": "lengths logistic ratings",
        "normalizer/preferences/test_reading.py": "comparison_query comparisons rates verdicts",
    },
    "normalizer/report": {
        "normalizer/report/test_html_page.py": (
            "audit_sections drilldown gathering judge_sections plots sections study"
        ),
    },
    "normalizer/report/decisions": {
        "normalizer/report/decisions/test_sections.py": "records_of_row",
    },
    "normalizer/report/records": {
        "normalizer/report/records/test_lookup.py": "record_table",
        "normalizer/report/records/test_sample.py": "page_records",
        "normalizer/report/test_raw_lines.py": "bundles",
    },
    "normalizer/screening": {
        "normalizer/screening/test_pipeline.py": "bundle bundle_entries metadata",
    },
    "normalizer/statistics": {
        "normalizer/statistics/test_agreement.py": "agreement_measures",
        "normalizer/statistics/test_agreement_intervals.py": "cell_table",
        "normalizer/statistics/test_sensitivity.py": "group_means judge_scores rates self_judging signflip",
    },
    "normalizer/tables": {
        "normalizer/aggregate/test_summary.py": "summary_table",
        "normalizer/calibration/test_judge_accuracy.py": "calibration_table",
        "normalizer/checks/published_tables/test_compare.py": "check_table",
        "normalizer/checks/test_audit.py": "audit_table",
        "normalizer/gate/test_paired_verdicts.py": "gate_table",
        "normalizer/noise/test_study_plan.py": "plan_table",
        "normalizer/preferences/test_group_preferences.py": "preferences_table",
        "normalizer/statistics/test_agreement.py": "agreement_table",
        "normalizer/statistics/test_contrasts.py": "contrast_table",
    },
    "normalizer/terminal": {"normalizer/terminal/test_fitted.py": "output"},
    "zeno": {
        "zeno/interfaces/test_stdio.py": "__main__ errors meter",
        "zeno/cli/test_several_roots.py": "options",
    },
    "zeno/cache": {
        "zeno/cache/test_freshness.py": "listing watch",
        "zeno/cache/test_warm_corpus.py": "text_store",
        "zeno/ops/test_search.py": "kept_words",
    },
    "zeno/cli": {
        "zeno/cli/test_parser.py": "flags help_format interrupts printing reference requests servers",
        "zeno/trace/test_verify.py": "trace_parser trace_read trace_source",
        "zeno/trace/test_recorder.py": "trace_write",
    },
    "zeno/cli/install": {"zeno/cli/install/test_checks.py": "doctor", "whole/test_manual.py": "manual"},
    "zeno/confinement": {"zeno/confinement/test_confinement.py": "landlock needs seccomp system_calls"},
    "zeno/interfaces": {
        "zeno/interfaces/test_mcp.py": "claims",
        "zeno/interfaces/test_result_text.py": "rows",
    },
    "zeno/interfaces/http": {
        "zeno/interfaces/test_http.py": "access app incoming problems",
        "zeno/interfaces/test_http_hostile.py": "connections",
        "zeno/interfaces/test_http_mcp.py": "mcp_endpoint",
        "zeno/interfaces/test_mcp_sessions.py": "mcp_sessions",
        "zeno/interfaces/test_streams.py": "streams",
    },
    "zeno/interfaces/mcp": {
        "zeno/interfaces/test_mcp.py": "standard_io tool_list tools",
        "zeno/interfaces/test_mcp_batch.py": "batch",
        "zeno/interfaces/test_mcp_client_roots.py": "client_roots",
    },
    "zeno/interfaces/texts": {"zeno/interfaces/test_result_text.py": "other"},
    "zeno/files": {
        "zeno/files/test_moved_out.py": "batch_open location open_file walk",
        "zeno/files/test_roots.py": "file_tree",
        "zeno/files/test_tree.py": "resolve",
        "zeno/revisions/test_repository.py": "sealed_folder",
    },
    "zeno/index": {
        "zeno/cache/test_warm_corpus.py": "piece_index signatures",
    },
    "zeno/results": {
        "zeno/ops/test_grep.py": "hit_page",
        "zeno/ops/test_find_references.py": "callers",
        "zeno/ops/test_find_symbols.py": "definitions",
        "zeno/ops/test_search.py": "passages",
    },
    "zeno/search": {
        "zeno/cache/test_warm_corpus.py": "sink",
        "zeno/ops/test_search.py": "word_counts",
    },
    "zeno/session": {"zeno/session/test_server.py": "dispatch outcome wire"},
    "zeno/code": {"zeno/code/test_extract.py": "facts syntax", "zeno/code/test_table.py": "pool"},
    "zeno/revisions": {
        "zeno/results/test_changed_files.py": "submodules",
        "zeno/revisions/test_commit_corpus.py": "blob_opener commit_tree",
        "zeno/revisions/test_objects.py": "differences",
        "zeno/revisions/test_refs.py": "served_commits",
    },
    "zeno/text": {"zeno/text/test_gitignore.py": "gitignore_syntax", "zeno/text/test_symbols.py": "blanking"},
    "zeno/trace": {
        "zeno/trace/test_replay.py": "digest events suspects",
        "zeno/trace/test_verify.py": "cited_answers",
    },
    "zeno/trace/page": {"zeno/trace/page/test_view.py": "excerpts page_data"},
}


# By folder: the folder whose modules of the same names it is tested with.
TESTED_WITH = {"zeno/interfaces/texts": "zeno/ops"}


def untested(package: str) -> dict[str, set[str]]:
    """The modules without a test module of their own, by folder."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / package).rglob("*.py"):
        folder = path.parent.relative_to(ROOT).as_posix()
        if folder in TESTED_WITH and (ROOT / TESTED_WITH[folder] / path.name).exists():
            folder = TESTED_WITH[folder]
        if path.stem != "__init__" and not (ROOT / "tests" / folder / f"test_{path.stem}.py").exists():
            found.setdefault(folder, set()).add(path.stem)
    return found


@pytest.mark.parametrize("package", ["normalizer", "zeno"])
def test_every_module_has_a_test_module_or_is_listed_with_the_one_that_tests_it(package):
    listed = {
        folder: {name for names in tests.values() for name in names.split()}
        for folder, tests in TESTED_BY.items()
        if folder.split("/")[0] == package
    }
    assert untested(package) == listed


def test_every_test_module_that_is_listed_exists():
    assert [test for tests in TESTED_BY.values() for test in tests if not (ROOT / "tests" / test).is_file()] == []
