//! A terminal that types what a test says, and a model that says what the prompt asks for.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex};

use forklore_agent::model::{
    End, Model, ModelError, ModelErrorKind, ModelName, ModelResult, Piece, Pieces, Request,
    TokenUsage,
};
use forklore_chat::input::{Input, Line, Offered};
use forklore_chat::markdown::Look;
use forklore_chat::screen::Screen;
use forklore_chat::{Chat, Configured, Program, Start, Supplies};
use forklore_core::Role;
use forklore_core::workspace::Workspace;
use forklore_engine::Engine;
use forklore_store::memory::MemoryStore;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};

pub(crate) const CONFIG: &str = "default_model = 'one'\n\
    [models.one]\nprovider = 'openai'\nmodel = 'm1'\nbase_url = 'http://127.0.0.1:9/v1'\n\
    [models.two]\nprovider = 'openai'\nmodel = 'm2'\nbase_url = 'http://127.0.0.1:9/v1'\n";

/// Answers `<model> heard: <prompt>`; to `fail` nothing.
struct Echo {
    name: ModelName,
    heard: Arc<Mutex<Vec<Request>>>,
}

impl Model for Echo {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn context_window(&self) -> Option<u64> {
        None
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<Pieces<'a>>> {
        self.heard.lock().unwrap().push(request.clone());
        let last = request.messages.iter().rev().find(|message| message.role == Role::User);
        let last = last.map(forklore_core::Message::plain_text).unwrap_or_default();
        Box::pin(async move {
            if last.contains("fail") {
                let (provider, message) = ("test".to_owned(), "it does not want to".to_owned());
                let kind = ModelErrorKind::Invalid;
                return Err(ModelError { provider, message, kind, source: None });
            }
            let usage = TokenUsage {
                input: Some(100),
                output: Some(5),
                cached: Some(80),
                ..TokenUsage::default()
            };
            let text = format!("{} heard: {last}", self.name.model);
            let pieces = text.split_inclusive(' ').map(|piece| Ok(Piece::Text(piece.to_owned())));
            let end = Piece::End(End { usage, ..End::default() });
            let pieces: Vec<ModelResult<Piece>> = pieces.chain([Ok(end)]).collect();
            Ok(stream::iter(pieces).boxed())
        })
    }

    fn body(&self, _: &Request) -> ModelResult<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// A store and what a conversation needs.
pub(crate) struct World {
    pub(crate) supplies: Supplies,
    pub(crate) heard: Arc<Mutex<Vec<Request>>>,
    shown: Arc<Mutex<Vec<u8>>>,
    pub(crate) verbs: Vec<String>,
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

/// Types lines; each is shown as it would be seen.
struct Typing {
    lines: VecDeque<String>,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Typing {
    fn next(&mut self, prompt: &str) -> Option<String> {
        let line = self.lines.pop_front()?;
        let mut shown = self.shown.lock().unwrap();
        shown.extend_from_slice(format!("{prompt}{line}\n").as_bytes());
        Some(line)
    }
}

impl Input for Typing {
    fn line(&mut self, prompt: &str, _: Offered) -> Line {
        match self.next(prompt).as_deref() {
            None => Line::End,
            Some("^C") => Line::Interrupted,
            Some(line) => Line::Said(line.to_owned()),
        }
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        self.next(question)
    }
}

struct Verbs<'a>(&'a mut Vec<String>);

impl Program for Verbs<'_> {
    fn verb(&mut self, words: &[&str]) {
        self.0.push(words.join(" "));
    }

    fn forms(&self) -> Vec<String> {
        vec!["plain".to_owned()]
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::configured("")
    }

    /// The same with more in the configuration.
    pub(crate) fn configured(more: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, format!("{CONFIG}{more}")).unwrap();
        let configured = Configured::read(&path).unwrap();
        let heard: Arc<Mutex<Vec<Request>>> = Arc::default();
        let store = Arc::new(MemoryStore::default());
        let engine = Engine::new(store.clone());
        let all = heard.clone();
        let supplies = Supplies::with_models(
            engine,
            configured,
            Box::new(move |config| {
                let name = ModelName { provider: "test".into(), model: config.model.clone() };
                Ok(Arc::new(Echo { name, heard: all.clone() }))
            }),
        )
        .unwrap();
        Self { supplies, heard, shown: Arc::default(), verbs: Vec::new() }
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.supplies.kernel().engine()
    }

    pub(crate) fn start() -> Start {
        Start {
            session: None,
            title: None,
            workspace: Workspace::new("/demo"),
            model: None,
            wait: std::time::Duration::ZERO,
        }
    }

    /// Types these lines into a conversation; gives what was seen, with ids by name.
    pub(crate) fn talk(&mut self, start: Start, lines: &[&str]) -> String {
        self.shown.lock().unwrap().clear();
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        let mut typing = Typing { lines, shown: self.shown.clone() };
        let screen =
            Screen::new(Box::new(Shown(self.shown.clone())), Look { color: false, width: 80 });
        let mut verbs = Vec::new();
        let mut program = Verbs(&mut verbs);
        let chat = Chat::open_at(start, &self.supplies, &mut program, &mut typing, screen);
        chat.unwrap().talk();
        self.verbs = verbs.iter().map(|verb| named(verb)).collect();
        let shown = self.shown.lock().unwrap();
        named(std::str::from_utf8(&shown).unwrap())
    }
}

/// A text in which ids and the labels made from them are the same in each run.
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
        } else if out.ends_with("it is free in ") {
            "[n]"
        } else {
            word
        });
        rest = after;
    }
    out + rest
}
