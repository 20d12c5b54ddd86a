"""LangGraph's own tests, unmodified, over savers of forklore."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from source_suite import DOCS, SourceSuite

FOLDER = Path(__file__).parent
SUITE = SourceSuite("langgraph-1.2.24", FOLDER, "langgraph_plugin", "python-langgraph.md")
SUITES = tomllib.loads((FOLDER / "suites.toml").read_text(encoding="utf-8"))
COUNTS: dict[str, int] = SUITES["counts"] | (
    SUITES["long"] if os.environ.get("FORKLORE_LONG_SUITES") else {}
)
EXCLUDED: dict[str, str] = SUITES["excluded"]


def test_langgraph_s_tests_pass(tmp_path: Path) -> None:
    suites = {f"tests/{suite}": count for suite, count in COUNTS.items()}
    excluded = [f"tests/{name}" for name in EXCLUDED]
    tests = SUITE.passed(suites, tmp_path / "report.xml", excluded, NO_DOCKER="true")
    assert {suite: len(of_file) for suite, of_file in tests.items()} == suites


def test_the_excluded_tests_are_published() -> None:
    page = (DOCS / SUITE.page).read_text(encoding="utf-8")
    assert [name for name in EXCLUDED if name.split("::")[-1] not in page] == []
