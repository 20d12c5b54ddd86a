//! The last words of a server: what it wrote where nobody asked, kept for error messages.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes are kept.
const KEPT: usize = 4096;

/// The end of what a server said; a clone is the same one.
#[derive(Clone, Default)]
pub(crate) struct Said(Arc<Mutex<VecDeque<u8>>>);

impl Said {
    /// Adds to it, and forgets what is too long ago.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let news = bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or_default();
        let old = (kept.len() + news.len()).saturating_sub(KEPT);
        kept.drain(..old);
        kept.extend(news);
    }

    /// Forgets everything: another program speaks now.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The last lines, whole where they fit.
    pub(crate) fn lines(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // Full, it begins in the middle of a line.
        let whole = if bytes.len() < KEPT { text.as_str() } else { behind_first_line(&text) };
        whole.trim().to_owned()
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
