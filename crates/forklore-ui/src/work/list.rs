//! Reads lists of sessions: pages of all sessions, families and trees.

use forklore_api::{ListRequest, Session, TreeNode, TreeRequest};
use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId, SessionKind};
use forklore_engine::{Engine, Result};
use forklore_store::port::Filter;

use crate::model::{Row, cut_text};
use crate::request::Answer;
use crate::safe::Safe;

/// The maximum number of sessions of a family that the list shows.
const FAMILY: usize = 1_000;

pub(super) fn page(
    engine: &Engine,
    workspace: Option<Workspace>,
    trash: bool,
    after: Option<String>,
    limit: usize,
) -> Result<Answer> {
    let request = ListRequest { workspace, kind: None, since: None, limit, after, deleted: trash };
    let listing = engine.list(&request)?;
    Ok(Answer::List {
        rows: listing.sessions.iter().map(|header| row(engine, header)).collect(),
        next: listing.next,
        damaged: listing.problems.len(),
        now: engine.now(),
    })
}

/// Returns the row of a session, without its first words.
pub(super) fn row(engine: &Engine, header: &Header) -> Row {
    Row::of(&Session::of(header, engine.is_leased(header)))
}

pub(super) fn words(engine: &Engine, sessions: &[SessionId]) -> Result<Answer> {
    let headers = engine.store().headers(sessions)?;
    let living = headers.into_iter().flatten().filter(|header| header.deleted.is_none());
    let words = living.map(|header| {
        let words = engine.described(&header).first_words.unwrap_or_default();
        (header.id, Safe::line(&words))
    });
    Ok(Answer::Words(words.collect()))
}

pub(super) fn rows(
    engine: &Engine,
    sessions: &[SessionId],
    workspace: Option<&Workspace>,
) -> Result<Answer> {
    let headers = engine.store().headers(sessions)?.into_iter().flatten();
    let listed = headers.filter(|header| {
        let is_here = workspace.is_none_or(|workspace| *workspace == header.workspace);
        is_here && header.deleted.is_none() && header.kind != SessionKind::Delegate
    });
    Ok(Answer::Rows {
        rows: listed.map(|header| row(engine, &header)).collect(),
        now: engine.now(),
    })
}

pub(super) fn family(engine: &Engine, root: &SessionId) -> Result<Answer> {
    let filter = Filter { family: Some(root.clone()), ..Filter::default() };
    let found = engine.store().sessions(&filter, None, FAMILY)?.sound;
    Ok(Answer::Family(found.iter().map(|header| row(engine, header)).collect()))
}

pub(super) fn tree(engine: &Engine, session: &SessionId) -> Result<Answer> {
    let root = engine.store().header(session)?.root_id;
    let request = TreeRequest { session: Some(session.clone()), ..TreeRequest::default() };
    let mut trees = engine.tree(&request)?;
    engine.add_first_words(&mut trees);
    let rows = trees.nodes.iter().map(|node| node_row(node, &root)).collect();
    Ok(Answer::Tree { rows, now: engine.now() })
}

fn node_row(node: &TreeNode, root: &SessionId) -> Row {
    let marks = [
        (node.deleted, "deleted"),
        (node.missing, "missing"),
        (node.damaged, "damaged"),
        (node.cycle, "cycle"),
        (node.header.as_ref().is_some_and(|header| header.copy_of.is_some()), "copy"),
        (node.header.as_ref().is_some_and(|header| header.summary), "summary"),
    ];
    let marks: Vec<_> = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    let header = node.header.as_ref();
    Row {
        id: node.session_id.clone(),
        root: root.clone(),
        parent: header.and_then(|header| header.parent.clone()),
        kind: header.map_or(SessionKind::Branch, |header| header.kind),
        label: Safe::line(header.map_or("?", |header| header.label.as_str())),
        title: header.and_then(|header| header.title.as_deref()).map(Safe::line),
        words: Some(Safe::line(header.and_then(|it| it.first_words.as_deref()).unwrap_or(""))),
        agent: Safe::line(header.and_then(|header| header.dialect.as_deref()).unwrap_or("")),
        folder: Safe::line(header.map_or("", |header| header.workspace.as_str())),
        turns: header.map_or(0, |header| header.turns),
        messages: header.map_or(0, |header| header.head_index),
        updated: header.map_or(jiff::Timestamp::UNIX_EPOCH, |header| header.updated),
        running: header.is_some_and(|header| header.running),
        deleted: header.filter(|_| node.deleted).map(|header| header.updated),
        cut: header.and_then(|header| header.cut.as_ref()).map(cut_text).unwrap_or_default(),
        note: Safe::line(&marks.join(", ")),
        depth: node.depth,
    }
}
