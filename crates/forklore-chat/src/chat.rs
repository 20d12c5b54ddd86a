//! A conversation at a terminal.

use std::sync::Arc;
use std::time::Duration;

use forklore_agent::Branched;
use forklore_agent::{AgentSession, Equipment, NewSession};
use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, Fork, ListRequest, Scope, Summarize};
use tokio::sync::mpsc;

use crate::approve::{Asked as Question, AtTerminal};
use crate::command::{Asked, COMMANDS, Next, nearest, parse};
use crate::input::{Input, Line, Offered};
use crate::interrupts::Interrupts;
use crate::screen::{Screen, Tone};
use crate::{Error, Result, Stop, Supplies, Waiting};

/// Sessions and places that complete a line.
const OFFERED: usize = 100;

/// The program around a conversation.
pub trait Program {
    /// Carries out a verb as if its words stood behind `forklore`; shows what it says, and what is
    /// wrong.
    fn verb(&mut self, words: &[&str]);

    /// The agents in whose form a session can be written.
    fn forms(&self) -> Vec<String>;
}

/// Where a conversation begins.
#[derive(Clone, Debug)]
pub struct Start {
    /// The session to go on with; none begins one.
    pub session: Option<SessionId>,
    /// What a new one is called.
    pub title: Option<String>,
    /// The folder that new sessions belong to.
    pub workspace: Workspace,
    /// The model that answers; none is the default.
    pub model: Option<String>,
    /// How long a turn waits for a session that another program holds.
    pub wait: Duration,
}

/// A conversation: a session that one is in, and how one came there.
pub struct Chat<'a> {
    pub(crate) supplies: &'a Supplies,
    pub(crate) program: &'a mut dyn Program,
    pub(crate) input: &'a mut dyn Input,
    pub(crate) screen: Screen,
    pub(crate) session: AgentSession,
    /// The sessions one was in before, the last one last.
    pub(crate) trail: Vec<SessionId>,
    /// The files that go along with what is said next.
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) workspace: Workspace,
    /// What a session is called that was just begun.
    title: Option<String>,
    pub(crate) model: String,
    pub(crate) wait: Duration,
    pub(crate) approve: Arc<AtTerminal>,
    pub(crate) questions: mpsc::UnboundedReceiver<Question>,
}

impl<'a> Chat<'a> {
    /// Opens a conversation.
    ///
    /// # Errors
    /// When no model is configured, or the session is not there.
    pub fn open_at(
        start: Start,
        supplies: &'a Supplies,
        program: &'a mut dyn Program,
        input: &'a mut dyn Input,
        screen: Screen,
    ) -> Result<Self> {
        let (model, _) = supplies.configured().model(start.model.as_deref())?;
        let (approve, questions) = AtTerminal::new();
        let mut equipment = supplies.equipment(model, approve.clone())?;
        equipment.settings.lease_wait = start.wait;
        let session = supplies.session(&start, equipment)?;
        Ok(Self {
            supplies,
            program,
            input,
            screen,
            session,
            trail: Vec::new(),
            waiting: Vec::new(),
            workspace: start.workspace,
            title: start.title,
            model: model.to_owned(),
            wait: start.wait,
            approve,
            questions,
        })
    }

    /// Talks until the person leaves, or something ends the conversation: then it says what.
    pub fn talk(&mut self) -> Option<Stop> {
        self.greet();
        let mut leaving = false;
        // What is pressed while the terminal is not read.
        let mut pressed: Option<Interrupts> = None;
        let stopped = loop {
            let prompt = format!("{}> ", self.label());
            let offered = self.offered();
            match pressed.take().and_then(|mut pressed| pressed.heard()) {
                Some(Stop::Interrupt) => break None,
                Some(stop) => break Some(stop),
                None => {}
            }
            match self.input.line(&prompt, offered) {
                Line::Said(line) => {
                    leaving = false;
                    match self.line(&line) {
                        Ok(Next::Line) => {}
                        Ok(Next::End) => break None,
                        Err(error) => self.tell(&error),
                    }
                }
                Line::Interrupted if leaving => break None,
                Line::Interrupted => {
                    leaving = true;
                    pressed = Some(Interrupts::listen(self.supplies.runtime()));
                    self.screen.line(Tone::Dim, "Ctrl-D or /quit leaves; so does Ctrl-C again");
                }
                Line::End => break None,
                Line::Stopped(stop) => {
                    self.screen.leave_line();
                    break Some(stop);
                }
            }
        };
        self.supplies.runtime().block_on(self.session.cleanup(true));
        if let Ok(header) = self.header() {
            let resume = format!("forklore resume {}", self.short(&header.id));
            self.screen.words(&[(Tone::Dim, "To go on: "), (Tone::Strong, &resume)]);
        }
        stopped
    }

    fn line(&mut self, line: &str) -> Result<Next> {
        match parse(line) {
            Asked::Nothing => Ok(Next::Line),
            Asked::Say(text) => {
                self.turn(Some(&text))?;
                Ok(Next::Line)
            }
            Asked::Command(at, rest) => match COMMANDS.get(at) {
                Some(command) => (command.run)(self, rest),
                None => Ok(Next::Line),
            },
            Asked::Unknown(name) => {
                let meant = nearest(name).map(|name| format!("did you mean /{name}? "));
                let meant = meant.unwrap_or_default();
                Err(Error::words(format!("there is no /{name}; {meant}/help shows what there is")))
            }
        }
    }

    fn greet(&mut self) {
        let described = self.models().into_iter().find(|(name, _)| *name == self.model);
        let described = described.map(|(_, described)| described).unwrap_or_default();
        let model = self.model.clone();
        self.screen.words(&[
            (Tone::Strong, &model),
            (Tone::Dim, &format!(" ({described}) answers. /help shows what you can type.")),
        ]);
        match self.header() {
            Ok(header) => self.arrived(&header),
            Err(_) => {
                let title = self.title.clone().map(|title| format!(" {title}")).unwrap_or_default();
                let place = format!("  a new conversation in {}", self.workspace.as_str());
                self.screen.words(&[
                    (Tone::Good, "On "),
                    (Tone::Label, "main"),
                    (Tone::Plain, &title),
                    (Tone::Dim, &place),
                ]);
            }
        }
    }

    /// Says what is wrong, and what can be done.
    pub(crate) fn tell(&mut self, error: &Error) {
        self.screen.end_answer();
        let message = self.with_names(&error.to_string());
        let mut lines = message.lines();
        let first = lines.next().unwrap_or_default().to_owned();
        self.screen.words(&[(Tone::Bad, "error: "), (Tone::Plain, &first)]);
        let rest = lines.collect::<Vec<_>>().join("\n");
        if !rest.is_empty() {
            self.screen.block(Tone::Plain, &rest, "");
        }
    }

    /// The verbs over the store.
    pub(crate) fn engine(&self) -> Engine {
        self.supplies.kernel().engine().clone()
    }

    /// The session one is in, as it is stored.
    pub(crate) fn header(&self) -> Result<Header> {
        match self.supplies.kernel().engine().show(&self.session.id()) {
            Ok(header) => Ok(header),
            Err(error) if error.kind() == forklore_core::ErrorKind::NotFound => {
                Err(Error::words("nothing was said yet"))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The label of the session one is in.
    pub(crate) fn label(&self) -> String {
        self.header().map_or_else(|_| "main".to_owned(), |header| header.label.to_string())
    }

    /// The session that a word names: a label of this family, or as on a command line.
    pub(crate) fn find(&self, word: &str) -> Result<Header> {
        let engine = self.supplies.kernel().engine();
        if let Ok(here) = self.header() {
            let branches = engine.branches(&here.id)?.branches;
            let label = word.strip_prefix('@').unwrap_or(word);
            if let Some(branch) = branches.iter().find(|branch| branch.label.as_str() == label) {
                return Ok(engine.show(&branch.session_id)?);
            }
        }
        let scope = Scope { workspace: Some(self.workspace.clone()) };
        Ok(engine.resolve(word, &scope)?)
    }

    /// A verb of the program.
    pub(crate) fn verb(&mut self, words: &[&str]) {
        self.screen.end_answer();
        self.program.verb(words);
    }

    /// Another conversation.
    pub(crate) fn begin(&mut self, title: Option<String>) {
        let new = NewSession { title, ..NewSession::in_workspace(self.workspace.clone()) };
        let session = self.supplies.kernel().create(new, self.session.equipment());
        self.leave();
        self.session = session;
    }

    /// A fork of the session one is in, where one still is.
    pub(crate) fn fork(&mut self, request: Fork) -> Result<Branched> {
        let session = self.session.clone();
        Ok(self.supplies.runtime().block_on(async move { session.fork(request).await })?)
    }

    /// On in a session that was just made.
    pub(crate) fn go_to(&mut self, session: AgentSession) -> Result<()> {
        self.leave();
        self.session = session;
        Ok(())
    }

    /// On in a stored session.
    pub(crate) fn switch_to(&mut self, header: &Header) -> Result<()> {
        if header.id == self.session.id() {
            return Err(Error::words("you are there already"));
        }
        let before = self.session.id();
        let said = self.header().is_ok();
        self.open(&header.id)?;
        if said {
            self.trail.push(before);
        }
        self.arrived(header);
        Ok(())
    }

    /// Opens a stored session in place of the one that one is in.
    pub(crate) fn open(&mut self, id: &SessionId) -> Result<()> {
        let equipment = self.session.equipment();
        let opening = self.supplies.kernel().open(id, equipment);
        self.session = self.supplies.runtime().block_on(opening)?;
        Ok(())
    }

    /// Lets another model answer, from the next turn on.
    pub(crate) fn use_model(&mut self, name: &str) -> Result<()> {
        let other = self.supplies.equipment(name, self.approve.clone())?;
        let wait = self.wait;
        self.session.equip(|equipment: &mut Equipment| {
            *equipment = other;
            equipment.settings.lease_wait = wait;
        });
        name.clone_into(&mut self.model);
        Ok(())
    }

    /// The models there are, each with a description.
    pub(crate) fn models(&self) -> Vec<(String, String)> {
        let models = self.supplies.configured().config.models.iter();
        let described = models.map(|(name, model)| {
            let at = model.base_url.as_deref().map(|url| format!(" at {url}")).unwrap_or_default();
            (name.clone(), format!("{} {}{at}", model.provider.as_str(), model.model))
        });
        described.collect()
    }

    /// The model that answers, by its name in the configuration, with what its provider calls it
    /// where that is another name.
    pub(crate) fn model_named(&self) -> String {
        let there = self.supplies.configured().config.models.get(&self.model);
        match there.filter(|there| there.model != self.model) {
            Some(there) => format!("{} ({})", self.model, there.model),
            None => self.model.clone(),
        }
    }

    /// A fork with a summary by the model that answers behind the history. An interruption makes
    /// no fork.
    pub(crate) fn fork_with_summary(
        &mut self,
        request: Fork,
    ) -> Result<(Branched, Option<Summarize>)> {
        let waited = format!("{} sums up", self.model);
        let session = self.session.clone();
        let heard = session.subscribe(1);
        let forking = async move { Ok(session.fork_with_summary(request).await?) };
        self.watch(heard, &waited, forking)
    }

    fn leave(&mut self) {
        if self.header().is_ok() {
            self.trail.push(self.session.id());
        }
    }

    /// Says where one is now.
    fn arrived(&mut self, header: &Header) {
        let title = header.title.clone().map(|title| format!(" {title}")).unwrap_or_default();
        let messages = crate::command::count(header.counts.index, "message");
        let turns = crate::command::count(header.counts.turns, "turn");
        let said = format!("{messages} in {turns}");
        let label = header.label.to_string();
        self.screen.words(&[
            (Tone::Good, "On "),
            (Tone::Label, &label),
            (Tone::Plain, &title),
            (Tone::Dim, &format!("  {said}; /turns lists them, /replay shows them")),
        ]);
        let engine = self.supplies.kernel().engine();
        if self.supplies.kernel().is_held(header) {
            let text = "another program is in the middle of a turn in it: a fork goes on beside it";
            self.screen.line(Tone::Warn, text);
        } else if let Ok(Some(_)) = engine.broken_off(&header.id) {
            let text = "its last turn was broken off: /continue goes on with it";
            self.screen.line(Tone::Warn, text);
        } else if let Ok(true) = engine.is_cut_short(&header.id) {
            let text = "its last answer was cut short: /continue asks for the rest";
            self.screen.line(Tone::Warn, text);
        }
        self.filling();
    }

    fn offered(&self) -> Offered {
        let engine = self.supplies.kernel().engine();
        let mut offered = Offered {
            models: self.supplies.configured().config.models.keys().cloned().collect(),
            forms: self.program.forms(),
            ..Offered::default()
        };
        if let Ok(here) = self.header() {
            if let Ok(family) = engine.branches(&here.id) {
                let labels = family.branches.iter().take(OFFERED);
                offered.sessions.extend(labels.map(|branch| format!("@{}", branch.label)));
            }
            let turns = (1..=here.counts.turns).rev().take(OFFERED);
            offered.cuts.extend(turns.map(|turn| format!("turn:{turn}")));
            let messages = (0..here.counts.index).rev().take(OFFERED);
            offered.cuts.extend(messages.map(|message| format!("message:{message}")));
            offered.cuts.extend(["start".to_owned(), "end".to_owned()]);
        }
        let workspace = Some(self.workspace.clone());
        let request = ListRequest { workspace, limit: OFFERED, ..ListRequest::default() };
        if let Ok(listing) = engine.list(&request) {
            offered.sessions.extend(listing.sessions.iter().map(|header| header.id.to_string()));
        }
        offered
    }
}
