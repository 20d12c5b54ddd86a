//! Compares the state of a store with that of the reference model.

use forklore_core::{Header, SessionId};

use super::call::timeless;
use super::model::{Model, Session};
use crate::scene::{Scene, forward};
use forklore_store::port::{At, Filter, Headers, LogEntry};

/// The sessions whose logs a comparison of a store with the reference model includes. Headers are
/// always compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Logs<'a> {
    All,
    Of(&'a SessionId),
}

/// Compares the store with the reference model.
///
/// # Errors
/// A description of the first difference.
pub(super) fn compare(scene: &Scene<'_>, model: &Model, logs: Logs<'_>) -> Result<(), String> {
    let all = Filter { deleted: true, ..Filter::default() };
    let listed = scene
        .store()
        .sessions(&all, None, 0)
        .and_then(Headers::all)
        .map_err(|error| error.to_string())?;
    let (mut dead, listed): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|header| header.deleted.is_some());
    let (buried, living): (Vec<_>, Vec<_>) =
        model.sessions.iter().partition(|reported| reported.is_deleted());
    let mut want: Vec<_> = living.iter().map(|reported| reported.header()).collect();
    want.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
    let now = scene.store().now();
    let listed: Vec<_> = listed.into_iter().map(|header| timeless(header, now)).collect();
    same("the list", &listed, &want)?;
    let mut buried: Vec<_> = buried.into_iter().map(Session::header).collect();
    dead.sort_by(|a, b| a.id.cmp(&b.id));
    buried.sort_by(|a, b| a.id.cmp(&b.id));
    let identities = |headers: Vec<Header>| headers.into_iter().map(identity).collect::<Vec<_>>();
    same("the list of the dead", &identities(dead), &identities(buried))?;
    for session in living {
        if logs == Logs::All || logs == Logs::Of(session.id()) {
            let header = scene.store().header(session.id()).map_err(|error| error.to_string())?;
            let header = timeless(header, scene.store().now());
            same("the header", &header, &session.header())?;
            same("the log", &log(scene, session)?, &session.log())?;
        }
    }
    Ok(())
}

fn log(scene: &Scene<'_>, session: &Session) -> Result<Vec<LogEntry>, String> {
    let mut all = Vec::new();
    loop {
        let query = forward(At::Seq(all.len() as u64), 1000, false);
        let page = scene.store().read(session.id(), &query);
        let page = page.map_err(|error| format!("{}: {error}", session.id()))?;
        all.extend(page.events);
        if !page.more {
            return Ok(all);
        }
    }
}

/// Returns the header fields that a deleted session must retain.
fn identity(header: Header) -> impl PartialEq + std::fmt::Debug {
    let Header {
        id, root_id, parent_id, kind, label, cut, usage, depth, deleted, inherited, ..
    } = header;
    ((id, root_id, parent_id, kind, label), (cut, usage, depth, deleted, inherited.inheritable))
}

pub(super) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    got: &T,
    want: &T,
) -> Result<(), String> {
    if got == want {
        return Ok(());
    }
    Err(format!("{what} is\n{got:#?}\nbut should be\n{want:#?}"))
}
