//! Runs the operations of a host for a program at a terminal. Has its own async runtime, and lets
//! signals interrupt the operations.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_agent::notify::Notification;
use forklore_agent::{Prompt, Turn};
use forklore_core::Label;
use forklore_host::explore::{Plan, Row, discard, explore};
use forklore_host::{CancellationToken, Host, Start};
use tokio::runtime::Runtime;

use crate::answers::{Selected, show_answers};
use crate::signals::Signals;
use crate::{Error, Result, Stop};

/// A host (which runs turns) in the foreground of a program. It has an async runtime and a signal
/// listener.
///
/// The first signal cancels the running operation, which then returns its result so far. A second
/// signal drops the operation without waiting for its end.
pub struct Foreground {
    host: Arc<Host>,
    /// The listener that records signals between two operations, so that no signal is lost. A
    /// running operation takes the listener out and puts it back when it ends.
    signals: Mutex<Option<Signals>>,
    // Declared last, so dropped last: the other fields use the runtime while they are dropped.
    runtime: Runtime,
}

/// The result of a turn that ran without user interaction.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadlessTurn {
    /// The turn, with its text and status.
    pub turn: Turn,
    /// The first signal that arrived during the turn, if any.
    pub stopped: Option<Stop>,
}

/// The result of an exploration (several continuations of a session) that ran in the foreground.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// One row for each continuation, in the order of the request.
    pub rows: Vec<Row>,
    /// The first signal that arrived during the exploration, if any.
    pub stopped: Option<Stop>,
}

/// Runs an operation that needs no host, in an async runtime of its own. The first signal triggers
/// `cancel`; a second signal drops the operation. Returns the operation's result (`None` if the
/// operation was dropped) and the first signal, if any.
///
/// # Errors
/// When the system cannot start threads.
pub fn interruptible<T>(
    cancel: &CancellationToken,
    operation: impl Future<Output = T>,
) -> Result<(Option<T>, Option<Stop>)> {
    let runtime = runtime()?;
    let mut signals = Signals::listen(&runtime);
    Ok(runtime.block_on(signals.cancelling(cancel, operation)))
}

fn runtime() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().map_err(|source| {
        Error::from(forklore_host::Error::Io { doing: "starting threads".to_owned(), source })
    })
}

impl Foreground {
    /// Starts an async runtime, and calls `make` inside it to create the host, which runs turns.
    ///
    /// # Errors
    /// When the system cannot start threads, or when `make` returns an error.
    pub fn new(make: impl FnOnce() -> forklore_host::Result<Host>) -> Result<Self> {
        let runtime = runtime()?;
        let host = {
            let _inside = runtime.enter();
            Arc::new(make()?)
        };
        Ok(Self { host, signals: Mutex::default(), runtime })
    }

    /// Returns the host, which runs the turns of sessions.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Runs the future `verb`, an operation of the host, to its end. Signals do not interrupt it.
    pub fn block_on<T>(&self, verb: impl Future<Output = T>) -> T {
        // The future is boxed, so that the runtime's loop is compiled once per result type and not
        // once per operation.
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

    /// Runs one turn without user interaction; see [`Host::run_turn`].
    ///
    /// # Errors
    /// The errors of [`Host::run_turn`]. [`Error::Stopped`] when a signal arrived and the turn
    /// failed or never began, or when a second signal dropped the turn.
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

    /// Runs an exploration; see [`explore`]. Calls `changed` with the index and the new state of
    /// each row that changed.
    ///
    /// # Errors
    /// The errors of [`explore`].
    pub fn explore(&self, plan: &Plan, changed: &mut impl FnMut(usize, &Row)) -> Result<Explored> {
        let cancel = CancellationToken::new();
        // The latest state of each row: the result if a second signal drops the exploration.
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

    /// Shows the answers of an exploration side by side, and lets the user keep one. `best` is the
    /// index of the row with the highest score. Returns `None` if the user keeps none, or if there
    /// is no terminal in which a view can be drawn.
    ///
    /// # Errors
    /// [`Error::Stopped`] when a signal arrives.
    pub fn select_answer(&self, rows: &[Row], best: Option<usize>) -> Result<Option<Selected>> {
        let mut signals = self.signals();
        let selected = show_answers(rows, best, &mut signals);
        self.go_on_listening(signals);
        selected
    }

    /// Puts the other forks of an exploration into the trash, if the user keeps one row alone.
    /// Returns the labels of the deleted forks.
    ///
    /// # Errors
    /// The errors of [`discard`].
    pub fn discard_others(&self, rows: &[Row], selected: Selected) -> Result<Vec<Label>> {
        if !selected.alone {
            return Ok(Vec::new());
        }
        let others = rows.iter().enumerate().filter(|(at, _)| *at != selected.row);
        let others: Vec<Row> = others.map(|(_, row)| row.clone()).collect();
        Ok(self.block_on(discard(&self.host, &others))?)
    }

    /// Closes the host, and waits until it is closed. A signal ends the wait.
    pub fn close(&self) {
        let mut signals = self.signals();
        self.block_on(async {
            tokio::select! {
                () = self.host.close() => {}
                _ = signals.next() => {}
            }
        });
    }

    /// Runs an operation. The first signal triggers `cancel`; a second signal drops the operation.
    /// Returns the operation's result (`None` if the operation was dropped) and the first signal,
    /// if any.
    fn interruptible<T>(
        &self,
        cancel: &CancellationToken,
        verb: impl Future<Output = T>,
    ) -> (Option<T>, Option<Stop>) {
        let mut signals = self.signals();
        let ended = self.block_on(signals.cancelling(cancel, verb));
        self.go_on_listening(signals);
        ended
    }

    /// Spawns a task that continues to run while the calling thread waits for user input.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        let work: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(work);
        self.runtime.spawn(work)
    }

    /// Takes the stored signal listener, with every signal that no operation has handled yet.
    /// Starts a new listener if none is stored.
    pub(crate) fn signals(&self) -> Signals {
        let listening = self.listening().take();
        listening.unwrap_or_else(|| self.listen())
    }

    /// Returns a listener for the signals that arrive from now on.
    pub(crate) fn listen(&self) -> Signals {
        Signals::listen(&self.runtime)
    }

    /// Stores the signal listener, so that the next operation receives the signals that arrive
    /// before it starts.
    fn go_on_listening(&self, signals: Signals) {
        *self.listening() = Some(signals);
    }

    fn listening(&self) -> MutexGuard<'_, Option<Signals>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
