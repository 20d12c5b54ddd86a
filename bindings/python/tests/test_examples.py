"""Each example runs, and prints what a page of the documentation shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
DOCS = Path(__file__).parents[3] / "docs"

PAGES = {
    "agent_fork": "python-agent.md",
    "amplifier_fork": "python-amplifier.md",
    "claude_fork": "python-claude.md",
    "langgraph_time_travel": "python-langgraph.md",
    "one_family": "python.md",
    "openai_agents_branches": "python-openai-agents.md",
    "strands_resume": "python-strands.md",
    "trails_branches": "python-trails.md",
}
"""The page of each example."""


def test_each_example_has_a_page() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(PAGES)


@pytest.mark.parametrize("example", PAGES)
def test_an_example_prints_what_its_page_shows(example: str) -> None:
    command = [sys.executable, str(EXAMPLES / f"{example}.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"```text\n{done.stdout}```" in (DOCS / PAGES[example]).read_text(encoding="utf-8"), done.stdout
