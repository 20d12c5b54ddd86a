//! Converts a conversation to the items of a page. A result appears with its call.

use std::collections::{HashMap, VecDeque};

use forklore_api::Record;
use forklore_core::describe::Describer;
use forklore_core::{Content, EventType, Header, Label, Part, Role};
use forklore_engine::{ReplayWithSummaries, Replayed, ReplayedSummary, Result};
use jiff::Timestamp;

use crate::block::{Block, Call, ToolOutput};

/// The maximum number of items that wait for the results of an earlier item. If there are more, a
/// result that comes later appears alone.
const MOST_WAITING: usize = 500;

/// An item of a page.
pub(crate) enum Item {
    /// The heading of the following items: the branch in which they were written. `None` if the
    /// store has no readable header of that session.
    Branch(Option<Label>),
    /// A message.
    Message(Message),
    /// A compaction, or a summary of a branch.
    Summary { is_compaction: bool, ts: Timestamp, text: String },
}

/// A message, with the results of its calls.
pub(crate) struct Message {
    pub(crate) index: u64,
    pub(crate) role: Role,
    pub(crate) ts: Timestamp,
    pub(crate) partial: bool,
    pub(crate) blocks: Vec<Block>,
    /// The number of the conversation's records that the message shows: its own, and those with
    /// results of its calls.
    pub(crate) records: u64,
}

/// An iterator over the items of a page. It ends after the first error.
pub(crate) struct Conversation {
    replayed: ReplayWithSummaries,
    describer: Describer,
    branch: Option<Option<Label>>,
    /// The items that were read but not returned yet. The first item may wait for results of its
    /// calls.
    waiting: VecDeque<Item>,
    /// The number of items that were already returned.
    done: usize,
    /// The calls without a result. The key is the id of the call. The value is the number of the
    /// item with the call, and the index of the call's block in this item.
    open: HashMap<String, (usize, usize)>,
    ended: bool,
}

impl Conversation {
    pub(crate) fn new(header: &Header, replayed: ReplayWithSummaries) -> Self {
        Self {
            replayed,
            describer: Describer::in_folder(header.workspace.as_str()),
            branch: None,
            waiting: VecDeque::new(),
            done: 0,
            open: HashMap::new(),
            ended: false,
        }
    }

    fn add(&mut self, replayed: Replayed) {
        match replayed {
            Replayed::Record(record) => {
                self.enter(record.branch.clone());
                self.record(record);
            }
            Replayed::Summary(summary) => {
                self.enter(summary.branch.clone());
                self.waiting.push_back(of_summary(&summary));
            }
        }
    }

    fn enter(&mut self, branch: Option<Label>) {
        if self.branch.as_ref() != Some(&branch) {
            self.waiting.push_back(Item::Branch(branch.clone()));
            self.branch = Some(branch);
        }
    }

    fn record(&mut self, record: Record) {
        let Record { index, role, ts, partial, content, .. } = record;
        let parts = match content {
            Content::Text(text) => vec![Part::Text { text }],
            Content::Parts(parts) => parts,
        };
        // Some agents write results in the user's name. After any other text of the user, calls get
        // no result any more.
        let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
        if role == Role::User && !parts.iter().any(is_result) {
            self.open.clear();
        }
        let item = self.done + self.waiting.len();
        let (mut blocks, mut calls, mut of_earlier) = (Vec::new(), Vec::new(), None);
        for part in &parts {
            if own_call(part, &mut calls, &mut blocks, &mut self.describer) {
                continue;
            }
            if let Some(earlier) = self.earlier_call(part) {
                of_earlier = Some(earlier);
                continue;
            }
            if let Part::ToolCall { id, .. } = part {
                calls.push((id.clone(), blocks.len()));
            }
            blocks.push(Block::of(part, &mut self.describer));
        }
        match of_earlier.filter(|_| blocks.is_empty()) {
            Some(earlier) => {
                if let Some(Item::Message(message)) = self.at(earlier) {
                    message.records += 1;
                }
            }
            None => {
                self.open.extend(calls.into_iter().map(|(id, block)| (id, (item, block))));
                let message = Message { index, role, ts, partial, blocks, records: 1 };
                self.waiting.push_back(Item::Message(message));
            }
        }
    }

    /// Adds the part to the call whose result it is, if that call is in a waiting item. Returns the
    /// number of that item. Returns `None` if the part is no such result.
    fn earlier_call(&mut self, part: &Part) -> Option<usize> {
        let Part::ToolResult { call_id, .. } = part else { return None };
        let (item, block) = self.open.remove(call_id)?;
        // The result of an item that was returned already stands alone.
        self.call_at(item, block)?;
        let output = ToolOutput::of(part, &mut self.describer);
        self.call_at(item, block)?.output = output;
        Some(item)
    }

    fn at(&mut self, item: usize) -> Option<&mut Item> {
        self.waiting.get_mut(item.checked_sub(self.done)?)
    }

    fn call_at(&mut self, item: usize, block: usize) -> Option<&mut Call> {
        let Item::Message(message) = self.at(item)? else { return None };
        match message.blocks.get_mut(block)? {
            Block::Call(call) => Some(call),
            _ => None,
        }
    }

    fn is_ready(&self) -> bool {
        self.ended || self.open.is_empty() || self.waiting.len() > MOST_WAITING
    }
}

impl Iterator for Conversation {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.is_ready()
                && let Some(item) = self.waiting.pop_front()
            {
                self.done += 1;
                return Some(Ok(item));
            }
            if self.ended {
                return None;
            }
            match self.replayed.next() {
                Some(Ok(replayed)) => self.add(replayed),
                Some(Err(error)) => {
                    self.ended = true;
                    self.waiting.clear();
                    return Some(Err(error));
                }
                None => self.ended = true,
            }
        }
    }
}

/// If the part is the result of a call in the same message, adds the result to that call and returns
/// true. Some agents write such messages. Otherwise, returns false.
fn own_call(
    part: &Part,
    calls: &mut Vec<(String, usize)>,
    blocks: &mut [Block],
    describer: &mut Describer,
) -> bool {
    let Part::ToolResult { call_id, .. } = part else { return false };
    let Some(own) = calls.iter().position(|(id, _)| id == call_id) else { return false };
    let (_, at) = calls.swap_remove(own);
    if let Some(Block::Call(call)) = blocks.get_mut(at) {
        call.output = ToolOutput::of(part, describer);
    }
    true
}

fn of_summary(summary: &ReplayedSummary) -> Item {
    let texts = summary.messages.iter().map(forklore_core::Message::plain_text);
    Item::Summary {
        is_compaction: summary.kind == EventType::HISTORY_COMPACTION,
        ts: summary.ts,
        text: texts.collect::<Vec<_>>().join("\n\n"),
    }
}
