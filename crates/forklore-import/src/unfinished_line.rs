//! The unfinished last line of a file, as an import remembers it for the next import.

use forklore_store::sources::RecordKey;
use serde::{Deserialize, Serialize};

use crate::record_keys::record_key;

/// The length and the key of a file's unfinished last line. The bytes themselves are stored with
/// the source (the imported file), because they must disappear when a session is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnfinishedLine {
    len: u64,
    key: RecordKey,
}

impl UnfinishedLine {
    pub(crate) fn of(line: &[u8]) -> Self {
        Self { len: line.len() as u64, key: record_key(line) }
    }

    /// Returns the length of this line if `longer` begins with it, or else 0.
    pub(crate) fn len_in(self, longer: &[u8]) -> u64 {
        let begin = usize::try_from(self.len).ok().and_then(|len| longer.get(..len));
        if begin.is_some_and(|begin| Self::of(begin) == self) { self.len } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_line_begins_with_it() {
        let line = UnfinishedLine::of(b"{\"a");
        assert_eq!(line.len_in(b"{\"ab"), 3);
        assert_eq!(line.len_in(b"{\"a"), 3);
        assert_eq!(line.len_in(b"{\"bb"), 0);
        assert_eq!(line.len_in(b"{"), 0);
    }
}
