//! Resources: each session as a page of Markdown.

use std::collections::HashMap;
use std::io::{self, Write};

use forklore_api::ListRequest;
use forklore_core::{ErrorKind, Header, SessionId};
use forklore_page::Format;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};

use crate::answer::NOTICE_OF_PAGE;
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::session::SessionLine;

/// The beginning of the address of every resource.
const SCHEME: &str = "forklore://session/";
/// The number of sessions that a page of the list has.
const LISTED: usize = 50;
/// The maximum size of a session as a resource, in bytes.
const MOST_BYTES: usize = 100_000;

/// Lists the sessions, the most recent first.
pub(crate) fn list(
    access: &Access<'_>,
    after: Option<String>,
) -> Result<ListResourcesResult, Refusal> {
    let workspace = access.options.workspace.clone();
    let request = ListRequest { workspace, limit: LISTED, after, ..ListRequest::default() };
    let listing = access.engine.list(&request)?;
    let resources = listing.sessions.iter().map(|header| resource(access, header));
    let mut result = ListResourcesResult::with_all_items(resources.collect());
    result.next_cursor = listing.next;
    Ok(result)
}

fn resource(access: &Access<'_>, header: &Header) -> Resource {
    let line = SessionLine::of(access.engine, header);
    let agent = line.agent.as_deref().unwrap_or("forklore");
    let about = format!("{} turns, {agent}, {}", line.turns, line.updated);
    let named = Resource::new(format!("{SCHEME}{}", header.id), line.label)
        .with_description(about)
        .with_mime_type("text/markdown");
    match line.untrusted_title {
        Some(title) => named.with_title(title.as_str()),
        None => named,
    }
}

/// Returns the template of the addresses.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(format!("{SCHEME}{{session}}"), "session")
        .with_title("A session")
        .with_description(
            "An earlier session as Markdown. The session is an id, a part of an id, or last.",
        )
        .with_mime_type("text/markdown");
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// Returns the session that an address names.
pub(crate) fn session_of(access: &Access<'_>, uri: &str) -> Result<Header, Refusal> {
    let reference = uri.strip_prefix(SCHEME).ok_or_else(|| {
        let message = "there is no such resource";
        Refusal::new(ErrorKind::NotFound, message, "read forklore://session/ID")
    })?;
    access.session(reference)
}

/// Returns the sessions that these addresses name. Addresses that name none are left out.
pub(crate) fn sessions_of(access: &Access<'_>, uris: Vec<String>) -> HashMap<SessionId, String> {
    let named = uris.into_iter().filter_map(|uri| Some((session_of(access, &uri).ok()?.id, uri)));
    named.collect()
}

/// Returns a session as Markdown, up to a size.
pub(crate) fn read(access: &Access<'_>, uri: String) -> Result<ReadResourceResult, Refusal> {
    let header = session_of(access, &uri)?;
    let mut page = Bounded::default();
    let written =
        forklore_page::write(access.engine, &header.id, Format::Markdown, None, &mut page);
    if !page.full {
        written?;
    }
    let rest = match page.full {
        true => format!(
            "> This is the beginning. The tool messages shows the rest of session {}.\n\n",
            header.id
        ),
        false => String::new(),
    };
    let text = format!("> {NOTICE_OF_PAGE}\n\n{rest}{}", page.into_text());
    let contents = ResourceContents::text(text, uri).with_mime_type("text/markdown");
    Ok(ReadResourceResult::new(vec![contents]))
}

/// A writer that stops when it has enough.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    full: bool,
}

impl Bounded {
    fn into_text(self) -> String {
        // The limit may have cut a character.
        String::from_utf8_lossy(&self.bytes).trim_end_matches('\u{fffd}').to_owned()
    }
}

impl Write for Bounded {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let left = MOST_BYTES - self.bytes.len();
        let fitting = buffer.get(..left).unwrap_or(buffer);
        self.bytes.extend_from_slice(fitting);
        self.full = fitting.len() < buffer.len();
        if self.full {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
