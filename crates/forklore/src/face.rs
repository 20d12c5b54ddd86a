//! The async API: the methods of [`Engine`] as futures that run on any executor.

mod anchor;
mod pool;
mod read;
mod rows;
mod transfer;
mod turn;
mod write;

use std::fmt;
use std::num::NonZeroUsize;

use forklore_engine::{Engine, Result};

use crate::open::{OpenError, StoreUrl};
use pool::Pool;
pub use rows::Rows;

/// The default maximum number of engine calls that a handle and its clones run at the same time.
/// The number is somewhat higher than the number of a store's read connections, so that no read
/// connection is idle while calls wait. It is low enough that a burst of calls does not create many
/// threads.
const AT_ONCE: usize = 16;

/// A store and the operations on its sessions, for async programs.
///
/// Nearly every method has the name, the meaning and the errors of a method of [`Engine`]. The
/// others, such as [`import`](Forklore::import) and [`search`](Forklore::search), call other crates
/// that this crate re-exports. Requests are passed by value. Where [`Engine`] returns an iterator,
/// `Forklore` returns a stream ([`Rows`]).
///
/// A `Forklore` is cheap to clone; clones share the store and its pool. It requires no particular
/// executor: each call runs on a blocking thread. At most 16 calls of a handle and its clones run
/// at once ([`Forklore::with_steps_at_once`] changes that number). Further calls wait and occupy no
/// thread.
///
/// # Dropping a future
///
/// A method does nothing before its future is first polled. Dropping the future never leaves a call
/// half done: a call that has not started never starts, and a call that has started runs to its end
/// as if it were awaited. After a timeout around [`append`](Forklore::append), the events are
/// therefore stored completely or not at all, and the caller does not know which. Give the events
/// ids: repeating the same append then writes nothing twice and returns the positions of the events
/// (docs/semantics.md, Writing). A fork with an explicit id can be repeated in the same way
/// (docs/semantics.md, Fork).
///
/// Some methods consist of several transactions: an [`import`](Forklore::import), or a
/// [`delete`](Forklore::delete) that is retried. Such a method also runs to its end once it has
/// started. Each of its transactions is atomic, even if the process is killed. [`Rows`] read one
/// page at a time; dropping them stops the reading at the end of the current page.
///
/// # Order
///
/// When an awaited call returns, its work is done. Every later call sees its effect: through this
/// handle, a clone or another process. Concurrent futures run in any order, even two appends to one
/// session. To fix the order, await the first future before creating the second, or put all events
/// into one request. For an append, you can instead set `expect`, the head after which its events
/// must come. The append is refused if another append changed the head first.
///
/// # Examples
///
/// ```
/// use forklore::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures_lite::future::block_on(async {
/// let store = forklore::open("memory:").await?;
/// let main = store.create(Create::in_workspace(Workspace::new("/work/demo"))).await?;
/// store.append(&main.id, NewEvent::user("plan A or plan B?")?).await?;
/// let mut records = store.replay(&main.id, None).await?;
/// while let Some(record) = records.next().await {
///     assert_eq!(record?.content, Content::Text("plan A or plan B?".into()));
/// }
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Clone)]
pub struct Forklore {
    engine: Engine,
    pool: Pool,
}

/// Opens the store that `url` names. Creates the store if it does not exist.
///
/// The URL is `sqlite:PATH`, `files:DIR`, `graph:DIR` (with the cargo feature `graph`) or
/// `memory:`; see [`StoreUrl`]. [`Forklore`] has an example.
///
/// # Errors
/// Returns an error if the URL is not valid, or if the store is damaged, locked, written by a newer
/// version of forklore, or of another kind than the URL states.
pub async fn open(url: &str) -> Result<Forklore, OpenError> {
    open_url(url.parse()?).await
}

/// Opens the store that `url` names. Creates the store if it does not exist.
///
/// # Errors
/// Returns an error if the store is damaged, locked, written by a newer version of forklore, or of
/// another kind than the URL states.
pub async fn open_url(url: StoreUrl) -> Result<Forklore, OpenError> {
    let pool = Pool::of(AT_ONCE);
    let engine = pool.run(move || crate::open::open_url(&url)).await?;
    Ok(Forklore { engine, pool })
}

impl Forklore {
    /// Wraps an engine in the async API. Use this if the engine has a custom store, clock or agent
    /// format.
    #[must_use]
    pub fn over(engine: Engine) -> Self {
        Self { engine, pool: Pool::of(AT_ONCE) }
    }

    /// Limits this handle to at most `at_once` engine calls at the same time, and returns it.
    /// Clones made from the returned handle share the limit with it. All other handles to the same
    /// store have their own limits.
    #[must_use]
    pub fn with_steps_at_once(self, at_once: NonZeroUsize) -> Self {
        Self { pool: Pool::of(at_once.get()), ..self }
    }

    /// Returns the engine of this store. The methods of the engine block the calling thread.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Closes this handle. Closing the last handle to a store also closes the store's files, on a
    /// blocking thread. Dropping the last handle instead of closing it does the same work on the
    /// current thread, which then blocks on disk I/O.
    pub async fn close(self) {
        let Self { engine, pool } = self;
        pool.run(move || drop(engine)).await;
    }

    /// Runs the closure `verb`, which calls the blocking engine, on a thread of the pool. Returns
    /// the result of `verb`.
    async fn step<T: Send + 'static>(
        &self,
        verb: impl FnOnce(&Engine) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let engine = self.engine.clone();
        self.pool.run(move || verb(&engine)).await
    }
}

impl fmt::Debug for Forklore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forklore").field("pool", &self.pool).finish_non_exhaustive()
    }
}
