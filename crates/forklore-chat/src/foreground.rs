//! A host in the foreground of a program: it has its own async runtime, and signals interrupt it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_agent::notify::Notification;
use forklore_agent::{Prompt, Turn};
use forklore_host::explore::{Plan, Row, explore};
use forklore_host::{CancellationToken, Host, Start};
use tokio::runtime::Runtime;

use crate::signals::Signals;
use crate::{Error, Result, Stop};

/// Runs a host in the foreground of a program.
///
/// The first signal cancels the running operation, which then returns what it has so far. A second
/// signal drops the operation without waiting for it.
pub struct Foreground {
    host: Arc<Host>,
    /// Listens for signals between two operations, so that none is lost. An operation takes it
    /// while it runs.
    signals: Mutex<Option<Signals>>,
    // Declared last, so dropped last: the other fields still use it.
    runtime: Runtime,
}

/// The result of a turn that ran without interaction.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadlessTurn {
    /// The turn.
    pub turn: Turn,
    /// The signal that interrupted it, if any.
    pub stopped: Option<Stop>,
}

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// One row for each continuation.
    pub rows: Vec<Row>,
    /// The signal that interrupted it, if any.
    pub stopped: Option<Stop>,
}

impl Foreground {
    /// Starts a runtime, and creates the host on it with `make`.
    ///
    /// # Errors
    /// When the system cannot start threads, or when `make` fails.
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

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Runs an operation of the host to its end. Signals do not interrupt it.
    pub fn block_on<T>(&self, verb: impl Future<Output = T>) -> T {
        // Boxed, so that the runtime's loop is compiled once per result type, not once per
        // operation.
        let verb: Pin<Box<dyn Future<Output = T> + '_>> = Box::pin(verb);
        self.runtime.block_on(verb)
    }

    /// Starts the tool servers. Returns one message for each server that did not start.
    ///
    /// # Errors
    /// [`Error::Stopped`] when a signal arrives before all servers have started.
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
    /// The errors of [`Host::run_turn`]. [`Error::Stopped`] when a signal arrived and the turn
    /// failed or never began, or when a second signal ended it.
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

    /// Runs an exploration; see [`explore`]. Calls `changed` with each row that changed.
    ///
    /// # Errors
    /// The errors of [`explore`].
    pub fn explore(&self, plan: &Plan, changed: &mut impl FnMut(usize, &Row)) -> Result<Explored> {
        let cancel = CancellationToken::new();
        // The result if a second signal ends the exploration.
        let mut latest: Vec<Row> = Vec::new();
        let mut follow = |at: usize, row: &Row| {
            changed(at, row);
            match latest.get_mut(at) {
                Some(before) => *before = row.clone(),
                None => latest.push(row.clone()),
            }
        };
        let running = explore(&self.host, plan, &cancel, &mut follow);
        match self.interruptible(&cancel, running) {
            (Some(done), stopped) => Ok(Explored { rows: done?, stopped }),
            (None, stopped) => Ok(Explored { rows: latest, stopped }),
        }
    }

    /// Closes the host. The first signal ends the wait for it.
    pub fn close(&self) {
        let mut signals = self.signals();
        self.block_on(async {
            tokio::select! {
                () = self.host.close() => {}
                _ = signals.next() => {}
            }
        });
    }

    /// Runs an operation. The first signal cancels it; a second one drops it, and there is no
    /// result. Also returns the first signal.
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

    /// Spawns work that runs on while the calling thread waits for user input.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        let work: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(work);
        self.runtime.spawn(work)
    }

    /// Returns the listener with every signal that no operation has handled yet.
    pub(crate) fn signals(&self) -> Signals {
        let listening = self.listening().take();
        listening.unwrap_or_else(|| self.listen())
    }

    /// Returns a listener for the signals that arrive from now on.
    pub(crate) fn listen(&self) -> Signals {
        Signals::listen(&self.runtime)
    }

    /// Stores the listener, so that the next operation receives the signals that arrive meanwhile.
    fn go_on_listening(&self, signals: Signals) {
        *self.listening() = Some(signals);
    }

    fn listening(&self) -> MutexGuard<'_, Option<Signals>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
