//! A session file of another agent that several processes import while it grows.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The file, in the form of Pi, with a branch now and then.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    records: usize,
}

impl Transcript {
    /// The beginning of one in the folder.
    ///
    /// # Panics
    /// When it cannot be written, as below.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let path = folder.join("shared.jsonl");
        let header = "{\"type\":\"session\",\"version\":3,\"id\":\"shared\",\
                      \"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"/w\"}\n";
        std::fs::write(&path, header).expect("a file to import");
        Self { path, records: 0 }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds records, in one write.
    pub fn grow(&mut self, records: usize) {
        let mut text = String::new();
        for n in self.records..self.records + records {
            let parent = match n {
                0 => "null".to_owned(),
                n if n.is_multiple_of(401) => format!("\"r{}\"", n / 2),
                n => format!("\"r{}\"", n - 1),
            };
            let said = "lorem ".repeat(n % 30);
            let record = writeln!(
                text,
                "{{\"type\":\"message\",\"id\":\"r{n}\",\"parentId\":{parent},\
                 \"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"user\",\
                 \"content\":\"{n} {said}\"}}}}"
            );
            record.expect("room in memory");
        }
        self.records += records;
        let mut file = File::options().append(true).open(&self.path).expect("the file");
        file.write_all(text.as_bytes()).expect("a file that grows");
    }
}
