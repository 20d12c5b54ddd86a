//! The lease of a session. A turn acquires the lease, and renews it until the turn ends
//! (docs/semantics.md, Writing).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, LEASE, Result as EngineResult};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::context::Context;
use crate::handle::KernelHandle;
use crate::{Error, Result};

/// The longest pause before a waiting turn tries again to acquire the lease. It limits the wait for
/// a lease whose owner's process was killed. Such an owner writes nothing to the session, and
/// therefore nothing else would end the wait early.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// A lease that this runtime has acquired. [`release`](Self::release) ends the lease. Dropping this
/// value stops the renewal and releases the lease in the background.
pub(crate) struct Lease {
    kernel: KernelHandle,
    owner: String,
    session: Arc<Mutex<SessionId>>,
    renewing: JoinHandle<()>,
    owned: bool,
}

impl Lease {
    /// Acquires the lease of a session and starts to renew it. While another runtime has the lease,
    /// waits as long as the session's settings allow.
    pub(crate) async fn take(context: &Context, session: &SessionId) -> Result<(Self, Header)> {
        let (kernel, owner) = (&context.kernel, &context.owner);
        let wait = context.config().settings.lease_wait;
        let began = Instant::now();
        let header = loop {
            match hold(kernel, session, owner).await {
                Err(Error::Leased { .. }) if began.elapsed() < wait && !context.is_cancelled() => {
                    let left = wait.saturating_sub(began.elapsed()).min(LONGEST_WAIT);
                    until_changed(context, session, left).await?;
                }
                header => break header?,
            }
        };
        let session = Arc::new(Mutex::new(session.clone()));
        let renewing = tokio::spawn(renew(kernel.clone(), session.clone(), owner.clone()));
        let lease =
            Self { kernel: kernel.clone(), owner: owner.clone(), session, renewing, owned: true };
        Ok((lease, header))
    }

    /// Acquires the lease of the current session again, for example after it expired.
    pub(crate) async fn regain(&self) -> Result<Header> {
        hold(&self.kernel, &self.session(), &self.owner).await
    }

    /// Releases the lease of the current session. Does not stop the renewal, because
    /// [`move_to`](Self::move_to) gives it another lease to renew. A turn calls this before it
    /// continues in a fork, because another runtime wrote to the session while the lease was
    /// expired.
    pub(crate) async fn leave(&self) {
        let (session, owner) = (self.session(), self.owner.clone());
        let _ = self.kernel.run(move |engine| engine.release(&session, &owner)).await;
    }

    /// Acquires the lease of another session. From now on, renews the lease of that session instead
    /// of the previous session's lease.
    pub(crate) async fn move_to(&self, session: &SessionId) -> Result<Header> {
        let header = hold(&self.kernel, session, &self.owner).await?;
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session.clone();
        Ok(header)
    }

    fn session(&self) -> SessionId {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops the renewal and releases the lease. If another runtime has acquired the lease
    /// meanwhile, that lease stays unchanged.
    pub(crate) async fn release(mut self) {
        self.renewing.abort();
        self.owned = false;
        self.leave().await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
        // The turn's future was dropped. Nobody can await the release here, so it runs as a task.
        if let Some(runtime) = Handle::try_current().ok().filter(|_| self.owned) {
            let engine = self.kernel.engine().clone();
            let (session, owner) = (self.session(), self.owner.clone());
            let release = runtime.spawn_blocking(move || {
                // If another runtime has acquired the lease meanwhile, that lease stays unchanged.
                let _ = engine.release(&session, &owner);
            });
            self.kernel.await_release(release);
        }
    }
}

/// Waits until something is written to the session, such as the release of its lease. Returns early
/// if the running work is interrupted, and at the latest after `most`.
async fn until_changed(context: &Context, session: &SessionId, most: Duration) -> Result<()> {
    let cancel = context.cancel_token().unwrap_or_default();
    let session = session.clone();
    let changed = context.kernel.run(move |engine| wait_for_change(engine, &session, most));
    tokio::select! {
        changed = changed => changed,
        () = cancel.cancelled() => Ok(()),
    }
}

/// Waits until something is written to the session or its lease expires, but no longer than `most`.
fn wait_for_change(engine: &Engine, session: &SessionId, most: Duration) -> EngineResult<()> {
    // Follow the session before reading the lease. A release between the two then ends the wait.
    let mut follower = engine.follow(session)?;
    let Some(lease) = engine.show(session)?.lease else { return Ok(()) };
    let left = lease.expires.duration_since(engine.store().now());
    let left = Duration::try_from(left).unwrap_or_default();
    follower.next_change_within(left.min(most))?;
    Ok(())
}

async fn hold(kernel: &KernelHandle, session: &SessionId, owner: &str) -> Result<Header> {
    let (session, owner) = (session.clone(), owner.to_owned());
    kernel.run(move |engine| Ok(take_over(engine, &session, &owner))).await?
}

/// Acquires the lease of a session. Replaces a lease of another runtime whose process is certainly
/// gone.
fn take_over(engine: &Engine, session: &SessionId, owner: &str) -> Result<Header> {
    let refused = match engine.take_lease(session, owner) {
        Err(error) if error.holder().is_some() => error,
        header => return Ok(header?),
    };
    let lease = engine.show(session)?.lease;
    let left = lease.map(|lease| lease.expires.duration_since(engine.now()));
    let free_in = left.and_then(|left| Duration::try_from(left).ok()).unwrap_or_default();
    Err(Error::Leased { session: session.clone(), free_in, source: refused })
}

/// Renews the lease well before it expires. A failed renewal is only logged, because the next
/// append detects what happened to the session.
async fn renew(kernel: KernelHandle, session: Arc<Mutex<SessionId>>, owner: String) {
    let mut failed = false;
    loop {
        tokio::time::sleep(LEASE / 4).await;
        let session = session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match hold(&kernel, &session, &owner).await {
            Ok(_) => failed = false,
            Err(error) if !failed => {
                failed = true;
                tracing::warn!(%session, cause = error.kind().name(), "could not renew a lease");
            }
            Err(_) => {}
        }
    }
}
