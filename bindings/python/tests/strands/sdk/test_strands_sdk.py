"""Strands' own tests of its repositories, unmodified, over the repository of forklore."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_suite import SourceSuite, cases

SUITE = SourceSuite("strands_agents-1.62.0", Path(__file__).parent, "strands_plugin", "python-strands.md")
EXCLUSIONS = SUITE.exclusions()

COUNTS = {
    "tests/strands/session/test_repository_session_manager.py": 51,
    "tests/strands/session/test_file_session_manager.py": 21,
}
"""How many cases of each file pass."""

@pytest.mark.parametrize("suite", COUNTS)
def test_the_tests_of_strands_pass(suite: str, tmp_path: Path) -> None:
    result = SUITE.passed(suite, tmp_path / "report.xml", list(EXCLUSIONS.get(suite, {})))
    assert cases(result) == {"tests": COUNTS[suite], "skipped": 0}


@pytest.mark.parametrize("suite", EXCLUSIONS)
def test_the_excluded_tests_exist_and_are_published(suite: str) -> None:
    SUITE.check_exclusions(suite)
