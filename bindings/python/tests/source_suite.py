"""Runs the tests that frameworks have in their source packages, unmodified, over faces of forklore."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as xml
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forklore

DOCS = Path(__file__).parents[3] / "docs"


@dataclass(frozen=True)
class SourceSuite:
    """The tests of a source package, and the plugin that puts a face of forklore under them."""

    package: str
    """The folder of the unpacked package, with its version."""

    folder: Path
    """The folder with the plugin and ``exclusions.toml``."""

    plugin: str
    """The module of the plugin."""

    page: str
    """The page that publishes the exclusions."""

    def exclusions(self) -> dict[str, dict[str, str]]:
        """Return the tests that are left out of each file, with the reasons."""
        return tomllib.loads((self.folder / "exclusions.toml").read_text(encoding="utf-8"))

    def run(
        self, suite: str, arguments: list[str], **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a file of tests in a process of its own, in the folder of the package."""
        parent = os.environ.get("FORKLORE_PYTHON_SOURCES")
        assert parent, "FORKLORE_PYTHON_SOURCES must name the folder of the unpacked source packages"
        path = [str(self.folder), str(Path(forklore.__file__).parents[1]), "."]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", self.plugin]
        return subprocess.run(
            [*command, *arguments, suite],
            cwd=Path(parent) / self.package,
            env={**alone(os.environ), "PYTHONPATH": os.pathsep.join(path), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def passed(self, suite: str, report: Path, excluded: list[str], **environment: str) -> xml.Element:
        """Run a file of tests, check that each passes, and return the report of the file."""
        left_out = [f"--deselect={suite}::{name}" for name in excluded]
        done = self.run(suite, [f"--junitxml={report}", *left_out], **environment)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
        result = xml.parse(report).getroot().find("testsuite")
        assert result is not None
        failed = {name: int(result.get(name, "0")) for name in ("failures", "errors")}
        assert failed == {"failures": 0, "errors": 0}
        return result

    def check_exclusions(self, suite: str, **environment: str) -> None:
        """Check that each test that is left out exists, and that the page publishes its reason."""
        done = self.run(suite, ["--collect-only"], **environment)
        collected = {line.split("[")[0] for line in done.stdout.splitlines()}
        page = (DOCS / self.page).read_text(encoding="utf-8")
        for name, reason in self.exclusions()[suite].items():
            assert f"{suite}::{name}" in collected
            assert f"`{name}`" in page and reason in page


def alone(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which a test does not believe that it is one of several processes."""
    return {name: value for name, value in environment.items() if not name.startswith("PYTEST_XDIST_")}


def cases(result: xml.Element) -> dict[str, int]:
    """Return how many cases ran and how many were skipped."""
    return {name: int(result.get(name, "0")) for name in ("tests", "skipped")}


def names(result: xml.Element) -> set[tuple[Any, str]]:
    """Return the tests of a report. A test with several parameters is there once."""
    return {
        (case.get("classname"), str(case.get("name")).split("[")[0]) for case in result.iter("testcase")
    }
