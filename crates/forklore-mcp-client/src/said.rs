//! The last words of a server: what it wrote where nobody asked, kept for error messages.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::secret::hidden;

/// How many bytes are kept.
const KEPT: usize = 4096;

/// The end of what a server said; a clone is the same one.
#[derive(Clone, Default)]
pub(crate) struct Said {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// The variables whose values are not repeated.
    secrets: Arc<[String]>,
}

impl Said {
    /// Nothing yet; the values of these variables are never repeated.
    pub(crate) fn without(secrets: &[String]) -> Self {
        Self { kept: Arc::default(), secrets: secrets.into() }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to it, and forgets what is too long ago.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept();
        let news = bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or_default();
        let old = (kept.len() + news.len()).saturating_sub(KEPT);
        kept.drain(..old);
        kept.extend(news);
    }

    /// Forgets everything: another program speaks now.
    pub(crate) fn clear(&self) {
        self.kept().clear();
    }

    /// The last lines, whole where they fit.
    pub(crate) fn lines(&self) -> String {
        let bytes: Vec<u8> = self.kept().iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // Full, it begins in the middle of a line.
        let whole = if bytes.len() < KEPT { text.as_str() } else { behind_first_line(&text) };
        hidden(whole.trim(), self.secrets.iter().map(String::as_str))
    }
}

fn behind_first_line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(_, rest)| rest)
}

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Said")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_without_what_is_secret() {
        let path = std::env::var("PATH").unwrap();
        let said = Said::without(&["PATH".to_owned()]);
        said.push("long ago\n".repeat(KEPT).as_bytes());
        said.push(format!("connecting with {path}\n").as_bytes());
        assert!(said.lines().ends_with("long ago\nconnecting with [PATH]"), "{}", said.lines());
    }
}
