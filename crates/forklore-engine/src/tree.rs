//! `tree`: returns the sessions of families as trees of forks and delegates.

use std::collections::{HashMap, HashSet};

use forklore_api::{NodeHeader, TreeNode, TreeRequest, Trees};
use forklore_core::tree::{Placed, arrange};
use forklore_core::{Header, SessionId};
use forklore_store::port::{Filter, Headers, Problem};

pub use forklore_core::tree::Mark;

use crate::list::{add_new, cursor_of, cursor_text, next_page_size, parse_cursor, problems};
use crate::{Engine, Result};

/// Maximum number of families (all sessions with one root) in the answer to a tree request that
/// names no session.
const FAMILIES: usize = 50;
/// Number of sessions in the first read of the store while a tree request looks for families. Later
/// reads fetch more sessions.
const PAGE: usize = 2_000;

impl Engine {
    /// Returns the trees of sessions that the request selects. If the request names a session,
    /// returns the tree of its family, otherwise the trees of up to 50 families. Reads the headers
    /// of the sessions, and a few events of some sessions.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted; `invalid_args` if `after` in the
    /// request is not a valid cursor.
    pub fn tree(&self, request: &TreeRequest) -> Result<Trees> {
        if let Some(session) = &request.session {
            let root = self.show(session)?.root_id;
            let mut trees = Trees::default();
            self.family(&root, &mut trees)?;
            return Ok(trees);
        }
        let mut trees = Trees::default();
        for root in self.families(request, &mut trees)? {
            self.family(&root, &mut trees)?;
        }
        trees.nodes = under_originals(trees.nodes);
        Ok(trees)
    }

    /// Returns the root ids of up to 50 families, the most recently updated family first.
    fn families(&self, request: &TreeRequest, trees: &mut Trees) -> Result<Vec<SessionId>> {
        let filter = Filter { workspace: request.workspace.clone(), ..Filter::default() };
        let mut seen = HashSet::new();
        let mut roots = Vec::new();
        let mut after = request.after.as_deref().map(parse_cursor).transpose()?;
        let mut size = PAGE;
        loop {
            let Headers { sound: page, damaged } =
                self.store.sessions(&filter, after.as_ref(), size)?;
            add_new(&mut trees.problems, problems(&damaged));
            let full = page.len() == size;
            size = next_page_size(size);
            for header in page {
                let cursor = cursor_of(&header);
                if !seen.contains(&header.root_id) {
                    if roots.len() == FAMILIES {
                        trees.next = after.as_ref().map(cursor_text);
                        return Ok(roots);
                    }
                    seen.insert(header.root_id.clone());
                    roots.push(header.root_id);
                }
                after = Some(cursor);
            }
            if !full {
                return Ok(roots);
            }
        }
    }

    fn family(&self, root: &SessionId, trees: &mut Trees) -> Result<()> {
        let filter = Filter { family: Some(root.clone()), deleted: true, ..Filter::default() };
        let Headers { sound: family, damaged } = self.store.sessions(&filter, None, 0)?;
        let damaged = problems(&damaged);
        let placed = without_dead_ends(&family, arrange(&family));
        let nodes = placed.into_iter().map(|location| self.node(&family, &damaged, location));
        trees.nodes.extend(nodes);
        add_new(&mut trees.problems, damaged);
        Ok(())
    }

    fn node(&self, family: &[Header], damaged: &[Problem], placed: Placed) -> TreeNode {
        let unread = damaged.iter().any(|problem| problem.session_id.as_ref() == Some(&placed.id));
        let header = placed.at.and_then(|at| family.get(at));
        TreeNode {
            session_id: placed.id,
            header: header.map(|header| NodeHeader {
                parent: header.parent_id.clone(),
                label: header.label.clone(),
                title: header.title.clone().filter(|_| header.deleted.is_none()),
                first_words: None,
                kind: header.kind,
                dialect: header.dialect.clone(),
                cut: header.cut.clone(),
                workspace: header.workspace.clone(),
                event_count: header.inherited.inheritable,
                own_events: header.own_events,
                summary: self.has_summary(header),
                running: self.is_leased(header),
                head_seq: header.head_seq(),
                head_index: header.counts.index,
                turns: header.counts.turns,
                own_bytes: header.own_bytes,
                created: header.created,
                updated: header.updated,
                copy_of: header.copy_of.clone(),
            }),
            missing: placed.mark == Some(Mark::Missing) && !unread,
            damaged: unread,
            deleted: header.is_some_and(|header| header.deleted.is_some()),
            cycle: placed.mark == Some(Mark::Cycle),
            brought: Vec::new(),
            depth: placed.depth,
        }
    }
}

/// Moves each family whose root is a copy (it repeats the beginning of another session) below the
/// original session. Does so only if `nodes` contains the original.
fn under_originals(nodes: Vec<TreeNode>) -> Vec<TreeNode> {
    let mut families: Vec<Vec<TreeNode>> = Vec::new();
    for node in nodes {
        match families.last_mut() {
            Some(family) if node.depth > 0 => family.push(node),
            _ => families.push(vec![node]),
        }
    }
    let mut holder = HashMap::new();
    for (at, family) in families.iter().enumerate() {
        holder.extend(family.iter().map(|node| (node.session_id.clone(), at)));
    }
    let original = |at: usize| {
        let root = families.get(at)?.first()?.header.as_ref()?;
        let id = &root.copy_of.as_ref()?.session_id;
        Some((*holder.get(id)?, id.clone()))
    };
    // A family stays at the top level if its chain of originals leads back to the family itself.
    let leads_back = |at: usize| {
        let steps = std::iter::successors(original(at), |(next, _)| original(*next));
        steps.take(families.len() + 1).any(|(next, _)| next == at)
    };
    let mut below: HashMap<SessionId, Vec<usize>> = HashMap::new();
    let mut tops = Vec::new();
    for at in 0..families.len() {
        match original(at).filter(|_| !leads_back(at)) {
            Some((_, id)) => below.entry(id).or_default().push(at),
            None => tops.push(at),
        }
    }
    let mut families: Vec<_> = families.into_iter().map(Vec::into_iter).collect();
    let mut shown = Vec::new();
    let mut open: Vec<(usize, usize)> = tops.into_iter().rev().map(|at| (at, 0)).collect();
    while let Some((at, depth)) = open.pop() {
        let Some(mut node) = families.get_mut(at).and_then(Iterator::next) else { continue };
        node.depth += depth;
        open.push((at, depth));
        let copies = below.remove(&node.session_id).unwrap_or_default().into_iter().rev();
        open.extend(copies.map(|copy| (copy, node.depth + 1)));
        shown.push(node);
    }
    shown
}

/// Removes each deleted session that has only deleted descendants. `placed` are the nodes of a
/// family's tree.
fn without_dead_ends(family: &[Header], placed: Vec<Placed>) -> Vec<Placed> {
    let mut needed_above = 0;
    let mut shown: Vec<Placed> = Vec::with_capacity(placed.len());
    for placed in placed.into_iter().rev() {
        let header = placed.at.and_then(|at| family.get(at));
        let alive = header.is_none_or(|header| header.deleted.is_none());
        // This loop walks a pre-order backwards. A node that is retained and deeper than this one
        // is its descendant.
        let is_needed_below = needed_above > placed.depth;
        if alive || is_needed_below {
            needed_above = placed.depth;
            shown.push(placed);
        }
    }
    shown.reverse();
    shown
}
