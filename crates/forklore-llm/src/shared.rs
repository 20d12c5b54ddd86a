//! How much of two requests is the same, from the first byte on.

use serde::Serialize;

/// How many bytes two bodies begin with in common, and of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedBytes {
    /// The bytes both begin with.
    pub shared: usize,
    /// The bytes of the second.
    pub of: usize,
}

impl SharedBytes {
    /// What `child` has in common with `parent`.
    #[must_use]
    pub fn between(parent: &[u8], child: &[u8]) -> Self {
        let shared = parent.iter().zip(child).take_while(|(a, b)| a == b).count();
        Self { shared, of: child.len() }
    }
}

/// Roughly how many tokens so many bytes of a request are, where nobody counts them: a token of
/// English and of code is some four bytes of JSON.
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
