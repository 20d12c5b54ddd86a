//! The event loop: the only part that touches the terminal. The loop passes each event to the
//! state, and performs the effects that the state returns.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use forklore_engine::Engine;
use forklore_store::port::Since;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use rustix::process::{Signal, kill_process};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::app::{Action, App, Effect, Options};
use crate::dialog::Outcome;
use crate::request::{Answer, Request};
use crate::terminal::{self, Screen};
use crate::view::draw;
use crate::work::Worker;

/// The maximum time that the first frame waits for the data that it shows.
const FIRST: Duration = Duration::from_millis(60);
/// The maximum time of one wait for a key. After each wait, the thread checks whether the interface
/// has ended.
const KEY_WAIT: Duration = Duration::from_millis(50);
/// The maximum time of one wait for a change of the store.
const CHANGE_WAIT: Duration = Duration::from_secs(1);
/// The pause after a change of the store. Changes in that time are reported together.
const CHANGE_PAUSE: Duration = Duration::from_millis(50);
/// The maximum number of changes that are read at once.
const CHANGES: usize = 500;

/// Why the interface could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no terminal on which the interface can be drawn.
    #[error("the interface needs a terminal: {0}")]
    NoTerminal(&'static str),
    /// The terminal failed.
    #[error("using the terminal: {0}")]
    Terminal(#[from] io::Error),
    /// A thread of the interface panicked.
    #[error("the interface broke; the message above says where")]
    Broken,
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] forklore_engine::Error),
}

/// Checks whether the interface can run. `term` is the value of the environment variable `TERM`.
///
/// # Errors
/// [`Error::NoTerminal`] with the reason.
pub fn check(term: Option<&str>) -> Result<(), Error> {
    terminal::refusal(term).map_or(Ok(()), |why| Err(Error::NoTerminal(why)))
}

/// What a thread tells the event loop.
enum Happened {
    Action(Action),
    /// The program was continued, so everything must be drawn anew.
    Continued,
    /// A thread panicked.
    Broken,
}

/// A guard that tells the event loop if the thread that owns the guard panics.
struct Guard(Sender<Happened>);

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.send(Happened::Broken);
        }
    }
}

/// Starts a thread of the interface. If the thread panics, the event loop receives
/// [`Happened::Broken`].
fn spawn(sender: &Sender<Happened>, work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let guard = Guard(sender.clone());
    std::thread::spawn(move || {
        let _guard = guard;
        work();
    })
}

/// Runs the interface until the user leaves it.
///
/// # Errors
/// When the terminal fails, the store cannot be read, or a thread of the interface panics.
pub fn run(engine: &Engine, options: Options) -> Result<Outcome, Error> {
    let (sender, receiver) = channel();
    let worker = Worker::new(engine.clone()).with_files(options.files.clone());
    let threads = Threads::start(engine, worker, &sender)?;
    let mut screen = Screen::open()?;
    let size = screen.terminal.size()?;
    let (app, effects) = App::new(options, (size.width, size.height), engine.now());
    let mut running =
        Loop { app, screen: &mut screen, worker: threads.requests.clone(), receiver, open: 0 };
    let outcome = running.run(effects);
    drop(screen);
    threads.stop();
    outcome
}

struct Loop<'a> {
    app: App,
    screen: &'a mut Screen,
    worker: Sender<(u64, Request)>,
    receiver: Receiver<Happened>,
    /// The number of requests that are not answered yet.
    open: usize,
}

impl Loop<'_> {
    fn run(&mut self, effects: Vec<Effect>) -> Result<Outcome, Error> {
        if let Some(outcome) = self.perform(effects)? {
            return Ok(outcome);
        }
        let began = Instant::now();
        while self.open > 0
            && let Ok(event) = self.receiver.recv_timeout(FIRST.saturating_sub(began.elapsed()))
        {
            if let Some(outcome) = self.take(event)? {
                return Ok(outcome);
            }
        }
        loop {
            self.screen.terminal.draw(|frame| draw(&self.app, frame))?;
            let Ok(first) = self.receiver.recv() else { return Ok(Outcome::Left) };
            let mut events = VecDeque::from([first]);
            // Handle everything that happened meanwhile, and then draw one frame.
            events.extend(self.receiver.try_iter());
            for event in events {
                if let Some(outcome) = self.take(event)? {
                    return Ok(outcome);
                }
            }
        }
    }

    fn take(&mut self, event: Happened) -> Result<Option<Outcome>, Error> {
        match event {
            Happened::Action(action) => {
                if let Action::Answer(_, answer) = &action {
                    let is_last = !matches!(answer, Answer::Progress(_));
                    self.open = self.open.saturating_sub(usize::from(is_last));
                }
                let effects = self.app.update(action);
                self.perform(effects)
            }
            Happened::Continued => {
                self.screen.take_over()?;
                Ok(None)
            }
            Happened::Broken => Err(Error::Broken),
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Result<Option<Outcome>, Error> {
        for effect in effects {
            match effect {
                // Sending cannot fail: the thread that receives requests ends only after the loop.
                Effect::Request(screen, request) => {
                    let _ = self.worker.send((screen, request));
                    self.open += 1;
                }
                Effect::Leave(outcome) => return Ok(Some(outcome)),
                Effect::Suspend => {
                    terminal::give_back();
                    // All threads of the program stop here until the program is continued.
                    stop_program()?;
                    self.screen.take_over()?;
                }
            }
        }
        Ok(None)
    }
}

fn stop_program() -> io::Result<()> {
    Ok(kill_process(rustix::process::getpid(), Signal::TSTP)?)
}

/// The threads that wait for keys, signals, answers and changes.
struct Threads {
    stop: Arc<AtomicBool>,
    requests: Sender<(u64, Request)>,
    keys: JoinHandle<()>,
    signals: Handle,
}

impl Threads {
    fn start(engine: &Engine, worker: Worker, sender: &Sender<Happened>) -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGCONT])?;
        let handle = signals.handle();
        let to = sender.clone();
        spawn(sender, move || {
            for signal in &mut signals {
                let event = match signal {
                    SIGCONT => Happened::Continued,
                    other => Happened::Action(Action::Stop(other)),
                };
                if to.send(event).is_err() {
                    return;
                }
            }
        });
        let requests = answer_requests(worker, sender);
        follow(engine, sender, &stop)?;
        let (to, stopped) = (sender.clone(), stop.clone());
        let keys = spawn(sender, move || read_keys(&to, &stopped));
        Ok(Self { stop, requests, keys, signals: handle })
    }

    /// Stops the threads. Waits for the end of the thread that reads the terminal, so that the
    /// thread takes no input from the program that reads the terminal next. Does not wait if the
    /// terminal is gone: then there is no such program, and the read may never return.
    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.signals.close();
        if !terminal::is_gone(Duration::ZERO) {
            let _ = self.keys.join();
        }
    }
}

fn read_keys(to: &Sender<Happened>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        // A read of a terminal that is gone would never return.
        let action = match terminal::is_gone(KEY_WAIT) {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => event::poll(Duration::ZERO),
        };
        let action = match action {
            Ok(false) => continue,
            Ok(true) => event::read().map(action_of),
            Err(error) => Err(error),
        };
        let sent = match action {
            Ok(Some(action)) => to.send(Happened::Action(action)),
            Ok(None) => Ok(()),
            // The terminal is gone.
            Err(_) => {
                let _ = to.send(Happened::Action(Action::Stop(SIGHUP)));
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

fn action_of(event: Event) -> Option<Action> {
    match event {
        Event::Key(key) => (key.kind != KeyEventKind::Release).then_some(Action::Key(key)),
        Event::Mouse(mouse) => Some(Action::Mouse(mouse)),
        Event::Paste(text) => Some(Action::Paste(text)),
        Event::Resize(columns, rows) => Some(Action::Resize(columns, rows)),
        Event::FocusGained | Event::FocusLost => None,
    }
}

/// Starts the thread that answers requests. A search has a thread of its own, because it may read
/// much before it answers; so has a rewind, which reads the files of a folder.
fn answer_requests(worker: Worker, sender: &Sender<Happened>) -> Sender<(u64, Request)> {
    let (requests, receiver) = channel::<(u64, Request)>();
    let answers = sender.clone();
    spawn(sender, move || {
        for (screen, request) in receiver {
            let (worker, to) = (worker.clone(), answers.clone());
            if request.is_long() {
                spawn(&answers, move || answer(&worker, screen, &request, &to));
            } else {
                answer(&worker, screen, &request, &to);
            }
        }
    });
    requests
}

fn answer(worker: &Worker, screen: u64, request: &Request, to: &Sender<Happened>) {
    // Nobody receives it after the interface has ended.
    let send = |answer| drop(to.send(Happened::Action(Action::Answer(screen, answer))));
    let answer = worker.perform(request, &mut |progress| send(progress));
    send(answer);
}

/// Starts the thread that follows the feed of the store.
fn follow(engine: &Engine, sender: &Sender<Happened>, stop: &Arc<AtomicBool>) -> Result<(), Error> {
    let engine = engine.clone();
    let (to, stop) = (sender.clone(), stop.clone());
    let now = engine.store().changes(&Since::Now, 1, Duration::ZERO);
    let mut since = Since::Mark(now.map_err(forklore_engine::Error::from)?.mark);
    spawn(sender, move || {
        while !stop.load(Ordering::Relaxed) {
            let action = match engine.store().changes(&since, CHANGES, CHANGE_WAIT) {
                Ok(changes) => {
                    since = Since::Mark(changes.mark);
                    if changes.sessions.is_empty() {
                        continue;
                    }
                    Action::Changed(changes.sessions)
                }
                Err(error) => {
                    let _ = to.send(Happened::Action(Action::Unfollowed(error.to_string())));
                    return;
                }
            };
            if to.send(Happened::Action(action)).is_err() {
                return;
            }
            std::thread::sleep(CHANGE_PAUSE);
        }
    });
    Ok(())
}
