//! A session file of another agent that grows while several processes import it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A growing session file in the format of the agent Pi, with occasional branches. Tests import it.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    records: usize,
}

impl Transcript {
    /// Creates the session file in the directory `folder`, with a header and no records.
    ///
    /// # Panics
    /// If the file cannot be written. The method `grow` panics in the same case.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let path = folder.join("shared.jsonl");
        let header = "{\"type\":\"session\",\"version\":3,\"id\":\"shared\",\
                      \"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"/w\"}\n";
        std::fs::write(&path, header).expect("a file to import");
        Self { path, records: 0 }
    }

    /// Returns the path of the session file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends `records` records to the session file in one write.
    pub fn grow(&mut self, records: usize) {
        let mut text = String::new();
        for n in self.records..self.records + records {
            let parent = match n {
                0 => "null".to_owned(),
                n if n.is_multiple_of(401) => format!("\"r{}\"", n / 2),
                n => format!("\"r{}\"", n - 1),
            };
            let line = "lorem ".repeat(n % 30);
            let record = writeln!(
                text,
                "{{\"type\":\"message\",\"id\":\"r{n}\",\"parentId\":{parent},\
                 \"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"user\",\
                 \"content\":\"{n} {line}\"}}}}"
            );
            record.expect("room in memory");
        }
        self.records += records;
        let mut file = File::options().append(true).open(&self.path).expect("the file");
        file.write_all(text.as_bytes()).expect("a file that grows");
    }
}
