//! Converts a session's header to quads: its lineage, agents, principal and statistics.

use std::collections::HashSet;

use forklore_core::Usage;
use forklore_core::{Cut, Header, SessionId, SessionKind};
use oxigraph::model::Quad;

use crate::about::About;
use crate::iri;
use crate::vocabulary as v;

/// The principals (on whose behalf sessions act) whose quads were already added. Many sessions have
/// the same principal.
pub(crate) type Principals = HashSet<String>;

/// Adds the RDF quads of a session's header to `out`. `usage` has the tokens and the cost of the
/// model calls that the session itself made.
pub(crate) fn describe(
    header: &Header,
    usage: Usage,
    principals: &mut Principals,
    out: &mut Vec<Quad>,
) {
    let graph = iri::session(&header.id);
    let mut about = About { out, graph: &graph, subject: graph.clone() };
    about.is(v::SESSION);
    about.is(v::ENTITY);
    about.text(v::SESSION_ID, header.id.as_str());
    about.put(v::FAMILY, iri::session(&header.root_id));
    about.text(v::KIND, header.kind.as_str());
    about.text(v::BRANCH, header.label.as_str());
    about.time(v::GENERATED_AT_TIME, header.created);
    about.time(v::UPDATED, header.updated);
    about.number(v::DEPTH, header.depth);
    about.number(v::OWN_EVENTS, header.own_events);
    about.text(v::WORKSPACE, header.workspace.as_str());
    lineage(header, &mut about);
    notes(header, &mut about);
    describe_usage(usage, &mut about);
    about.flag(v::DETACHED, header.detached);
    if let Some(tombstone) = header.deleted {
        about.time(v::INVALIDATED_AT_TIME, tombstone.deleted);
    }
    agents(header, principals, &mut about);
}

/// Adds where a session comes from: its parent, the cut in the parent at which it begins, and the
/// session of which it is a copy.
fn lineage(header: &Header, about: &mut About<'_>) {
    if let Some(parent) = &header.parent_id {
        about.put(v::PARENT_SESSION, iri::session(parent));
        // A delegate inherits no events, so it is not derived from its parent.
        if header.kind == SessionKind::Branch {
            about.put(v::WAS_DERIVED_FROM, iri::session(parent));
            fork(header, parent, about);
        }
    }
    if let Some(Cut { seq, index, message, turn, event_id, inheritable: stored }) = &header.cut {
        about.number(v::FORKED_AT_INDEX, *index);
        about.some(v::FORKED_AT_SEQ, *seq);
        about.some(v::FORKED_AT_MESSAGE, *message);
        about.some(v::FORKED_AT_TURN, *turn);
        about.number(v::INHERITED_EVENTS, *stored);
        if let Some(id) = event_id {
            about.text(v::FORKED_AT_EVENT_ID, id.as_str());
        }
    }
    if let Some(strategy) = header.strategy {
        about.text(v::STRATEGY, strategy.as_str());
    }
    if let Some(policy) = header.tool_calls {
        about.text(v::TOOL_CALL_POLICY, policy.as_str());
    }
    if let Some(copy) = &header.copy_of {
        about.put(v::COPY_OF, iri::session(&copy.session_id));
        about.number(v::COPY_OF_INDEX, copy.index);
    }
}

/// Adds the fork of `parent` that made the session. The fork begins and ends when the session was
/// created.
fn fork(header: &Header, parent: &SessionId, about: &mut About<'_>) {
    let fork = iri::fork(&header.id);
    about.put(v::WAS_GENERATED_BY, fork.clone());
    let About { out, graph, .. } = about;
    let mut activity = About { out, graph, subject: fork };
    activity.is(v::FORK);
    activity.is(v::ACTIVITY);
    activity.time(v::STARTED_AT_TIME, header.created);
    activity.time(v::ENDED_AT_TIME, header.created);
    activity.put(v::USED, iri::session(parent));
    activity.put(v::WAS_ASSOCIATED_WITH, iri::agent(&header.id));
}

/// Adds a session's title, permissions, metadata and configuration. For a deleted session, leaves
/// out title, metadata and configuration, even if the session is in the trash. For an imported
/// session, also adds its file, its record format, and the session that the agent would resume; the
/// session to resume is left out for a deleted session.
fn notes(header: &Header, about: &mut About<'_>) {
    if let Some(title) = header.title.as_ref().filter(|_| header.deleted.is_none()) {
        about.text(v::TITLE, title);
    }
    if let Some(permissions) = &header.permissions {
        about.flag(v::PERMISSION_CEILING, true);
        permissions.iter().for_each(|name| about.text(v::PERMISSION, name));
    }
    for (predicate, data) in [(v::METADATA, &header.metadata), (v::CONFIG, &header.config)] {
        if let Some(data) = data.as_ref().filter(|_| header.deleted.is_none()) {
            about.json(predicate, data.get());
        }
    }
    if let Some(dialect) = &header.dialect {
        about.text(v::DIALECT, dialect);
    }
    if let Some(leaf) = header.leaf.as_ref().filter(|_| header.deleted.is_none()) {
        about.put(v::LEAF, iri::session(leaf));
    }
    if let Some(path) = &header.source {
        about.text(v::SOURCE, path);
        about.put(v::HAD_PRIMARY_SOURCE, iri::file(path));
    }
}

/// Adds RDF quads with the token counts and the cost of model calls to the subject of `about`.
/// Leaves out each count or cost that is 0.
pub(crate) fn describe_usage(usage: Usage, about: &mut About<'_>) {
    let tokens = [
        (v::INPUT_TOKENS, usage.input),
        (v::OUTPUT_TOKENS, usage.output),
        (v::CACHED_TOKENS, usage.cached),
    ];
    for (predicate, tokens) in tokens.into_iter().filter(|(_, tokens)| *tokens > 0) {
        about.number(predicate, tokens);
    }
    if usage.cost > 0.0 {
        about.money(v::COST, usage.cost);
    }
}

/// Adds the agent that runs a session. Also adds on whose behalf this agent acts: the agent of the
/// calling session and the session's principal, if they exist.
fn agents(header: &Header, principals: &mut Principals, about: &mut About<'_>) {
    let runs = iri::agent(&header.id);
    about.put(v::WAS_ATTRIBUTED_TO, runs.clone());
    let About { out, graph, .. } = about;
    let mut agent = About { out, graph, subject: runs };
    agent.is(v::SOFTWARE_AGENT);
    agent.is(v::AGENT);
    if let Some(caller) = header.parent_id.as_ref().filter(|_| header.kind == SessionKind::Delegate)
    {
        agent.put(v::ACTED_ON_BEHALF_OF, iri::agent(caller));
    }
    let Some(principal) = &header.principal else { return };
    let named = iri::principal(principal);
    agent.put(v::ACTED_ON_BEHALF_OF, named.clone());
    about.put(v::PRINCIPAL, named.clone());
    if !principals.insert(principal.clone()) {
        return;
    }
    // The principal has its own named graph, because several sessions may have the same principal.
    let mut person = About { out: about.out, graph: &named.clone(), subject: named };
    person.is(v::AGENT);
    person.text(v::NAME, principal);
}
