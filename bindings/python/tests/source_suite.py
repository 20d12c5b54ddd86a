"""Runs the tests that frameworks have in their source packages, unmodified, over faces of forklore."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as xml
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

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

    def excluded(self) -> list[str]:
        """Return the tests that are left out, with their files."""
        return [f"{suite}::{name}" for suite, names in self.exclusions().items() for name in names]

    def run(
        self, suites: Iterable[str], arguments: Iterable[str], **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run files of tests in a process of their own, in the folder of the package."""
        parent = os.environ.get("FORKLORE_PYTHON_SOURCES")
        assert parent, "FORKLORE_PYTHON_SOURCES must name the folder of the unpacked source packages"
        path = [str(self.folder), str(Path(forklore.__file__).parents[1]), "."]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", self.plugin]
        return subprocess.run(
            [*command, *arguments, *suites],
            cwd=Path(parent) / self.package,
            env={**alone(os.environ), "PYTHONPATH": os.pathsep.join(path), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def passed(
        self, suites: Collection[str], report: Path, excluded: Iterable[str] = (), **environment: str
    ) -> dict[str, list[xml.Element]]:
        """Run files of tests, check that no test fails, and return the report of each test by its file."""
        left_out = [f"--deselect={name}" for name in excluded]
        with_files = ["-o", "junit_family=xunit1", f"--junitxml={report}"]
        done = self.run(suites, [*with_files, *left_out], **environment)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
        tests: dict[str, list[xml.Element]] = {suite: [] for suite in suites}
        for test in xml.parse(report).getroot().iter("testcase"):
            tests[str(test.get("file"))].append(test)
        return tests

    def check_exclusions(self, **environment: str) -> None:
        """Check that each test that is left out exists, and that the page publishes its reason."""
        exclusions = self.exclusions()
        done = self.run(exclusions, ["--collect-only"], **environment)
        collected = {line.split("[")[0] for line in done.stdout.splitlines()}
        page = (DOCS / self.page).read_text(encoding="utf-8")
        for suite, excluded in exclusions.items():
            for name, reason in excluded.items():
                assert f"{suite}::{name}" in collected
                assert f"`{name}`" in page and reason in page


def alone(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which a test does not believe that it is one of several processes."""
    return {name: value for name, value in environment.items() if not name.startswith("PYTEST_XDIST_")}


def skipped(tests: Mapping[str, list[xml.Element]]) -> list[str]:
    """Return the names of the tests that were skipped."""
    all_tests = [test for tests_of_file in tests.values() for test in tests_of_file]
    return [str(test.get("name")) for test in all_tests if test.find("skipped") is not None]


def names(tests: list[xml.Element]) -> set[tuple[str | None, str]]:
    """Return the names of tests. A test with several parameters is there once."""
    return {(test.get("classname"), str(test.get("name")).split("[")[0]) for test in tests}
