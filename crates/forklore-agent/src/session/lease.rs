//! The lease of a session, held for a turn and renewed while it runs (SPEC 9).

use std::sync::{Arc, Mutex, PoisonError};

use forklore_engine::LEASE;
use forklore_model::{Header, SessionId};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::{Kernel, Result};

/// A held lease. Dropping it stops the renewing; [`release`](Self::release) gives it back.
pub(crate) struct Lease {
    kernel: Kernel,
    owner: String,
    session: Arc<Mutex<SessionId>>,
    renewing: JoinHandle<()>,
    held: bool,
}

impl Lease {
    /// Takes the lease of a session, and keeps renewing it.
    pub(crate) async fn take(
        kernel: &Kernel,
        session: &SessionId,
        owner: &str,
    ) -> Result<(Self, Header)> {
        let header = hold(kernel, session, owner).await?;
        let session = Arc::new(Mutex::new(session.clone()));
        let renewing = tokio::spawn(renew(kernel.clone(), session.clone(), owner.to_owned()));
        let lease =
            Self { kernel: kernel.clone(), owner: owner.to_owned(), session, renewing, held: true };
        Ok((lease, header))
    }

    /// Takes the lease once more where it ran out.
    pub(crate) async fn regain(&self) -> Result<Header> {
        hold(&self.kernel, &self.session(), &self.owner).await
    }

    /// Gives back what was regained of a session that others wrote to meanwhile.
    pub(crate) async fn leave(&self) {
        let (session, owner) = (self.session(), self.owner.clone());
        let _ = self.kernel.run(move |engine| engine.release(&session, &owner)).await;
    }

    /// Goes over to another session, whose lease is taken.
    pub(crate) async fn move_to(&self, session: &SessionId) -> Result<Header> {
        let header = hold(&self.kernel, session, &self.owner).await?;
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session.clone();
        Ok(header)
    }

    fn session(&self) -> SessionId {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives it back. A lease that is somebody else's by now is left alone.
    pub(crate) async fn release(mut self) {
        self.renewing.abort();
        self.held = false;
        self.leave().await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
        // A turn whose future was dropped: nobody is there to wait.
        if let Some(runtime) = Handle::try_current().ok().filter(|_| self.held) {
            let engine = self.kernel.engine().clone();
            let (session, owner) = (self.session(), self.owner.clone());
            let release = runtime.spawn_blocking(move || {
                // A lease that is somebody else's by now is left alone.
                let _ = engine.release(&session, &owner);
            });
            self.kernel.leaves(release);
        }
    }
}

async fn hold(kernel: &Kernel, session: &SessionId, owner: &str) -> Result<Header> {
    let (session, owner) = (session.clone(), owner.to_owned());
    kernel.run(move |engine| engine.hold(&session, &owner)).await
}

/// Renews well before the lease runs out. A renewal that fails is no matter here: the next append
/// finds out what became of the session.
async fn renew(kernel: Kernel, session: Arc<Mutex<SessionId>>, owner: String) {
    loop {
        tokio::time::sleep(LEASE / 4).await;
        let session = session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let _ = hold(&kernel, &session, &owner).await;
    }
}
