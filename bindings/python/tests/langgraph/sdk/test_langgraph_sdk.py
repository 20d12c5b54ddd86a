"""LangGraph's own tests, unmodified, over savers of forklore."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from source_suite import DOCS, SourceSuite, cases

FOLDER = Path(__file__).parent
SUITE = SourceSuite("langgraph-1.2.24", FOLDER, "langgraph_plugin", "python-langgraph.md")
SUITES = tomllib.loads((FOLDER / "suites.toml").read_text(encoding="utf-8"))
COUNTS: dict[str, int] = SUITES["counts"] | (
    SUITES["long"] if os.environ.get("FORKLORE_LONG_SUITES") else {}
)
EXCLUDED: dict[str, str] = SUITES["excluded"]


@pytest.mark.parametrize("suite", COUNTS)
def test_langgraph_s_tests_pass(suite: str, tmp_path: Path) -> None:
    excluded = [name.split("::", 1)[1] for name in EXCLUDED if name.startswith(f"{suite}::")]
    result = SUITE.passed(f"tests/{suite}", tmp_path / "report.xml", excluded, NO_DOCKER="true")
    assert cases(result)["tests"] == COUNTS[suite]


def test_the_excluded_tests_are_published() -> None:
    page = (DOCS / SUITE.page).read_text(encoding="utf-8")
    assert [name for name in EXCLUDED if name.split("::")[-1] not in page] == []
