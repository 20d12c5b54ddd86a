//! The interactive conversation at a terminal: its state and its screen.

mod lines;
mod names;
mod offers;
mod turn;

use std::sync::Arc;

use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_host::{Approvals, Condition, Conversation, PendingApproval, Start};
use tokio::sync::mpsc;

use crate::count::count;
use crate::input::Input;
use crate::screen::{Screen, Tone};
use crate::{Error, Foreground, Result, View, Views};

/// An interactive conversation at a terminal.
pub struct Chat<'a> {
    pub(crate) foreground: &'a Foreground,
    pub(crate) conversation: Conversation,
    pub(crate) views: &'a mut dyn Views,
    pub(crate) input: &'a mut dyn Input,
    pub(crate) screen: Screen,
    /// The title for a new session that is not stored yet.
    title: Option<String>,
    approvals: Arc<Approvals>,
    questions: mpsc::UnboundedReceiver<PendingApproval>,
}

impl<'a> Chat<'a> {
    /// Opens a conversation in the session that `start` names, or in a new one.
    ///
    /// # Errors
    /// When no model is configured, or the session that `start` names does not exist.
    pub fn open(
        start: Start,
        foreground: &'a Foreground,
        views: &'a mut dyn Views,
        input: &'a mut dyn Input,
        screen: Screen,
    ) -> Result<Self> {
        let (approvals, questions) = Approvals::channel();
        let title = start.title.clone();
        let opening = foreground.host().open(start, approvals.clone());
        let conversation = foreground.block_on(opening)?;
        Ok(Self { foreground, conversation, views, input, screen, title, approvals, questions })
    }

    fn greet(&mut self) {
        let model = self.conversation.model();
        let described = self.models().into_iter().find(|(name, _)| *name == model);
        let described = described.map(|(_, described)| described).unwrap_or_default();
        self.screen.words(&[
            (Tone::Strong, &model),
            (Tone::Dim, &format!(" ({described}) answers. /help shows what you can type.")),
        ]);
        match self.header() {
            Ok(header) => self.arrived(&header),
            Err(_) => {
                let title = self.title.clone().map(|title| format!(" {title}")).unwrap_or_default();
                let folder = self.conversation.workspace().as_str();
                let folder = format!("  a new conversation in {folder}");
                self.screen.words(&[
                    (Tone::Good, "On "),
                    (Tone::Label, "main"),
                    (Tone::Plain, &title),
                    (Tone::Dim, &folder),
                ]);
            }
        }
    }

    /// Shows an error message. Long session ids in it are replaced by labels or short ids.
    pub(crate) fn report(&mut self, error: &Error) {
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

    /// Returns the engine, which reads and writes the store.
    pub(crate) fn engine(&self) -> &Engine {
        self.foreground.host().engine()
    }

    /// Returns the header of the current session.
    pub(crate) fn header(&self) -> Result<Header> {
        Ok(self.foreground.block_on(self.conversation.header())?)
    }

    /// Returns the label of the current session, or `main` if its header cannot be read. A session
    /// that is not stored yet has no header.
    pub(crate) fn label(&self) -> String {
        self.header().map_or_else(|_| "main".to_owned(), |header| header.label.to_string())
    }

    /// Finds a session by its label, its id or `last`; see [`Conversation::find`].
    pub(crate) fn find(&self, word: &str) -> Result<Header> {
        Ok(self.foreground.block_on(self.conversation.find(word))?)
    }

    /// Shows a view, such as a session tree, through the program that embeds the conversation.
    pub(crate) fn view(&mut self, view: View) {
        self.screen.end_answer();
        self.views.show(view);
    }

    /// Switches to a stored session. Shows its label and size, and whether it is in use or was
    /// interrupted.
    pub(crate) fn switch_to(&mut self, header: &Header) -> Result<()> {
        self.foreground.block_on(self.conversation.switch(&header.id))?;
        self.arrived(header);
        Ok(())
    }

    /// Returns the name and a description of each configured model.
    pub(crate) fn models(&self) -> Vec<(String, String)> {
        let models = self.foreground.host().configured().config.models.iter();
        let described = models.map(|(name, model)| {
            let at = model.base_url.as_deref().map(|url| format!(" at {url}")).unwrap_or_default();
            (name.clone(), format!("{} {}{at}", model.provider.as_str(), model.model))
        });
        described.collect()
    }

    /// Returns the configured name of the current model. If the provider uses a different name,
    /// that name follows in parentheses.
    pub(crate) fn model_named(&self) -> String {
        let name = self.conversation.model();
        let configured = self.foreground.host().configured().config.models.get(&name);
        match configured.filter(|configured| configured.model != name) {
            Some(configured) => format!("{name} ({})", configured.model),
            None => name,
        }
    }

    /// Shows the label, title and size of the session that the conversation is in now. Then shows
    /// whether the session is in use or was interrupted.
    fn arrived(&mut self, header: &Header) {
        let title = header.title.clone().map(|title| format!(" {title}")).unwrap_or_default();
        let messages = count(header.counts.index, "message");
        let turns = count(header.counts.turns, "turn");
        let label = header.label.to_string();
        let size = format!("  {messages} in {turns}; /turns lists them, /replay shows them");
        self.screen.words(&[
            (Tone::Good, "On "),
            (Tone::Label, &label),
            (Tone::Plain, &title),
            (Tone::Dim, &size),
        ]);
        let condition = self.foreground.block_on(self.conversation.condition(header));
        if let Some(condition) = condition {
            let text = match condition {
                Condition::InUse => {
                    "another program is in the middle of a turn in it: a fork goes on beside it"
                }
                Condition::TurnInterrupted => {
                    "its last turn was broken off: /continue goes on with it"
                }
                Condition::AnswerCutShort => {
                    "its last answer was cut short: /continue asks for the rest"
                }
            };
            self.screen.line(Tone::Warn, text);
        }
        self.show_gauge();
    }

    /// Returns the id of the session to which the conversation can move back, or `None` if there is
    /// no such session.
    pub(crate) fn came_from(&self) -> Option<SessionId> {
        self.conversation.came_from()
    }
}
