//! `export` to plain JSON lines of `{role, content}`: the form that every tool reads.

use std::collections::BTreeMap;
use std::io::Write;

use forklore_model::{Content, Role, SessionId};
use forklore_store::port::At;
use serde::Serialize;

use crate::{Engine, Error, Result};

/// What an export wrote, and what it could not say in that form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Lines written.
    pub events: u64,
    /// Types that have no place in the form, with their counts.
    pub lossy: Vec<Lost>,
}

/// Events of a type that were left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many.
    pub count: u64,
}

#[derive(Serialize)]
struct PlainLine<'a> {
    role: Role,
    content: &'a Content,
}

impl Engine {
    /// Writes the conversation of a session as `{role, content}` lines.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, or what writing to `out` came to.
    pub fn export_plain(&self, session: &SessionId, out: &mut impl Write) -> Result<Exported> {
        self.show(session)?;
        let mut lost: BTreeMap<String, u64> = BTreeMap::new();
        let mut exported = Exported::default();
        for stored in self.events(session, At::Seq(0)) {
            let event = stored?.event;
            if !event.class.is_conversation() {
                *lost.entry(event.kind.as_str().to_owned()).or_default() += 1;
                continue;
            }
            let message = self.message(&event);
            let line = PlainLine { role: message.role, content: &message.content };
            let write = serde_json::to_writer(&mut *out, &line)
                .map_err(std::io::Error::from)
                .and_then(|()| out.write_all(b"\n"));
            write.map_err(|source| Error::io("writing the export", source))?;
            exported.events += 1;
        }
        exported.lossy = lost.into_iter().map(|(kind, count)| Lost { kind, count }).collect();
        Ok(exported)
    }
}
