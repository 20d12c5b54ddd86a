"""The Claude Agent SDK's own tests of session stores, unmodified, over stores of forklore."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from source_suite import SourceSuite, names, skipped

SUITE = SourceSuite("claude_agent_sdk-0.2.187", Path(__file__).parent, "claude_plugin", "python-claude.md")

COUNTS = {
    "tests/test_session_helpers_store.py": 44,
    "tests/test_session_resume.py": 41,
    "tests/test_session_mutations.py": 52,
    "tests/test_session_summary.py": 33,
    "tests/test_session_import.py": 15,
    "tests/test_session_store_conformance.py": 21,
    "tests/test_session_store_anyio.py": 7,
    "tests/test_transcript_mirror.py": 37,
}
"""How many tests of each file pass. A test with several parameters, such as asyncio and trio, counts once."""

STORES = ["memory", "sqlite"] if os.environ.get("FORKLORE_LONG_SUITES") else ["sqlite"]


@pytest.mark.parametrize("store", STORES)
def test_the_sdk_s_tests_pass(store: str, tmp_path: Path) -> None:
    tests = SUITE.passed(COUNTS, tmp_path / "report.xml", SUITE.excluded(), FORKLORE_CLAUDE_STORE=store)
    assert {suite: len(names(of_file)) for suite, of_file in tests.items()} == COUNTS
    assert skipped(tests) == []


def test_the_excluded_tests_exist_and_are_published() -> None:
    SUITE.check_exclusions(FORKLORE_CLAUDE_STORE="memory")
