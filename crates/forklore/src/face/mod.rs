//! The async face: the verbs of [`Engine`] for programs that have an executor, any executor.

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

/// Steps of one store that run at once: some more than a store has connections for reading, so
/// that it is never idle, and few enough that a burst of calls makes no crowd of threads.
const AT_ONCE: usize = 16;

/// A store and what one can do with its sessions, for async programs.
///
/// Every verb is the one of the same name of [`Engine`], with the same meaning and the same
/// errors. Requests are taken by value, and what [`Engine`] iterates over comes as a stream
/// ([`Rows`]). Cheap to clone; clones share the store and its pool. It needs no particular
/// executor: a verb runs on threads of its own, at most 16 of one store at once
/// ([`Forklore::with_steps_at_once`]), and the others wait without a thread.
///
/// # Dropping a future
///
/// A verb does nothing before its future is first polled. Dropping the future never leaves half a
/// step: a step that has not begun never begins, and one that has begun goes on to its end as if
/// somebody were still waiting. So after a timeout around [`append`](Forklore::append) the events
/// are there whole or not at all, and the caller does not know which. Give the events ids: the same
/// append, made again, then writes nothing twice and tells where they are (SPEC 9). A fork with an
/// id of its own can be repeated likewise (SPEC 6).
///
/// Verbs of several steps (a cascading [`delete`](Forklore::delete), an
/// [`import`](Forklore::import)) that have begun go on to their end too; each of their steps is
/// whole whatever happens to the process. [`Rows`] read a page at a time, and stop with the page.
///
/// # Order
///
/// What has been awaited is done, and every later call, of this handle, a clone or another process,
/// sees it. Futures that run at the same time happen in any order, also two appends to one session:
/// to keep an order await one before the next, put the events into one request, or give `expect`
/// so that the late one is refused.
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

/// Opens the store that `url` names, making it where there is none.
///
/// The URL is `sqlite:PATH`, `files:DIR`, `graph:DIR` (with the feature `graph`) or `memory:`; see [`StoreUrl`]. [`Forklore`] has an example.
///
/// # Errors
/// When the URL names no store, or the store is damaged, locked, newer, or somebody else's.
pub async fn open(url: &str) -> Result<Forklore, OpenError> {
    open_url(url.parse()?).await
}

/// Opens a store, making it where there is none.
///
/// # Errors
/// When the store is damaged, locked, newer, or somebody else's.
pub async fn open_url(url: StoreUrl) -> Result<Forklore, OpenError> {
    let pool = Pool::of(AT_ONCE);
    let engine = pool.run(move || crate::open::open_url(&url)).await?;
    Ok(Forklore { engine, pool })
}

impl Forklore {
    /// The async face of an engine: for a store of your own, another clock, other dialects.
    #[must_use]
    pub fn over(engine: Engine) -> Self {
        Self { engine, pool: Pool::of(AT_ONCE) }
    }

    /// The same store with so many steps at once, and a pool apart from that of its clones.
    #[must_use]
    pub fn with_steps_at_once(self, at_once: NonZeroUsize) -> Self {
        Self { pool: Pool::of(at_once.get()), ..self }
    }

    /// The blocking face of the same store. Its verbs hold up the thread that calls them.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Lets the store go: with the last handle its files are closed, on the pool. Dropping does
    /// the same on the thread that drops, which then waits for the disk.
    pub async fn close(self) {
        let Self { engine, pool } = self;
        pool.run(move || drop(engine)).await;
    }

    /// Runs a verb on the pool.
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
