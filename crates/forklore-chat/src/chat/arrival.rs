//! Shows the session in which the user arrives.

use forklore_core::Header;
use forklore_host::{Condition, Exchange};

use super::Chat;
use crate::Result;
use crate::count::count;
use crate::screen::Tone;

/// The maximum number of lines that are shown of the last question.
const QUESTION: usize = 3;
/// The maximum number of lines that are shown of the last answer.
const ANSWER: usize = 8;

impl Chat<'_> {
    /// Shows the model, and the session in which the conversation begins.
    pub(super) fn greet(&mut self) {
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

    /// Switches to a stored session. Shows its label and size, and whether it is in use or was
    /// interrupted.
    pub(crate) fn switch_to(&mut self, header: &Header) -> Result<()> {
        self.foreground.block_on(self.conversation.switch(&header.id))?;
        self.arrived(header);
        Ok(())
    }

    /// Shows the label, title and size of the session that the conversation is in now, and its
    /// last turn. Then shows whether the session is in use or was interrupted.
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
        self.show_last_exchange();
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
        self.know(header);
    }

    /// Shows the last question of the session, and the end of its answer.
    fn show_last_exchange(&mut self) {
        let exchange = self.foreground.block_on(self.conversation.last_exchange());
        // An error is not reported here: reading the session reports it.
        let Some(Exchange { question, answer, between }) = exchange.ok().flatten() else { return };
        self.screen.excerpt(Tone::Strong, &question, "> ", QUESTION);
        if between > 0 {
            let text = format!("... {} between; /replay shows them", count(between, "message"));
            self.screen.line(Tone::Dim, &text);
        }
        self.screen.answer_end(&answer, ANSWER);
    }
}
