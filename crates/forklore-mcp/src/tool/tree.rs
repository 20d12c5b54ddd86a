//! `tree`: the families of sessions, with their forks.

use forklore_api::{TreeNode, TreeRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verb::Verb;
use crate::answer::{Fitting, LIST_CHARS, Noticed, Quoted};
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::session::title;

pub(super) struct TreeTool;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Input {
    /// Show only the family of this session: an id, a part of an id, a label, a title, or last.
    session: Option<String>,
    /// Show the sessions of this folder, an absolute path. Default: the folder in which the agent
    /// works.
    workspace: Option<String>,
    /// Show the sessions of every folder.
    everywhere: bool,
    /// `next_cursor` of an earlier answer: show what follows.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The sessions, each after its parent, with its depth.
    nodes: Vec<Node>,
    /// Pass this as `cursor` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Node {
    /// 0 for the first session of a family, 1 for its forks and sub-agents, and so on.
    depth: usize,
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The position in the parent at which the session begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    untrusted_title: Option<Quoted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    running: bool,
    /// deleted, missing or damaged, if the session cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
}

impl Verb for TreeTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "tree";
    const TITLE: &'static str = "Show the family tree of sessions";
    const DESCRIPTION: &'static str = "Show sessions as trees: which session was forked from \
        which, and where. Use it to find the other attempts at a task, or what became of a \
        session after it was forked, before you compare two of them with diff.";

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let session = input.session.as_deref().map(|text| access.session(text)).transpose()?;
        let (skip, after) = position(input.cursor.as_deref())?;
        let request = TreeRequest {
            session: session.map(|header| header.id),
            workspace: access.folder(input.workspace.as_deref(), input.everywhere),
            after: after.map(str::to_owned),
        };
        let mut trees = access.engine.tree(&request)?;
        access.engine.add_first_words(&mut trees);
        let mut page = Fitting::new(LIST_CHARS);
        let all = trees.nodes.iter().skip(skip).all(|node| page.push(Node::of(node)));
        let next_cursor = match (all, trees.next) {
            (false, _) => Some(cursor(skip + page.len(), after)),
            (true, next) => next.map(|next| cursor(0, Some(&next))),
        };
        Ok(Noticed::of(Output { nodes: page.into_items(), next_cursor }))
    }
}

impl Node {
    fn of(node: &TreeNode) -> Self {
        let header = node.header.as_ref();
        let words = header.and_then(|header| header.title.as_ref().or(header.first_words.as_ref()));
        let states =
            [(node.deleted, "deleted"), (node.missing, "missing"), (node.damaged, "damaged")];
        Self {
            depth: node.depth,
            session_id: node.session_id.to_string(),
            label: header.map(|header| header.label.to_string()),
            kind: header.map(|header| header.kind.as_str()),
            forked_at: header
                .and_then(|header| header.cut.as_ref())
                .map(|cut| cut.selector().to_string()),
            untrusted_title: words.map(|words| title(words)),
            turns: header.map(|header| header.turns),
            updated: header.map(|header| header.updated.to_string()),
            running: header.is_some_and(|header| header.running),
            state: states.into_iter().find_map(|(is_so, name)| is_so.then_some(name)),
        }
    }
}

/// Writes a cursor: how many nodes of a page of the engine to skip, and that page's own cursor.
fn cursor(skip: usize, after: Option<&str>) -> String {
    format!("{skip}|{}", after.unwrap_or_default())
}

fn position(cursor: Option<&str>) -> Result<(usize, Option<&str>), Refusal> {
    let Some(cursor) = cursor else { return Ok((0, None)) };
    let parsed = cursor.split_once('|').and_then(|(skip, after)| {
        let after = Some(after).filter(|after| !after.is_empty());
        Some((skip.parse().ok()?, after))
    });
    parsed.ok_or_else(|| {
        let message = "the argument cursor is no cursor of tree";
        Refusal::invalid(message, "pass next_cursor of an earlier answer")
    })
}
