"""Strands' own tests of its repositories, unmodified, over the repository of forklore."""

from __future__ import annotations

from pathlib import Path

from source_suite import SourceSuite, skipped

SUITE = SourceSuite("strands_agents-1.62.0", Path(__file__).parent, "strands_plugin", "python-strands.md")

COUNTS = {
    "tests/strands/session/test_repository_session_manager.py": 51,
    "tests/strands/session/test_file_session_manager.py": 21,
}
"""How many cases of each file pass."""


def test_the_tests_of_strands_pass(tmp_path: Path) -> None:
    tests = SUITE.passed(COUNTS, tmp_path / "report.xml", SUITE.excluded())
    assert {suite: len(of_file) for suite, of_file in tests.items()} == COUNTS
    assert skipped(tests) == []


def test_the_excluded_tests_exist_and_are_published() -> None:
    SUITE.check_exclusions()
