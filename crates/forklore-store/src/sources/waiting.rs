//! The unfinished last line of a source: bytes after the last record that was read, which wait
//! until the agent completes the line (docs/semantics.md, Sources).
//!
//! A store only returns the spans that it was given. This module, which is the same for all stores,
//! computes the unfinished line from the spans.

use super::SourceSpan;

/// The bytes of a source's unfinished last line. They are collected from the spans of the source,
/// in the order in which the import steps stored the spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingLine {
    bytes: Vec<u8>,
    sha256: Option<[u8; 32]>,
}

impl WaitingLine {
    /// Takes the next span of the source into account. A [`SourceSpan::Waiting`] continues or
    /// replaces the bytes that wait so far. After any other span, no bytes wait any more: that span
    /// begins where the unfinished line began, so the import has read the completed line.
    pub fn follow(&mut self, span: &SourceSpan) {
        let SourceSpan::Waiting { after, bytes, sha256 } = span else {
            *self = Self::default();
            return;
        };
        self.bytes.truncate(usize::try_from(*after).unwrap_or(usize::MAX));
        self.bytes.extend_from_slice(bytes);
        self.sha256 = Some(*sha256);
    }

    /// Returns the bytes that wait. They come after all other bytes of the source.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the SHA-256 of the whole file, including the bytes that wait. Returns `None` if the
    /// last span was not a [`SourceSpan::Waiting`]; the SHA-256 of the file is then
    /// [`Progress::sha256`](super::Progress::sha256).
    #[must_use]
    pub fn sha256(&self) -> Option<&[u8; 32]> {
        self.sha256.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(after: u64, bytes: &[u8], sum: u8) -> SourceSpan {
        SourceSpan::Waiting { after, bytes: bytes.to_vec(), sha256: [sum; 32] }
    }

    fn line(spans: &[SourceSpan]) -> (Vec<u8>, Option<u8>) {
        let mut line = WaitingLine::default();
        spans.iter().for_each(|span| line.follow(span));
        (line.bytes().to_vec(), line.sha256().map(|sum| sum[0]))
    }

    #[test]
    fn a_line_waits_until_another_span_follows() {
        let other = SourceSpan::Other(b"x".to_vec());
        let begun = waiting(0, b"{\"a", 1);
        let none = (Vec::new(), None);
        let some = |bytes: &[u8], sum| (bytes.to_vec(), Some(sum));
        assert_eq!(line(&[]), none);
        assert_eq!(line(&[other.clone(), begun.clone()]), some(b"{\"a", 1));
        assert_eq!(line(&[begun.clone(), waiting(3, b"b", 2)]), some(b"{\"ab", 2));
        assert_eq!(line(&[begun.clone(), waiting(0, b"[", 2)]), some(b"[", 2));
        assert_eq!(line(&[begun.clone(), waiting(0, b"", 2)]), some(b"", 2));
        assert_eq!(line(&[begun, other]), none);
    }
}
