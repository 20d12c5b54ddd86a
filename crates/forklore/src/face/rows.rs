//! The streams of rows that reading methods return. The rows are read on the pool, one page at a
//! time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use forklore_core::{Content, Message, Part};
use forklore_engine::{Record, Result};
use forklore_store::port::LogEntry;
use futures_lite::{Stream, StreamExt};

use super::pool::Pool;

/// The number of rows in the first page that a stream reads. It is small, so that the first row
/// arrives at once.
const FIRST_ROWS: usize = 16;
const PAGE_ROWS: usize = 512;
/// The size in bytes at which a page of rows is full. The row that reaches this size is the last
/// row of its page.
const PAGE_BYTES: usize = 1 << 20;

type Source<T> = Box<dyn Iterator<Item = Result<T>> + Send>;
type Reading<T> = Pin<Box<dyn Future<Output = (Option<Source<T>>, Vec<Result<T>>)> + Send>>;

/// The rows that a reading method returns, in order. They are a [`Stream`] of [`Result`]s that uses
/// constant memory.
///
/// The stream reads one page of rows at a time. It reads the next page when all rows of the current
/// page are consumed and another row is requested. Dropping the stream ends the reading. The stream
/// ends after the first error. Some methods return a stream that includes events appended during
/// the read.
#[must_use = "a stream reads nothing until it is polled"]
pub struct Rows<T> {
    pool: Pool,
    state: State<T>,
    page: std::vec::IntoIter<Result<T>>,
    limit: usize,
}

enum State<T> {
    Waiting(Source<T>),
    Reading(Reading<T>),
    Ended,
}

impl<T: Weigh + Send + 'static> Rows<T> {
    pub(super) fn of(pool: Pool, source: impl Iterator<Item = Result<T>> + Send + 'static) -> Self {
        let state = State::Waiting(Box::new(source));
        Self { pool, state, page: Vec::new().into_iter(), limit: FIRST_ROWS }
    }

    /// Returns the next row, or `None` after the last row. With this method, a program can read the
    /// rows without the trait [`Stream`].
    ///
    /// Cancel safe: if this future is dropped before it completes, no row is lost, and the next
    /// call returns the row.
    pub async fn next(&mut self) -> Option<Result<T>> {
        StreamExt::next(self).await
    }

    /// Collects all remaining rows into a list. Use this only if the rows fit in memory.
    ///
    /// # Errors
    /// Returns the first error of a row.
    pub async fn all(mut self) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        while let Some(row) = self.next().await {
            rows.push(row?);
        }
        Ok(rows)
    }

    fn begin(&mut self, source: Source<T>) -> Reading<T> {
        let (pool, limit) = (self.pool.clone(), std::mem::replace(&mut self.limit, PAGE_ROWS));
        Box::pin(async move { pool.run(move || page(source, limit)).await })
    }
}

/// Reads the next page, at most `limit` rows, from the iterator `source`. Also returns the
/// iterator, unless it is exhausted or failed.
fn page<T: Weigh>(mut source: Source<T>, limit: usize) -> (Option<Source<T>>, Vec<Result<T>>) {
    let mut rows = Vec::with_capacity(limit);
    let mut bytes = 0;
    while rows.len() < limit && bytes < PAGE_BYTES {
        let Some(row) = source.next() else { return (None, rows) };
        let failed = row.is_err();
        bytes += row.as_ref().map_or(0, Weigh::bytes);
        rows.push(row);
        if failed {
            return (None, rows);
        }
    }
    (Some(source), rows)
}

/// `Rows` is `Unpin`, so it can be moved after it was polled. This is safe because rows are moved
/// out of their page and never pinned.
impl<T> Unpin for Rows<T> {}

impl<T: Weigh + Send + 'static> Stream for Rows<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        let rows = self.get_mut();
        loop {
            if let Some(row) = rows.page.next() {
                return Poll::Ready(Some(row));
            }
            match std::mem::replace(&mut rows.state, State::Ended) {
                State::Ended => return Poll::Ready(None),
                State::Waiting(source) => rows.state = State::Reading(rows.begin(source)),
                State::Reading(mut reading) => {
                    let Poll::Ready((source, page)) = reading.as_mut().poll(cx) else {
                        rows.state = State::Reading(reading);
                        return Poll::Pending;
                    };
                    rows.state = source.map_or(State::Ended, State::Waiting);
                    rows.page = page.into_iter();
                }
            }
        }
    }
}

impl<T> fmt::Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("ready", &self.page.len()).finish_non_exhaustive()
    }
}

/// The approximate size of a row in memory. A stream of rows uses it to decide when a page is full.
pub trait Weigh {
    /// Returns the size of the row's content in bytes.
    fn bytes(&self) -> usize;
}

impl Weigh for LogEntry {
    fn bytes(&self) -> usize {
        self.event.data.get().len()
    }
}

impl Weigh for Record {
    fn bytes(&self) -> usize {
        self.content.bytes()
    }
}

impl Weigh for Message {
    fn bytes(&self) -> usize {
        self.content.bytes()
    }
}

impl Weigh for Content {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Parts(parts) => parts.iter().map(Weigh::bytes).sum(),
        }
    }
}

impl<T: Weigh> Weigh for (std::time::Duration, T) {
    fn bytes(&self) -> usize {
        self.1.bytes()
    }
}

impl Weigh for Part {
    fn bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Reasoning { text, opaque, .. } => {
                text.len() + opaque.as_ref().map_or(0, |data| data.get().len())
            }
            Self::ToolCall { arguments, .. } => arguments.get().len(),
            Self::ToolResult { content, .. } => content.get().len(),
            Self::Other { value } => value.get().len(),
            Self::Attachment { .. } => 0,
        }
    }
}
