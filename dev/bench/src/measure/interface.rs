//! Measures the terminal interface: the first frame on a store of very many sessions and of a very
//! long session, and the frames while one scrolls.

use std::collections::VecDeque;
use std::time::Instant;

use forklore::core::workspace::Workspace;
use forklore::{Engine, blocking};
use forklore_ui::{Action, App, Effect, Options, Purpose, Worker, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::samples::Samples;
use crate::scene::{Bed, Scene};
use crate::thousands::grouped;

/// The size of the terminal.
const SIZE: (u16, u16) = (160, 50);
/// The number of first frames and the number of screens that are scrolled.
const OPENED: usize = 20;
const SCROLLED: usize = 600;
/// The duration of a frame at 60 frames a second, in milliseconds.
const FRAME: f64 = 16.7;
/// The number of events of the long session, as a multiple of the number of sessions.
const EVENTS: usize = 4;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let folders = scene.folder()?;
    let sessions = scene.sizes.sessions;
    let (bed, _) = scene.store(|engine| super::start::fill(engine, folders.path(), sessions))?;
    let what = format!("{} sessions", grouped(sessions));
    let mut figures = of_store(scene, bed, &what, &|| Purpose::Browse)?;
    let events = sessions * EVENTS;
    let (bed, long) = scene.store(|engine| crate::scene::session(engine, events))?;
    let what = format!("a session of {} events", grouped(events));
    figures.extend(of_store(scene, bed, &what, &|| Purpose::Read(long.clone()))?);
    Ok(figures)
}

fn of_store(
    scene: &Scene,
    bed: Bed,
    what: &str,
    purpose: &dyn Fn() -> Purpose,
) -> Result<Vec<Figure>> {
    let files = bed.close();
    let url = files.url();
    let mut opened = Samples::default();
    for _ in 0..scene.rounds(OPENED) {
        let began = Instant::now();
        let engine = open(&url)?;
        Interface::open(&engine, purpose())?;
        opened.add(began.elapsed());
    }
    let engine = open(&url)?;
    let mut interface = Interface::open(&engine, purpose())?;
    let is_list = purpose() == Purpose::Browse;
    let key = if is_list { KeyCode::PageDown } else { KeyCode::PageUp };
    let mut frames = Samples::default();
    for _ in 0..scene.rounds(SCROLLED) {
        let began = Instant::now();
        interface.press(key)?;
        frames.add(began.elapsed());
    }
    let millis = |duration: std::time::Duration| duration.as_secs_f64() * 1e3;
    let first = Figure::alone(
        format!("`forklore ui`, {what}: the store is opened and the first frame drawn"),
        Goal::AtMost(100.0),
        millis(opened.median()),
        Unit::Milliseconds,
    );
    let scroll = Figure::alone(
        format!("`forklore ui`, {what}: a frame of those one screen further, 95th percentile"),
        Goal::AtMost(FRAME),
        millis(frames.percentile(95)),
        Unit::Milliseconds,
    );
    // One frame in some twenty reads more of the session or of the list.
    let slow = Figure::alone(
        format!("`forklore ui`, {what}: the same, 99th percentile"),
        Goal::None,
        millis(frames.percentile(99)),
        Unit::Milliseconds,
    );
    Ok(vec![first.from(opened.to_string(), ""), scroll.from(frames.to_string(), ""), slow])
}

fn open(url: &str) -> Result<Engine> {
    blocking::open(url).map_err(|error| Error::Wrong(error.to_string()))
}

/// The interface on a terminal in memory. Requests are answered at once, in the same thread, so a
/// frame contains all that it takes.
struct Interface {
    app: App,
    worker: Worker,
    terminal: Terminal<TestBackend>,
}

impl Interface {
    fn open(engine: &Engine, purpose: Purpose) -> Result<Self> {
        let options = Options {
            purpose,
            folder: Workspace::new("/"),
            all: true,
            color: true,
            program: "forklore".to_owned(),
            agents: Vec::new(),
            zone: jiff::tz::TimeZone::UTC,
            files: None,
        };
        let (app, effects) = App::new(options, SIZE, engine.now());
        let terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1));
        let terminal = terminal.map_err(|error| Error::Wrong(error.to_string()))?;
        let mut interface = Self { app, worker: Worker::new(engine.clone()), terminal };
        interface.perform(effects)?;
        Ok(interface)
    }

    fn press(&mut self, key: KeyCode) -> Result<()> {
        let effects = self.app.update(Action::Key(KeyEvent::from(key)));
        self.perform(effects)
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Result<()> {
        let mut open = VecDeque::from(effects);
        while let Some(effect) = open.pop_front() {
            if let Effect::Request(screen, request) = effect {
                let answer = self.worker.perform(&request, &mut |_| {});
                open.extend(self.app.update(Action::Answer(screen, answer)));
            }
        }
        let drawn = self.terminal.draw(|frame| draw(&self.app, frame));
        drawn.map(|_| ()).map_err(|error| Error::Wrong(error.to_string()))
    }
}
