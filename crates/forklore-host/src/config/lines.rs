//! Finds the lines of keys in the text of a configuration file.

use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// The keys of a configuration file, with their lines.
pub(super) struct KeyLines<'t> {
    text: &'t str,
    table: Spanned<DeTable<'t>>,
}

impl<'t> KeyLines<'t> {
    /// Parses the text. Also returns all syntax errors. If there are any, the keys are incomplete.
    pub(super) fn parse(text: &'t str) -> (Self, Vec<Error>) {
        let (table, errors) = DeTable::parse_recoverable(text);
        (Self { text, table }, errors)
    }

    /// Returns the line, from 1, of the key with these parts. If the file contains only the first
    /// parts of the key, returns the line of the last of them. Returns `None` if the file does not
    /// contain the first part.
    pub(super) fn of(&self, key: &[String]) -> Option<usize> {
        let mut table = self.table.get_ref();
        let mut line = None;
        for part in key {
            let found = table.iter().find(|(name, _)| name.get_ref() == part.as_str());
            let Some((name, value)) = found else { break };
            line = Some(line_of(self.text, name.span().start));
            let DeValue::Table(inner) = value.get_ref() else { break };
            table = inner;
        }
        line
    }
}

/// Returns the number of the line, from 1, that contains a byte offset.
pub(super) fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}
