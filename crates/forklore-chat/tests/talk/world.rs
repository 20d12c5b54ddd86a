//! Test doubles: a terminal that types the lines of a test, and a model whose answers depend on the
//! prompt.

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use forklore_agent::model::{
    AnswerStream, End, Model, ModelError, ModelErrorKind, ModelName, ModelResult, Request,
    StreamEvent, TokenUsage,
};
use forklore_chat::input::{Input, Line, Offers};
use forklore_chat::markdown::Look;
use forklore_chat::screen::Screen;
use forklore_chat::{Chat, Foreground, ShowRow, View, Views};
use forklore_core::workspace::Workspace;
use forklore_core::{Label, Role, SessionId};
use forklore_engine::{Engine, ListRequest, NewEvent};
use forklore_host::{Configured, Host, Start};
use forklore_store::memory::MemoryStore;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};

pub(crate) const CONFIG: &str = "default_model = 'one'\n\
    [models.one]\nprovider = 'openai'\nmodel = 'm1'\nbase_url = 'http://127.0.0.1:9/v1'\n\
    [models.two]\nprovider = 'openai'\nmodel = 'm2'\nbase_url = 'http://127.0.0.1:9/v1'\n";

/// A model that answers `<model> heard: <prompt>`, and fails for the prompt `fail`.
struct Echo {
    name: ModelName,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Model for Echo {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn context_window(&self) -> Option<u64> {
        None
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        self.requests.lock().unwrap().push(request.clone());
        let last = request.messages.iter().rev().find(|message| message.role == Role::User);
        let last = last.map(forklore_core::Message::plain_text).unwrap_or_default();
        Box::pin(async move {
            if last.contains("fail") {
                let (provider, message) = ("test".to_owned(), "it does not want to".to_owned());
                let kind = ModelErrorKind::Invalid;
                return Err(ModelError { provider, message, kind, status: None, source: None });
            }
            let usage = TokenUsage {
                input: Some(100),
                output: Some(5),
                cached: Some(80),
                ..TokenUsage::default()
            };
            let text = format!("{} heard: {last}", self.name.model);
            let pieces =
                text.split_inclusive(' ').map(|piece| Ok(StreamEvent::Text(piece.to_owned())));
            let end = StreamEvent::End(End { usage, ..End::default() });
            let pieces: Vec<ModelResult<StreamEvent>> = pieces.chain([Ok(end)]).collect();
            Ok(stream::iter(pieces).boxed())
        })
    }

    fn body(&self, _: &Request) -> ModelResult<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// The environment of a conversation: a store, a model and a screen, all in memory.
pub(crate) struct World {
    pub(crate) foreground: Foreground,
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
    shown: Arc<Mutex<Vec<u8>>>,
    pub(crate) views: Vec<String>,
}

struct Shown(Arc<Mutex<Vec<u8>>>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An input that types the lines of a test, and adds each line to the output as a terminal would
/// echo it.
///
/// The line `!TEXT` stands for another program, which writes TEXT and an answer into the session that
/// was written last. The line `^M` enters the text that is in the prompt already.
struct Typing {
    lines: VecDeque<String>,
    shown: Arc<Mutex<Vec<u8>>>,
    engine: Engine,
    /// The text that the conversation put into the next prompt.
    begun: String,
}

impl Typing {
    fn next(&mut self, prompt: &str) -> Option<String> {
        let begun = std::mem::take(&mut self.begun);
        let mut line = self.lines.pop_front()?;
        while let Some(text) = line.strip_prefix('!') {
            self.other_program(text);
            line = self.lines.pop_front()?;
        }
        if line == "^M" {
            line = begun;
        }
        self.show(&format!("{prompt}{line}\n"));
        Some(line)
    }

    fn show(&self, text: &str) {
        self.shown.lock().unwrap().extend_from_slice(text.as_bytes());
    }

    fn other_program(&self, text: &str) {
        let last = self.engine.list(&ListRequest::default()).unwrap().sessions.remove(0);
        let answer = NewEvent::assistant(&format!("heard: {text}")).unwrap();
        let events = vec![NewEvent::user(text).unwrap(), answer];
        self.engine.append(&last.id, &events.into()).unwrap();
    }
}

impl Input for Typing {
    fn line(&mut self, prompt: &str, _: Offers) -> Line {
        match self.next(prompt).as_deref() {
            None => Line::End,
            Some("^C") => Line::Interrupted { text: false },
            Some(line) => Line::Entered(line.to_owned()),
        }
    }

    fn put_back(&mut self) {}

    fn begin(&mut self, text: &str) {
        self.begun.push_str(text);
    }

    /// Shows the lines, and takes the number of one of them from the next line of the test.
    fn choose(&mut self, title: &str, lines: &[String], chosen: usize) -> Option<usize> {
        self.show(&format!("{title}\n"));
        for (at, line) in lines.iter().enumerate() {
            self.show(&format!("{} {line}\n", if at == chosen { ">" } else { " " }));
        }
        self.next("choice: ")?.parse::<usize>().ok()
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        self.next(question)
    }
}

/// Implements `Views`: records the names of the views that a program would show.
struct Names<'a>(&'a mut Vec<String>);

impl Views for Names<'_> {
    fn show(&mut self, view: View) {
        self.0.push(match view {
            View::Branches(session) => format!("branches {}", session.id),
            View::Tree(session) => format!("tree {}", session.id),
            View::Diff(sessions) => format!("diff {} {}", sessions.0.label, sessions.1.label),
            View::Replay(session, cut) => {
                let cut = cut.map(|cut| format!(" up to {cut}")).unwrap_or_default();
                format!("replay {}{cut}", session.id)
            }
            View::Inspect(session) => format!("inspect {}", session.id),
            View::Stats(session) => format!("stats {}", session.id),
            View::List(most) => format!("list {most}"),
            View::Search(words) => format!("search {words}"),
            View::Export { session, to, file } => {
                format!("export {} to {to}, {}", session.id, file.display())
            }
            View::Brought(brought, into) => {
                format!("brought {} into {}", brought.from_session_id, into.id)
            }
            View::Explored(plan, explored) => {
                let rows = explored.rows.iter().map(|row| (row.answer.as_str(), row.score));
                format!("explored {} {:?}", plan.session.id, rows.collect::<Vec<_>>())
            }
        });
    }

    fn follow(&mut self, rows: usize) -> ShowRow {
        self.0.push(format!("follow {rows} rows"));
        Box::new(|_, _| {})
    }

    fn open_file(&mut self, file: &Path) -> Result<SessionId, String> {
        Err(format!("there is no file {}", file.display()))
    }

    fn formats(&self) -> Vec<String> {
        vec!["plain".to_owned()]
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::configured("")
    }

    /// Creates an environment with a system text.
    pub(crate) fn with_system() -> Self {
        Self::read(&format!("system = 'Be brief.'\n{CONFIG}"))
    }

    /// Creates an environment. Adds `more` to its configuration.
    pub(crate) fn configured(more: &str) -> Self {
        Self::read(&format!("{CONFIG}{more}"))
    }

    fn read(configuration: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, configuration).unwrap();
        let configured = Configured::read(&path).unwrap();
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let store = Arc::new(MemoryStore::default());
        let engine = Engine::new(store);
        let all = requests.clone();
        let foreground = Foreground::new(|| {
            let make = move |config: &forklore_llm::ModelConfig| {
                let name = ModelName { provider: "test".into(), model: config.model.clone() };
                Ok(Arc::new(Echo { name, requests: all.clone() }) as Arc<dyn Model>)
            };
            Host::with_models(engine, configured, Box::new(make))
        });
        Self { foreground: foreground.unwrap(), requests, shown: Arc::default(), views: Vec::new() }
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.foreground.host().engine()
    }

    pub(crate) fn start() -> Start {
        Start::in_workspace(Workspace::new("/demo"))
    }

    /// Types these lines into a conversation. Returns the output, with generated ids replaced.
    pub(crate) fn talk(&mut self, start: Start, lines: &[&str]) -> String {
        self.shown.lock().unwrap().clear();
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        let (engine, begun) = (self.engine().clone(), String::new());
        let mut typing = Typing { lines, shown: self.shown.clone(), engine, begun };
        let screen =
            Screen::new(Box::new(Shown(self.shown.clone())), Look { color: false, width: 80 });
        let mut names = Vec::new();
        let mut views = Names(&mut names);
        let chat = Chat::open(start, &self.foreground, &mut views, &mut typing, screen);
        chat.unwrap().run();
        self.views = names.iter().map(|name| named(name)).collect();
        let shown = self.shown.lock().unwrap();
        self.without_labels(named(std::str::from_utf8(&shown).unwrap()))
    }

    /// Replaces the labels that forks got without a name, because they differ in each run.
    fn without_labels(&self, shown: String) -> String {
        let sessions = self.engine().list(&ListRequest::default()).unwrap().sessions;
        let generated = sessions.iter().filter(|it| it.label == Label::of_fork(&it.id, 0));
        generated.fold(shown, |shown, it| shown.replace(it.label.as_str(), "[label]"))
    }
}

/// Replaces generated ids, and labels that are derived from ids, by text that is the same in each
/// run.
pub(crate) fn named(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, word) = rest.split_at(at);
        out.push_str(before);
        let len = word.find(|c: char| !c.is_ascii_hexdigit() && c != '-').unwrap_or(word.len());
        let (word, after) = word.split_at(len);
        let is_id = word.len() == 36 && word.matches('-').count() == 4;
        let is_label = word.len() == 8 && (out.ends_with("fork-") || out.ends_with("resume "));
        out.push_str(if is_id {
            "[id]"
        } else if is_label {
            "[8]"
        } else if word.len() == 10 && out.ends_with("delegat") {
            "e-[8]"
        } else if out.ends_with("it is free in ") {
            "[n]"
        } else {
            word
        });
        rest = after;
    }
    out + rest
}
