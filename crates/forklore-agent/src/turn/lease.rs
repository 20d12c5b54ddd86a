//! The lease of a session, taken for a turn and renewed while it runs (docs/semantics.md, Writing).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, LEASE, Result as EngineResult};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::context::Context;
use crate::handle::KernelHandle;
use crate::lease_owner;
use crate::{Error, Result};

/// The longest wait before a waiting turn tries again to take the lease. It ends the wait for an
/// owner whose process was killed, because that commits nothing.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// A lease that this runtime has. Dropping it stops the renewal; [`release`](Self::release) gives
/// it back.
pub(crate) struct Lease {
    kernel: KernelHandle,
    owner: String,
    session: Arc<Mutex<SessionId>>,
    renewing: JoinHandle<()>,
    owned: bool,
}

impl Lease {
    /// Takes the lease of a session and starts renewing it. While another runtime has it, waits as
    /// long as the session's settings allow.
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

    /// Takes the lease again if it expired.
    pub(crate) async fn regain(&self) -> Result<Header> {
        hold(&self.kernel, &self.session(), &self.owner).await
    }

    /// Releases the lease of the present session, for example of one that another runtime wrote to
    /// meanwhile.
    pub(crate) async fn leave(&self) {
        let (session, owner) = (self.session(), self.owner.clone());
        let _ = self.kernel.run(move |engine| engine.release(&session, &owner)).await;
    }

    /// Takes the lease of another session and renews that one from now on.
    pub(crate) async fn move_to(&self, session: &SessionId) -> Result<Header> {
        let header = hold(&self.kernel, session, &self.owner).await?;
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session.clone();
        Ok(header)
    }

    fn session(&self) -> SessionId {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops the renewal and releases the lease. A lease that another runtime has by now stays
    /// unchanged.
    pub(crate) async fn release(mut self) {
        self.renewing.abort();
        self.owned = false;
        self.leave().await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
        // The turn's future was dropped, so nobody can wait for the release here.
        if let Some(runtime) = Handle::try_current().ok().filter(|_| self.owned) {
            let engine = self.kernel.engine().clone();
            let (session, owner) = (self.session(), self.owner.clone());
            let release = runtime.spawn_blocking(move || {
                // A lease that another runtime has by now stays unchanged.
                let _ = engine.release(&session, &owner);
            });
            self.kernel.await_release(release);
        }
    }
}

/// Waits until something is committed to a leased session, such as the release of its lease, or
/// until the work is interrupted; at most for `most`.
async fn until_changed(context: &Context, session: &SessionId, most: Duration) -> Result<()> {
    let cancel = context.cancel_token().unwrap_or_default();
    let session = session.clone();
    let changed = context.kernel.run(move |engine| wait_for_change(engine, &session, most));
    tokio::select! {
        changed = changed => changed,
        () = cancel.cancelled() => Ok(()),
    }
}

/// Waits for the next commit to a session, at most until its lease expires and at most for `most`.
fn wait_for_change(engine: &Engine, session: &SessionId, most: Duration) -> EngineResult<()> {
    // Following begins before the lease is read, so a release in between ends the wait.
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

/// Takes the lease, also from an owner whose process is gone. It releases that lease in the owner's
/// name. Of several runtimes that try, this succeeds for only one, and for none after another
/// runtime has taken the lease.
fn take_over(engine: &Engine, session: &SessionId, owner: &str) -> Result<Header> {
    let refused = match engine.take_lease(session, owner) {
        Err(error) if error.holder().is_some() => error,
        header => return Ok(header?),
    };
    let gone = refused.holder().filter(|holder| lease_owner::is_gone(holder));
    if let Some(holder) = gone {
        // If this fails, another runtime was faster; the next line reports which.
        let _ = engine.release(session, holder);
        let header = engine.take_lease(session, owner)?;
        let holder = lease_owner::readable(holder);
        tracing::warn!(%session, holder, "took over the lease of a process that is gone");
        return Ok(header);
    }
    let lease = engine.show(session)?.lease;
    let left = lease.map(|lease| lease.expires.duration_since(engine.now()));
    let free_in = left.and_then(|left| Duration::try_from(left).ok()).unwrap_or_default();
    Err(Error::Leased { session: session.clone(), free_in, source: refused })
}

/// Renews the lease well before it expires. It only logs a failed renewal: the next append finds
/// out what happened to the session.
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
