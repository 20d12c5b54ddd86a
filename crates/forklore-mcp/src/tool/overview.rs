//! `overview`: what a session was about, without reading it.

use std::collections::{BTreeMap, VecDeque};

use forklore_api::{Record, Relative};
use forklore_core::describe::file_edits;
use forklore_core::{Content, Message, Part, Role, SessionKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::verb::Verb;
use crate::answer::{Noticed, Quoted};
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::session::{SessionLine, path, title};

pub(super) struct OverviewTool;

/// How many of the first and of the last requests are shown, and how much of each.
const FIRST: usize = 3;
const LAST: usize = 12;
const REQUEST: usize = 400;
/// How much of the last answer is shown.
const ANSWER: usize = 4_000;
/// How many tools and files are shown.
const TOOLS: usize = 20;
const FILES: usize = 25;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The session: an id, a part of an id, a label, a title, or last.
    session: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    session: SessionLine,
    /// The position in the parent at which the session begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_at: Option<String>,
    /// The number of sessions that were forked from this one.
    forks: usize,
    /// What the user wrote: the first requests and the last.
    requests: Vec<Request>,
    /// The number of requests between them that are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_requests: Option<u64>,
    /// The tools that were called most.
    tools: Vec<ToolCount>,
    /// The files that tool calls changed last.
    untrusted_files: Vec<Quoted>,
    /// The beginning of the last text that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    untrusted_last_answer: Option<Quoted>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Request {
    /// The number of the message: messages with from: N shows it.
    index: u64,
    untrusted_text: Quoted,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ToolCount {
    untrusted_tool: Quoted,
    calls: u64,
}

impl Verb for OverviewTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "overview";
    const TITLE: &'static str = "Show what a session was about";
    const DESCRIPTION: &'static str = "Show what one earlier session was about: what the user \
        wanted, which tools and files it used, how it ended, where it was forked from. Use it \
        before messages: it answers most questions about a session in one call, and its numbers \
        say where to read on.";

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let header = access.session(&input.session)?;
        let mut gathered = Gathered::default();
        for record in access.engine.replay(&header.id, None)? {
            gathered.add(record?);
        }
        let children = access.engine.lineage(&header.id)?.children;
        let is_fork = |child: &&Relative| child.kind == Some(SessionKind::Branch) && !child.deleted;
        let Gathered { first, last, middle, tools, files, answer } = gathered;
        let mut tools: Vec<_> = tools.into_iter().collect();
        tools.sort_by(|(a, many), (b, more)| more.cmp(many).then_with(|| a.cmp(b)));
        let tools = tools.into_iter().take(TOOLS);
        let tools = tools.map(|(name, calls)| ToolCount { untrusted_tool: title(&name), calls });
        Ok(Noticed::of(Output {
            session: SessionLine::of(access.engine, &header),
            forked_at: header.cut.as_ref().map(|cut| cut.selector().to_string()),
            forks: children.iter().filter(is_fork).count(),
            requests: first.into_iter().chain(last).collect(),
            omitted_requests: (middle > 0).then_some(middle),
            tools: tools.collect(),
            untrusted_files: files.into_iter().collect(),
            untrusted_last_answer: answer.map(|text| Quoted::block(&text, ANSWER).0),
        }))
    }
}

/// What the messages of a session contain.
#[derive(Default)]
struct Gathered {
    first: Vec<Request>,
    last: VecDeque<Request>,
    middle: u64,
    tools: BTreeMap<String, u64>,
    files: VecDeque<Quoted>,
    answer: Option<String>,
}

impl Gathered {
    fn add(&mut self, record: Record) {
        let message = Message { role: record.role, content: record.content };
        let text = message.plain_text();
        match message.role {
            Role::User if !text.trim().is_empty() => self.request(record.index, &text),
            Role::Assistant if !text.trim().is_empty() => self.answer = Some(text),
            _ => {}
        }
        let Content::Parts(parts) = message.content else { return };
        for part in parts {
            let Part::ToolCall { name, arguments, .. } = part else { continue };
            *self.tools.entry(name).or_default() += 1;
            let arguments = arguments.readable().read::<Value>().unwrap_or_default();
            file_edits(&arguments).iter().for_each(|edit| self.file(&edit.path));
        }
    }

    fn request(&mut self, index: u64, text: &str) {
        let request = Request { index, untrusted_text: Quoted::line(text, REQUEST) };
        if self.first.len() < FIRST {
            self.first.push(request);
            return;
        }
        self.last.push_back(request);
        if self.last.len() > LAST {
            self.last.pop_front();
            self.middle += 1;
        }
    }

    fn file(&mut self, changed: &str) {
        let changed = path(changed);
        self.files.retain(|file| *file != changed);
        self.files.push_back(changed);
        if self.files.len() > FILES {
            self.files.pop_front();
        }
    }
}
