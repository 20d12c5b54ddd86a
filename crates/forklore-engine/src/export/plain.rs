//! `export` as plain JSON lines of `{role, content}`. Most tools can read this format.

use std::io::Write;

use forklore_core::{Content, Role, SessionId};
use forklore_store::port::At;
use serde::Serialize;

use forklore_api::Exported;

use super::Losses;
use super::tool_names::ToolNames;
use crate::{Engine, Error, Result};

#[derive(Serialize)]
struct PlainLine<'a> {
    role: Role,
    content: &'a Content,
}

impl Engine {
    /// Writes the conversation of a session to `out`. Each message is one JSON line `{role,
    /// content}`. A tool result has the name of its tool, even if only the call states this name.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing, or the error of writing to
    /// `out`.
    pub fn export_plain(&self, session: &SessionId, out: &mut impl Write) -> Result<Exported> {
        self.export_plain_until(session, None, out)
    }

    /// Writes the first `end` messages of a session to `out`, each as one JSON line `{role,
    /// content}`. If `end` is `None`, writes all messages.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing, or the error of writing to
    /// `out`.
    pub fn export_plain_until(
        &self,
        session: &SessionId,
        end: Option<u64>,
        out: &mut dyn Write,
    ) -> Result<Exported> {
        self.show(session)?;
        let mut lost = Losses::new();
        let mut exported = Exported::default();
        let mut tools = ToolNames::default();
        for stored in self.events(session, At::Seq(0)) {
            let stored = stored?;
            if end.is_some_and(|end| stored.counts.index > end || exported.events == end) {
                break;
            }
            let event = stored.event;
            if !event.class.is_conversation() {
                *lost.entry(event.kind.as_str().to_owned()).or_default() += 1;
                continue;
            }
            let mut message = self.message(&event);
            tools.complete(&mut message, &event.effect.calls);
            let line = PlainLine { role: message.role, content: &message.content };
            let write = serde_json::to_writer(&mut *out, &line)
                .map_err(std::io::Error::from)
                .and_then(|()| out.write_all(b"\n"));
            write.map_err(|source| Error::io("writing the export", source))?;
            exported.events += 1;
        }
        exported.lossy = super::listed(lost);
        Ok(exported)
    }
}
