"""The SDK's own tests of its sessions, unmodified, over sessions of forklore."""

from __future__ import annotations

from pathlib import Path

from source_suite import SourceSuite, skipped

SUITE = SourceSuite("openai_agents-0.24.0", Path(__file__).parent, "openai_agents_plugin", "python-openai-agents.md")

COUNTS = {
    "tests/memory/test_session.py": 39,
    "tests/memory/test_session_limit.py": 15,
    "tests/memory/test_session_persistence_sanitize.py": 27,
    "tests/memory/test_session_context_wrapper.py": 15,
    "tests/extensions/memory/test_advanced_sqlite_session.py": 113,
}
"""How many cases of each file pass."""


def test_the_sdk_s_tests_pass(tmp_path: Path) -> None:
    tests = SUITE.passed(COUNTS, tmp_path / "report.xml", SUITE.excluded())
    assert {suite: len(of_file) for suite, of_file in tests.items()} == COUNTS
    assert skipped(tests) == []


def test_the_excluded_tests_exist_and_are_published() -> None:
    SUITE.check_exclusions()
