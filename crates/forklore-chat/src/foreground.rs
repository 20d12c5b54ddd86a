//! A host in the foreground of a program: on a runtime of its own, interrupted by signals.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_agent::notify::Notification;
use forklore_agent::{Prompt, Turn};
use forklore_host::explore::{Explore, Row, explore};
use forklore_host::{CancellationToken, Host, Start};
use tokio::runtime::Runtime;

use crate::signals::Signals;
use crate::{Error, Result, Stop};

/// A host in the foreground of a program.
///
/// The first signal interrupts what runs; it then ends with what it has. A second signal waits for
/// nothing.
pub struct Foreground {
    host: Arc<Host>,
    /// Listens to signals while no verb does, so that none is lost between two verbs.
    signals: Mutex<Option<Signals>>,
    // Dropped last: the others still work on it.
    runtime: Runtime,
}

/// A turn without a terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadlessTurn {
    /// The turn.
    pub turn: Turn,
    /// Who interrupted it.
    pub stopped: Option<Stop>,
}

/// An exploration that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// A row for each continuation.
    pub rows: Vec<Row>,
    /// Who interrupted it.
    pub stopped: Option<Stop>,
}

impl Foreground {
    /// A runtime, and on it the host that `make` makes.
    ///
    /// # Errors
    /// When the system gives no threads, or `make` fails.
    pub fn new(make: impl FnOnce() -> forklore_host::Result<Host>) -> Result<Self> {
        let failed = |source| {
            Error::from(forklore_host::Error::Io { doing: "starting threads".to_owned(), source })
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(failed)?;
        let host = {
            let _inside = runtime.enter();
            Arc::new(make()?)
        };
        Ok(Self { host, signals: Mutex::default(), runtime })
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Runs a verb of the host to its end. Signals do not interrupt it.
    pub fn block_on<T>(&self, verb: impl Future<Output = T>) -> T {
        // Erased, so that the runtime's loop is compiled once for each answer, not for each verb.
        let verb: Pin<Box<dyn Future<Output = T> + '_>> = Box::pin(verb);
        self.runtime.block_on(verb)
    }

    /// Starts the tool servers. Returns a message for each one that does not start.
    ///
    /// # Errors
    /// [`Error::Stopped`] when a signal arrives before all have started.
    pub fn start_tools(&self) -> Result<Vec<String>> {
        let mut signals = self.signals();
        let started = self.block_on(async {
            tokio::select! {
                started = self.host.start_tools() => Ok(started),
                stop = signals.next() => Err(Error::Stopped(stop)),
            }
        });
        self.go_on_listening(signals);
        started
    }

    /// Runs one turn; see [`Host::run_turn`].
    ///
    /// # Errors
    /// As [`Host::run_turn`]; [`Error::Stopped`] when a signal ended the turn before it began, or
    /// two did later.
    pub fn run_turn(
        &self,
        start: &Start,
        prompt: Option<Prompt>,
        notify: &mut impl FnMut(&Notification),
    ) -> Result<HeadlessTurn> {
        let cancel = CancellationToken::new();
        let turn = self.host.run_turn(start, prompt, &cancel, notify);
        match self.interruptible(&cancel, turn) {
            (Some(Ok(turn)), stopped) => Ok(HeadlessTurn { turn, stopped }),
            (_, Some(stop)) => Err(Error::Stopped(stop)),
            (Some(Err(error)), None) => Err(error.into()),
            (None, None) => Err(Error::interrupted()),
        }
    }

    /// Explores; see [`explore`]. `changed` gets each row that changed.
    ///
    /// # Errors
    /// As [`explore`].
    pub fn explore(
        &self,
        request: &Explore,
        changed: &mut impl FnMut(usize, &Row),
    ) -> Result<Explored> {
        let cancel = CancellationToken::new();
        // After a second signal these are the rows.
        let mut latest: Vec<Row> = Vec::new();
        let mut follow = |at: usize, row: &Row| {
            changed(at, row);
            match latest.get_mut(at) {
                Some(before) => *before = row.clone(),
                None => latest.push(row.clone()),
            }
        };
        let running = explore(&self.host, request, &cancel, &mut follow);
        match self.interruptible(&cancel, running) {
            (Some(done), stopped) => Ok(Explored { rows: done?, stopped }),
            (None, stopped) => Ok(Explored { rows: latest, stopped }),
        }
    }

    /// Closes the host. A signal meanwhile waits for nothing.
    pub fn close(&self) {
        let mut signals = self.signals();
        self.block_on(async {
            tokio::select! {
                () = self.host.close() => {}
                _ = signals.next() => {}
            }
        });
    }

    /// Runs a verb. The first signal cancels it; a second one drops it, and there is no result.
    fn interruptible<T>(
        &self,
        cancel: &CancellationToken,
        verb: impl Future<Output = T>,
    ) -> (Option<T>, Option<Stop>) {
        let mut signals = self.signals();
        let ended = self.block_on(async {
            let mut verb = std::pin::pin!(verb);
            let mut stopped = None;
            loop {
                tokio::select! {
                    biased;
                    done = &mut verb => break (Some(done), stopped),
                    stop = signals.next() => {
                        if stopped.is_some() {
                            break (None, stopped);
                        }
                        stopped = Some(stop);
                        cancel.cancel();
                    }
                }
            }
        });
        self.go_on_listening(signals);
        ended
    }

    /// Spawns work that goes on while the calling thread waits for a person.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        let work: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(work);
        self.runtime.spawn(work)
    }

    /// The signals that no verb has taken yet.
    pub(crate) fn signals(&self) -> Signals {
        let listening = self.listening().take();
        listening.unwrap_or_else(|| self.listen())
    }

    /// The signals that arrive from now on.
    pub(crate) fn listen(&self) -> Signals {
        Signals::listen(&self.runtime)
    }

    /// Listens on for the next verb.
    fn go_on_listening(&self, signals: Signals) {
        *self.listening() = Some(signals);
    }

    fn listening(&self) -> MutexGuard<'_, Option<Signals>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
