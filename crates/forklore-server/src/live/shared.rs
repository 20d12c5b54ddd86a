//! One read for all followers that wait at the same position: an event costs the store one read, no
//! matter how many clients follow.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::page::{Outcome, Page, Position};
use crate::problem::Problem;

/// How long a page is used if the feed reports no change. A feed that fails is thereby noticed.
const FRESH: Duration = Duration::from_secs(5);

/// The page that was read last.
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<Option<Last>>);

#[derive(Debug)]
struct Last {
    position: Position,
    /// The version of the feed before the read.
    version: u64,
    at: Instant,
    page: Arc<Outcome>,
}

impl Shared {
    /// Returns the page at a position. Reads it, unless the last page is the same, and nothing has
    /// changed since the caller saw this version.
    pub(crate) async fn page(
        &self,
        position: &Position,
        version: u64,
        read: impl Future<Output = Result<Page, Problem>>,
    ) -> Arc<Outcome> {
        let mut last = self.0.lock().await;
        if let Some(last) = last.as_ref()
            && last.position == *position
            && last.version >= version
            && last.at.elapsed() < FRESH
        {
            return Arc::clone(&last.page);
        }
        let at = Instant::now();
        let page = Arc::new(read.await);
        *last = Some(Last { position: position.clone(), version, at, page: Arc::clone(&page) });
        page
    }
}
