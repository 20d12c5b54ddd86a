"""The SDK's own tests of its sessions, unmodified, over sessions of forklore."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_suite import SourceSuite, cases

SUITE = SourceSuite("openai_agents-0.24.0", Path(__file__).parent, "openai_agents_plugin", "python-openai-agents.md")
EXCLUSIONS = SUITE.exclusions()

COUNTS = {
    "tests/memory/test_session.py": 39,
    "tests/memory/test_session_limit.py": 15,
    "tests/memory/test_session_persistence_sanitize.py": 27,
    "tests/memory/test_session_context_wrapper.py": 15,
    "tests/extensions/memory/test_advanced_sqlite_session.py": 113,
}
"""How many cases of each file pass."""

@pytest.mark.parametrize("suite", COUNTS)
def test_the_sdk_s_tests_pass(suite: str, tmp_path: Path) -> None:
    result = SUITE.passed(suite, tmp_path / "report.xml", list(EXCLUSIONS.get(suite, {})))
    assert cases(result) == {"tests": COUNTS[suite], "skipped": 0}


@pytest.mark.parametrize("suite", EXCLUSIONS)
def test_the_excluded_tests_exist_and_are_published(suite: str) -> None:
    SUITE.check_exclusions(suite)
