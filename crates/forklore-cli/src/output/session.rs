//! Formats a session's header for users.

use forklore::core::header::Lease;
use forklore::core::{Header, SessionKind};
use forklore::store::lease_owner::readable;
use jiff::Timestamp;

use super::{Page, Tone, age, bytes, count, cut};

/// Returns the tone, which determines the color, for the label of a session of this kind.
pub(crate) fn label_tone(kind: SessionKind) -> Tone {
    if kind == SessionKind::Delegate { Tone::Delegate } else { Tone::Label }
}

/// Prints all facts of a session's header, the lease that a runtime has on the session now, and
/// whether the session's fork recorded a `summary`.
pub(crate) fn facts(page: &mut Page, header: &Header, lease: Option<&Lease>, summary: bool) {
    let look = page.look();
    let when = |at: Timestamp| format!("{}, {}", look.zone.time(at), age(look, at));
    page.put(label_tone(header.kind), &header.label)
        .put(Tone::Plain, "  ")
        .put(Tone::Id, &header.id);
    page.put(Tone::Dim, format!("  {}", header.kind)).end();
    page.fact("title", header.title.as_deref().unwrap_or_default());
    page.fact("history", history(header));
    page.fact("own", format!("{}, {}", count(header.own_events, "event"), bytes(header.own_bytes)));
    page.fact("head", format!("seq {}", header.head_seq()));
    if let (Some(parent), Some(location)) = (&header.parent_id, &header.cut) {
        page.fact("begins", format!("at {} of {parent}", cut(location)));
        if header.kind == SessionKind::Delegate {
            page.fact("owner", parent);
        }
        page.fact("family", &header.root_id);
    }
    let prefix = match header.strategy {
        Some(_) if header.detached => "a copy of its own".to_owned(),
        Some(strategy) => strategy.to_string(),
        None => String::new(),
    };
    page.fact("prefix", prefix);
    page.fact("summary", if summary { "recorded behind the history" } else { "" });
    page.fact("workspace", &header.workspace);
    page.fact("created", when(header.created));
    page.fact("updated", when(header.updated));
    if let Some(lease) = lease {
        page.fact("running", format!("held by {}", readable(&lease.owner)));
    }
    page.fact("acts for", header.principal.as_deref().unwrap_or_default());
    if let Some(permissions) = &header.permissions {
        let names: Vec<_> = permissions.iter().map(String::as_str).collect();
        page.fact("may", if names.is_empty() { "nothing".to_owned() } else { names.join(", ") });
    }
    page.fact("metadata", header.metadata.as_ref().map_or("", |data| data.get()));
    page.fact("agent", header.dialect.as_deref().unwrap_or_default());
    page.fact("file", header.source.as_deref().unwrap_or_default());
    if let Some(leaf) = &header.leaf {
        page.fact("leaf", leaf);
    }
    if let Some(original) = &header.copy_of {
        let same = count(original.index, "message");
        page.fact("copy of", format!("{}, its first {same}", original.session_id));
    }
}

fn history(header: &Header) -> String {
    let inherited = match header.inherited.inheritable {
        0 => String::new(),
        stored => format!(", {} inherited", count(stored, "event")),
    };
    let (messages, turns) =
        (count(header.counts.index, "message"), count(header.counts.turns, "turn"));
    format!("{messages}, {turns}{inherited}")
}
