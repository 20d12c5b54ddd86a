//! Measures the common prefix of two request bodies.

use serde::Serialize;

/// The common prefix of two request bodies: its length, and the length of the second body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedBytes {
    /// The length of the common prefix, in bytes.
    pub shared: usize,
    /// The length of the second body, in bytes.
    pub of: usize,
}

impl SharedBytes {
    /// Compares two request bodies. Returns the length of the prefix that `child` shares with
    /// `parent`, and the length of `child`.
    #[must_use]
    pub fn between(parent: &[u8], child: &[u8]) -> Self {
        let shared = parent.iter().zip(child).take_while(|(a, b)| a == b).count();
        Self { shared, of: child.len() }
    }
}

/// Estimates the number of tokens in a request body of this length in bytes, for servers that do
/// not count tokens. A token of English text or of code takes about four bytes of JSON.
#[must_use]
pub const fn estimate_tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_up_to_the_first_difference() {
        assert_eq!(SharedBytes::between(b"abcd", b"abXdef"), SharedBytes { shared: 2, of: 6 });
        assert_eq!(SharedBytes::between(b"ab", b"abc"), SharedBytes { shared: 2, of: 3 });
        assert_eq!(SharedBytes::between(b"", b""), SharedBytes::default());
        assert_eq!(estimate_tokens(9), 3);
    }
}
