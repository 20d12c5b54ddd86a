//! An interface over a store in memory, driven by keys.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use forklore_core::workspace::Workspace;
use forklore_core::{Label, Selector, SessionId};
use forklore_engine::{Batch, Clock, Create, Engine, Fork, NewEvent};
use forklore_store::clock::StoreClock;
use forklore_store::memory::MemoryStore;
use forklore_store::port::Since;
use forklore_ui::{Action, App, Effect, Options, Outcome, Purpose, Worker, draw};
use forklore_workspace::WorkspaceFiles;
use jiff::Timestamp;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

/// A clock that advances by a second with each reading of it, and whose random bits are a counter.
#[derive(Default)]
pub(crate) struct TestClock {
    seconds: AtomicI64,
    drawn: AtomicU64,
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let seconds = self.seconds.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_second(1_760_000_000 + seconds).unwrap()
    }

    fn random(&self) -> [u8; 10] {
        let mut random = [0; 10];
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        random[2..].copy_from_slice(&drawn.to_be_bytes());
        random
    }
}

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Creates an engine over a store in memory.
pub(crate) fn engine() -> Engine {
    let clock = Arc::new(TestClock::default());
    let of_store = clock.clone();
    let store = MemoryStore::default().with_clock(StoreClock::new(move || of_store.now()));
    Engine::new(Arc::new(store)).with_clock(clock)
}

/// Creates an engine over another store.
pub(crate) fn engine_on(store: Arc<dyn forklore_store::Store>) -> Engine {
    Engine::new(store).with_clock(Arc::new(TestClock::default()))
}

/// Creates a session in the folder `/demo`.
pub(crate) fn create(engine: &Engine, name: &str, title: Option<&str>) {
    let create = Create {
        id: Some(id(name)),
        title: title.map(str::to_owned),
        ..Create::in_workspace(Workspace::new("/demo"))
    };
    engine.create(&create).unwrap();
}

/// Appends events as JSON lines, each with its type and its data.
pub(crate) fn append(engine: &Engine, session: &str, events: &[(&str, &str)]) {
    let events: Vec<NewEvent> = events
        .iter()
        .map(|(kind, data)| {
            serde_json::from_str(&format!(r#"{{"type":"{kind}","data":{data}}}"#)).unwrap()
        })
        .collect();
    engine.append(&id(session), &Batch::from(events)).unwrap();
}

pub(crate) fn fork(engine: &Engine, of: &str, at: &str, name: &str, label: &str) {
    let at: Selector = at.parse().unwrap();
    let label: Label = label.parse().unwrap();
    let fork = Fork { id: Some(id(name)), label: Some(label), at: Some(at), ..Fork::of(id(of)) };
    engine.fork(&fork).unwrap();
}

/// Creates two families: a plan with tool calls, thinking and two forks, and notes.
pub(crate) fn world() -> Engine {
    let engine = engine();
    create(&engine, "notes", None);
    append(&engine, "notes", &[("user_message", r#"{"content":"write down what we know"}"#)]);
    create(&engine, "plan", Some("Plan the release"));
    append(&engine, "plan", PLAN);
    fork(&engine, "plan", "turn:1", "plan-b", "try-winnow");
    append(
        &engine,
        "plan-b",
        &[
            ("user_message", r#"{"content":"let us take winnow instead"}"#),
            (
                "assistant_message",
                r#"{"content":"Winnow it is. It is a fork of nom with better errors."}"#,
            ),
        ],
    );
    fork(&engine, "plan-b", "end", "plan-c", "try-pest");
    engine
}

const PLAN: &[(&str, &str)] = &[
    ("user_message", r#"{"content":"Which parser shall we take?\nnom or winnow?"}"#),
    (
        "assistant_message",
        r#"{"content":[{"type":"reasoning","text":"I look at the code first."},{"type":"text","text":"I look."},{"type":"tool_call","id":"c1","name":"Bash","arguments":{"command":"ls src"}}]}"#,
    ),
    ("tool_result", r#"{"call_id":"c1","content":"lib.rs\nmain.rs\nparser.rs"}"#),
    (
        "assistant_message",
        r#"{"content":"Both would do. The parser is small, so take the one that you know better."}"#,
    ),
    ("user_message", r#"{"content":"let us take nom"}"#),
    ("assistant_message", r#"{"content":"Nom it is. I write the first rules now."}"#),
];

/// An interface, the buffer that it is drawn into, and what it did.
pub(crate) struct Stage {
    pub(crate) app: App,
    pub(crate) engine: Engine,
    worker: Worker,
    terminal: Terminal<TestBackend>,
    since: Since,
    /// What has been left, and how.
    pub(crate) outcome: Option<Outcome>,
    /// The number of requests so far.
    pub(crate) requests: usize,
}

impl Stage {
    pub(crate) fn of(engine: Engine, size: (u16, u16)) -> Self {
        Self::with(engine, size, Purpose::Browse)
    }

    pub(crate) fn with(engine: Engine, size: (u16, u16), purpose: Purpose) -> Self {
        Self::with_files(engine, size, purpose, None)
    }

    pub(crate) fn with_files(
        engine: Engine,
        size: (u16, u16),
        purpose: Purpose,
        files: Option<Arc<WorkspaceFiles>>,
    ) -> Self {
        let options = Options {
            purpose,
            folder: Workspace::new("/demo"),
            all: false,
            color: true,
            program: "forklore".to_owned(),
            agents: ["claude", "codex", "pi"].map(str::to_owned).to_vec(),
            zone: jiff::tz::TimeZone::UTC,
            files: files.clone(),
        };
        let (app, effects) = App::new(options, size, engine.now());
        let terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        let now = engine.store().changes(&Since::Now, 0, Duration::ZERO).unwrap();
        let mut stage = Self {
            app,
            worker: Worker::new(engine.clone()).with_files(files),
            engine,
            terminal,
            since: Since::Mark(now.mark),
            outcome: None,
            requests: 0,
        };
        stage.perform(effects);
        stage
    }

    /// Performs effects, and those that follow from their answers.
    fn perform(&mut self, effects: Vec<Effect>) {
        let mut open = VecDeque::from(effects);
        while let Some(effect) = open.pop_front() {
            match effect {
                Effect::Request(screen, request) => {
                    self.requests += 1;
                    assert!(self.requests < 100_000, "requests without end: {request:?}");
                    let answer = self.worker.perform(&request, &mut |_| {});
                    open.extend(self.app.update(Action::Answer(screen, answer)));
                }
                Effect::Leave(outcome) => self.outcome = Some(outcome),
                Effect::Suspend => {}
            }
        }
    }

    pub(crate) fn act(&mut self, action: Action) -> &mut Self {
        let effects = self.app.update(action);
        self.perform(effects);
        self
    }

    /// Presses keys, one for each character.
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        keys.chars().for_each(|c| {
            self.key(KeyCode::Char(c));
        });
        self
    }

    pub(crate) fn key(&mut self, code: KeyCode) -> &mut Self {
        self.act(Action::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    pub(crate) fn ctrl(&mut self, c: char) -> &mut Self {
        self.act(Action::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)))
    }

    /// Answers a prompt.
    pub(crate) fn line(&mut self, text: &str) -> &mut Self {
        self.press(text).key(KeyCode::Enter)
    }

    pub(crate) fn click(&mut self, column: u16, row: u16) -> &mut Self {
        let kind = MouseEventKind::Down(MouseButton::Left);
        self.act(Action::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }))
    }

    pub(crate) fn wheel(&mut self, down: bool) -> &mut Self {
        let kind = if down { MouseEventKind::ScrollDown } else { MouseEventKind::ScrollUp };
        let modifiers = KeyModifiers::NONE;
        self.act(Action::Mouse(MouseEvent { kind, column: 5, row: 5, modifiers }))
    }

    /// Gives the terminal another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        self.act(Action::Resize(columns, rows))
    }

    /// Tells the interface what was changed in the store since the last call.
    pub(crate) fn follow(&mut self) -> &mut Self {
        let changes = self.engine.store().changes(&self.since, 0, Duration::ZERO).unwrap();
        self.since = Since::Mark(changes.mark);
        self.act(Action::Changed(changes.sessions))
    }

    pub(crate) fn buffer(&mut self) -> Buffer {
        self.terminal.draw(|frame| draw(&self.app, frame)).unwrap();
        self.terminal.backend().buffer().clone()
    }

    /// Returns the text on the screen. The row of the cursor in a list is marked.
    pub(crate) fn screen(&mut self) -> String {
        let buffer = self.buffer();
        let area = buffer.area;
        let mut text = String::new();
        for y in 0..area.height {
            let mut line = String::new();
            let mut skip = 0;
            for x in 0..area.width {
                let symbol = buffer[(x, y)].symbol();
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                line.push_str(symbol);
            }
            let is_marked = (0..area.width).any(|x| {
                let style = buffer[(x, y)].modifier;
                x == 0 && style.contains(ratatui::style::Modifier::REVERSED)
            });
            let line = line.trim_end();
            let mark = if is_marked { "»" } else { "" };
            text.push_str(&format!("{mark}{line}\n"));
        }
        text
    }
}
