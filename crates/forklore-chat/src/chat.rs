//! The interactive conversation at a terminal: its state and its screen.

mod arrival;
mod find;
mod lines;
mod names;
mod offers;
mod others;
mod report;
mod rule;
mod turn;

pub(crate) use find::is_path;

use std::sync::Arc;

use forklore_core::Header;
use forklore_engine::Engine;
use forklore_host::{Approvals, Conversation, PendingApproval, Start};
use tokio::sync::mpsc;

use others::Seen;

use crate::input::Input;
use crate::screen::Screen;
use crate::{Foreground, Result, View, Views};

/// An interactive conversation at a terminal.
pub struct Chat<'a> {
    pub(crate) foreground: &'a Foreground,
    pub(crate) conversation: Conversation,
    pub(crate) views: &'a mut dyn Views,
    pub(crate) input: &'a mut dyn Input,
    pub(crate) screen: Screen,
    /// The title for a new session that is not stored yet. `None` if the session gets no title.
    title: Option<String>,
    approvals: Arc<Approvals>,
    questions: mpsc::UnboundedReceiver<PendingApproval>,
    seen: Seen,
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
        let seen = Seen::default();
        Ok(Self {
            foreground,
            conversation,
            views,
            input,
            screen,
            title,
            approvals,
            questions,
            seen,
        })
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

    /// Shows a view, such as a session tree, through the program that embeds the conversation.
    pub(crate) fn view(&mut self, view: View) {
        self.screen.end_answer();
        self.views.show(view);
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
}
