//! `tree`: draws families, or prints them as nested or flat JSON.

mod folded;

use forklore::Engine;
use forklore::api::{FlatNode, NestedNode, Tree};
use forklore::core::SessionId;
use forklore::engine::{TreeRequest, Trees};
use forklore::store::port::Problem;

use crate::app::App;
use crate::failure::Result;
use crate::output::tree::{Twig, draw};
use crate::output::{Output, Page, Tone, count};
use crate::session_ref::SessionRef;

use folded::{Shown, folded};

/// The default number of levels of a session tree that are drawn.
const LEVELS: u8 = 32;

const EXAMPLES: &str = "\
AGENT says whose records a session holds, and \"told of\" that another branch was brought there; that \
is looked for where the sessions shown wrote at most 20,000 events. Many forks of one session in which
nothing was written yet are one line, \"+ 997 empty forks\".

Examples:
  forklore tree                  every family of this folder
  forklore tree last             the family of the last session
  forklore tree last --depth 3
  forklore tree last --unfold
  forklore tree --all --flat --json | jq -r .session_id";

/// Draw sessions with their forks and sub-agents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Show the family of this session [default: every family of the folder]
    session: Option<String>,
    /// How many levels to show
    #[arg(long, value_name = "N", default_value_t = LEVELS, value_parser = clap::value_parser!(u8).range(1..=60))]
    depth: u8,
    /// Show every level; with --json print one session per line, parents first
    #[arg(long, conflicts_with = "depth")]
    flat: bool,
    /// Show every fork in which nothing was written yet, also if there are many
    #[arg(long)]
    unfold: bool,
    /// Show the page after an earlier one: the value `next` of its answer
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

impl Args {
    /// Returns the arguments with which `forklore tree` draws a session's family (all sessions with
    /// one root).
    pub(super) fn of(session: &SessionId) -> Self {
        Self {
            session: Some(session.to_string()),
            depth: LEVELS,
            flat: false,
            unfold: false,
            after: None,
        }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let reference = args.session.as_deref().map(SessionRef::parse).transpose()?;
    let named = reference.map(|named| app.session(&named, output)).transpose()?;
    let scope = app.scope()?;
    let engine = app.engine()?;
    let mut request = TreeRequest {
        session: named.map(|header| header.id),
        workspace: scope.workspace.clone(),
        after: args.after.clone(),
    };
    let current = match &request.session {
        Some(session) => Some(session.clone()),
        None => engine.resolve("last", &scope).ok().map(|header| header.id),
    };
    if args.flat {
        return flat(engine, &mut request, current.as_ref(), output);
    }
    let levels = usize::from(args.depth);
    let mut trees = engine.tree(&request)?;
    engine.mark_brought(&mut trees);
    engine.add_first_words(&mut trees);
    let answer = Tree {
        trees: if output.is_json() { NestedNode::of(&trees.nodes, levels) } else { Vec::new() },
        next: trees.next.clone(),
        problems: trees.problems.clone(),
    };
    let failure = super::damaged::failure(&answer.problems);
    let people = |page: &mut Page| {
        if trees.nodes.is_empty() {
            page.put(Tone::Plain, "No sessions in this folder.").end();
        } else {
            draw(page, &twigs(&trees, levels, current.as_ref(), args.unfold));
        }
    };
    output.page_through();
    output.answer_with(&answer, people, failure.as_ref())?;
    if trees.nodes.is_empty() && app.scope()?.workspace.is_some() {
        output.hint("forklore tree --all", "those of every folder");
    }
    if let Some(next) = &answer.next {
        output.hint(&format!("forklore tree --after {next}"), "more families");
    }
    super::damaged::tell(&answer.problems, output)
}

/// Prints every node of every session tree, without a limit on the depth.
fn flat(
    engine: &Engine,
    request: &mut TreeRequest,
    current: Option<&SessionId>,
    output: &mut Output,
) -> Result<()> {
    let mut problems: Vec<Problem> = Vec::new();
    output.page_through();
    loop {
        let mut trees = engine.tree(request)?;
        engine.mark_brought(&mut trees);
        engine.add_first_words(&mut trees);
        if output.is_json() {
            for node in &trees.nodes {
                let parent = node.header.as_ref().and_then(|found| found.parent.clone());
                let (node, depth) = (node.clone(), node.depth);
                output.record(&FlatNode { node, depth, parent_session_id: parent }, |_| {})?;
            }
        } else if !trees.nodes.is_empty() {
            output.page(|page| draw(page, &twigs(&trees, usize::MAX, current, true)))?;
        }
        super::damaged::add_new(&mut problems, &trees.problems);
        let Some(next) = trees.next else {
            return super::damaged::tell(&problems, output);
        };
        request.after = Some(next);
    }
}

/// Returns the lines of a tree drawing. If the tree has more levels than `levels`, a remark
/// replaces the sessions on the deeper levels and shows their number. Unless `unfold`, a remark
/// also replaces many empty forks of one session.
fn twigs(trees: &Trees, levels: usize, current: Option<&SessionId>, unfold: bool) -> Vec<Twig> {
    let mut twigs: Vec<Twig> = Vec::with_capacity(trees.nodes.len());
    let mut hidden = 0;
    let count_hidden = |twigs: &mut Vec<Twig>, hidden: &mut usize| {
        if *hidden > 0 {
            let below = count(std::mem::take(hidden) as u64, "session");
            twigs.push(Twig::remark(levels, format!("... {below} below")));
        }
    };
    let shown =
        if unfold { vec![Shown::Itself; trees.nodes.len()] } else { folded(&trees.nodes, current) };
    for (node, shown) in trees.nodes.iter().zip(shown) {
        if node.depth >= levels {
            hidden += 1;
            continue;
        }
        count_hidden(&mut twigs, &mut hidden);
        match shown {
            Shown::Itself => {}
            Shown::Nothing => continue,
            Shown::Folded(forks) => {
                let forks = format!("+ {}", count(forks as u64, "empty fork"));
                twigs.push(Twig::remark(node.depth, forks));
                continue;
            }
        }
        let mut twig = Twig::of_node(node);
        if let Some(dialect) = node.header.as_ref().and_then(|found| found.dialect.as_deref()) {
            twig.wrote(dialect);
        }
        if Some(&node.session_id) == current {
            twig.note("here");
        }
        twigs.push(twig);
    }
    count_hidden(&mut twigs, &mut hidden);
    twigs
}
