//! Shows the errors of a conversation.

use super::Chat;
use crate::Error;
use crate::screen::Tone;

impl Chat<'_> {
    /// Shows an error message. Long session ids in it are replaced by labels or short ids.
    /// If the server of the model could not be reached, names its address.
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
        if let Error::Host(error) = error {
            let model = self.conversation.model();
            if let Some(text) = self.foreground.host().unreachable(Some(&model), error) {
                self.screen.line(Tone::Plain, &text);
                self.screen
                    .line(Tone::Dim, "/continue asks again, /model NAME lets another answer");
            }
        }
    }
}
