//! Counts the tests in what a test runner prints.

use forklore_api::TestCounts;

/// The longest line that is looked into, in bytes.
const LONGEST: usize = 4 << 10;

/// Counts tests while the output arrives. Knows the last lines of cargo, nextest, pytest, Jest,
/// Vitest, Mocha and Node's own runner.
#[derive(Debug, Default)]
pub(super) struct Counter {
    found: Option<TestCounts>,
    line: Vec<u8>,
}

impl Counter {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                self.end_line();
            } else if self.line.len() < LONGEST {
                self.line.push(byte);
            }
        }
    }

    /// Returns the sum of the tests of all lines. `None` if no line counts tests.
    pub(super) fn counts(mut self) -> Option<TestCounts> {
        self.end_line();
        self.found
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let Some(line) = counted(&String::from_utf8_lossy(&line)) else { return };
        let found = self.found.get_or_insert_default();
        found.passed = found.passed.saturating_add(line.passed);
        found.failed = found.failed.saturating_add(line.failed);
    }
}

/// Returns the tests that a line counts: `3 passed; 1 failed`, `2 passing`, `# pass 3`.
fn counted(line: &str) -> Option<TestCounts> {
    // These count files of tests.
    if ["Test Suites:", "Test Files"].iter().any(|other| line.trim_start().starts_with(other)) {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '#';
    let words: Vec<&str> = line.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let mut found: Option<TestCounts> = None;
    for pair in words.windows(2) {
        let [one, other] = pair else { continue };
        // Node's runner counts in comments: `# pass 3`.
        let is_comment = words.first() == Some(&"#");
        let (number, kind) = if is_comment { (other, one) } else { (one, other) };
        let Ok(number) = number.parse() else { continue };
        let (passed, failed): (u64, u64) = match *kind {
            "passed" | "passing" => (number, 0),
            "failed" | "failing" => (0, number),
            "pass" if is_comment => (number, 0),
            "fail" if is_comment => (0, number),
            _ => continue,
        };
        let sum = found.get_or_insert_default();
        sum.passed = sum.passed.saturating_add(passed);
        sum.failed = sum.failed.saturating_add(failed);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_test_runners_are_counted() {
        let cases: [(&str, Option<(u64, u64)>); 9] = [
            (
                "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n\
                 test result: FAILED. 1 passed; 2 failed; 0 ignored\n",
                Some((4, 2)),
            ),
            ("     Summary [   0.2s] 6 tests run: 5 passed, 1 failed, 0 skipped\n", Some((5, 1))),
            ("===== 1 failed, 3 passed in 0.12s =====", Some((3, 1))),
            (
                "Test Suites: 1 failed, 1 passed, 2 total\nTests: 1 failed, 3 passed, 4 total",
                Some((3, 1)),
            ),
            (" Test Files  2 passed (2)\n      Tests  7 passed (7)\n", Some((7, 0))),
            ("  3 passing (8ms)\n  1 failing\n", Some((3, 1))),
            ("# tests 4\n# pass 3\n# fail 1\n", Some((3, 1))),
            ("the 3 passes failed to convince\n", None),
            ("", None),
        ];
        for (printed, expected) in cases {
            let mut counter = Counter::default();
            printed.as_bytes().chunks(7).for_each(|bytes| counter.add(bytes));
            let counts = counter.counts().map(|it| (it.passed, it.failed));
            assert_eq!(counts, expected, "{printed}");
        }
    }
}
