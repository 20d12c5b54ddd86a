//! Reorders calls and results into the order that session files require. Everything that the model
//! says in one response is one message. The results of its calls follow this message, in the order
//! of the calls.
//!
//! Some agents write one record per call and per result. In such a history, two messages may
//! contain calls before the first result, and results may have another order than their calls.

use std::collections::{HashMap, VecDeque};

use forklore_core::call::CallStep;
use forklore_core::{Content, Message, Part, Role};
use jiff::Timestamp;

use super::tool_names::ToolNames;
use crate::inspect::Sent;

/// A queue that reorders the messages of an exported history so that tool results follow their
/// calls. A message with tool calls waits in the queue until all its results have arrived, or until
/// its turn ends.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    waiting: VecDeque<Exchange>,
    /// The tool calls without a result in exported records of the agent's own format.
    open: ToolNames,
}

/// A message, and the tool calls in this message with their results.
#[derive(Debug)]
struct Exchange {
    message: Message,
    ts: Timestamp,
    starts_turn: bool,
    calls: Calls,
}

/// The tool calls of a message, in order. The call of a result is found by its id, without a search
/// through the other calls, because a message may contain 100,000 of them.
#[derive(Debug, Default)]
struct Calls {
    all: Vec<Call>,
    /// The positions in `all` of the calls without a result, by id.
    unanswered: HashMap<String, Vec<usize>>,
    /// Whether one of the calls has a result.
    is_any_answered: bool,
}

#[derive(Debug)]
struct Call {
    name: String,
    result: Option<(Part, Timestamp)>,
}

impl Calls {
    fn of(message: &Message) -> Self {
        let mut calls = Self::default();
        if let Content::Parts(parts) = &message.content {
            calls.add(parts);
        }
        calls
    }

    /// Adds the tool calls in these parts.
    fn add(&mut self, parts: &[Part]) {
        for part in parts {
            if let Part::ToolCall { id, name, .. } = part {
                self.unanswered.entry(id.clone()).or_default().push(self.all.len());
                self.all.push(Call { name: name.clone(), result: None });
            }
        }
    }

    /// Attaches `result` to the last call that has this id and no result yet. Gives the result back
    /// if there is no such call.
    fn answer(&mut self, id: &str, result: (Part, Timestamp)) -> Result<(), (Part, Timestamp)> {
        let Some(positions) = self.unanswered.get_mut(id) else { return Err(result) };
        let last = positions.pop();
        if positions.is_empty() {
            self.unanswered.remove(id);
        }
        match last.and_then(|last| self.all.get_mut(last)) {
            Some(call) => {
                let (mut part, ts) = result;
                if let Part::ToolResult { name, .. } = &mut part {
                    name.get_or_insert_with(|| call.name.clone());
                }
                call.result = Some((part, ts));
                self.is_any_answered = true;
                Ok(())
            }
            None => Err(result),
        }
    }
}

impl Exchanges {
    /// Adds the next message of the history to the queue. Returns the messages that now can be
    /// written, because no later message changes them or their order.
    pub(super) fn push(&mut self, sent: Sent) -> Vec<Sent> {
        responses(sent).into_iter().flat_map(|sent| self.push_response(sent)).collect()
    }

    fn push_response(&mut self, sent: Sent) -> Vec<Sent> {
        let Sent { mut message, ts, starts_turn } = sent;
        let results = take_results(&mut message);
        let ready = if message.role == Role::Assistant {
            self.speak(message, ts, starts_turn);
            for result in results {
                self.answer(result, ts);
            }
            Vec::new()
        } else {
            let is_all = !results.is_empty() && message.to_parts().is_empty();
            for result in results {
                self.answer(result, ts);
            }
            // A result of an earlier turn must not follow the start of a turn.
            let ready = if starts_turn { self.finish() } else { Vec::new() };
            if !is_all {
                self.speak(message, ts, starts_turn);
            }
            ready
        };
        ready.into_iter().chain(self.settled()).collect()
    }

    /// Updates the list of open tool calls with the calls that a record opens or closes. The record
    /// is in the target agent's own format, so the exporter does not reorder it.
    pub(super) fn pass(&mut self, steps: &[CallStep]) {
        self.open.pass(steps);
    }

    /// Empties the queue and returns all waiting messages, even those with calls that have no
    /// result.
    pub(super) fn finish(&mut self) -> Vec<Sent> {
        self.waiting.drain(..).flat_map(Exchange::in_order).collect()
    }

    /// Adds a message to the queue. If this message continues the model response of the previous
    /// message, appends its parts to that message instead.
    fn speak(&mut self, message: Message, ts: Timestamp, starts_turn: bool) {
        if message.role == Role::Assistant
            && let Some(last) = self.waiting.back_mut().filter(|last| last.goes_on())
        {
            let parts = message.to_parts();
            last.calls.add(&parts);
            append(&mut last.message, parts);
            return;
        }
        let calls = Calls::of(&message);
        self.waiting.push_back(Exchange { message, ts, starts_turn, calls });
    }

    /// Attaches a tool result to the call with the same id in a waiting message. If no such call
    /// waits for a result, adds the result to the queue as a separate message.
    fn answer(&mut self, result: Part, ts: Timestamp) {
        let Part::ToolResult { call_id, .. } = &result else { return };
        let call_id = call_id.clone();
        let mut unplaced = (result, ts);
        for exchange in self.waiting.iter_mut().rev() {
            match exchange.calls.answer(&call_id, unplaced) {
                Ok(()) => return,
                Err(result) => unplaced = result,
            }
        }
        let (mut result, ts) = unplaced;
        if let Part::ToolResult { name, .. } = &mut result {
            let tool = self.open.take(&call_id);
            *name = name.take().or(tool);
        }
        let message = Message::parts(Role::Tool, vec![result]);
        let calls = Calls::default();
        self.waiting.push_back(Exchange { message, ts, starts_turn: false, calls });
    }

    /// Removes and returns the messages at the front of the queue that no later message can change.
    fn settled(&mut self) -> Vec<Sent> {
        let mut settled = Vec::new();
        while let Some(first) = self.waiting.front() {
            let may_go_on = self.waiting.len() == 1 && first.goes_on();
            if may_go_on || !first.calls.unanswered.is_empty() {
                break;
            }
            settled.extend(self.waiting.pop_front().into_iter().flat_map(Exchange::in_order));
        }
        settled
    }
}

impl Exchange {
    /// Checks whether the next output of the model would still belong to this message. It would if
    /// this is an assistant message and no tool call in it has a result.
    fn goes_on(&self) -> bool {
        self.message.role == Role::Assistant && !self.calls.is_any_answered
    }

    /// Returns the message, followed by the results of its tool calls in the order of the calls.
    fn in_order(self) -> Vec<Sent> {
        let Self { message, ts, starts_turn, calls } = self;
        let results = calls.all.into_iter().filter_map(|call| call.result).map(|(part, ts)| Sent {
            message: Message::parts(Role::Tool, vec![part]),
            ts,
            starts_turn: false,
        });
        std::iter::once(Sent { message, ts, starts_turn }).chain(results).collect()
    }
}

/// Splits a message that contains several responses of the model. Some agents write a call, its
/// result and the model's next response into one message. Text or reasoning after a result begins
/// the next response.
fn responses(sent: Sent) -> Vec<Sent> {
    let Sent { message, ts, starts_turn } = sent;
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    let Message { role: role @ Role::Assistant, content: Content::Parts(parts) } = message else {
        return vec![Sent { message, ts, starts_turn }];
    };
    let mut responses: Vec<Vec<Part>> = Vec::new();
    let mut has_result = false;
    for part in parts {
        let speaks = matches!(part, Part::Text { .. } | Part::Reasoning { .. });
        let is_next = speaks && std::mem::take(&mut has_result);
        has_result |= is_result(&part);
        match responses.last_mut() {
            Some(response) if !is_next => response.push(part),
            _ => responses.push(vec![part]),
        }
    }
    let mut sent = responses.into_iter().map(|parts| {
        let message = Message { role, content: Content::Parts(parts) };
        Sent { message, ts, starts_turn: false }
    });
    let first = sent.next().map(|first| Sent { starts_turn, ..first });
    first.into_iter().chain(sent).collect()
}

/// Appends parts to the content of a message.
fn append(message: &mut Message, more: Vec<Part>) {
    let mut parts = match std::mem::replace(&mut message.content, Content::Parts(Vec::new())) {
        Content::Text(text) => vec![Part::Text { text }],
        Content::Parts(parts) => parts,
    };
    parts.extend(more);
    message.content = Content::Parts(parts);
}

/// Removes the tool results from a message and returns them.
fn take_results(message: &mut Message) -> Vec<Part> {
    let Content::Parts(parts) = &mut message.content else { return Vec::new() };
    parts.extract_if(.., |part| matches!(part, Part::ToolResult { .. })).collect()
}

#[cfg(test)]
mod tests {
    use forklore_core::Data;
    use forklore_core::call::OpenCall;

    use super::*;

    fn part(role: Role, part: Part, starts_turn: bool) -> Sent {
        let message = Message::parts(role, vec![part]);
        Sent { message, ts: Timestamp::UNIX_EPOCH, starts_turn }
    }

    /// Builds a test message from a code: a letter for the kind, then a name. The letter `u` means
    /// a user message, `i` an injected user message, `t` text of the model, `c` a tool call, `r` a
    /// tool result.
    fn message(word: &str) -> Sent {
        let (letter, name) = word.split_at(1);
        let text = || Part::Text { text: name.into() };
        let data = || Data::parse("{}").unwrap();
        match letter {
            "u" => part(Role::User, text(), true),
            "i" => part(Role::User, text(), false),
            "t" => part(Role::Assistant, text(), false),
            "c" => {
                let (id, name, arguments) = (name.into(), format!("tool-{name}"), data());
                part(Role::Assistant, Part::ToolCall { id, name, arguments }, false)
            }
            _ => {
                let (call_id, name, content) = (name.into(), None, data());
                let (is_error, synthetic) = (false, false);
                let result = Part::ToolResult { call_id, name, content, is_error, synthetic };
                part(Role::Tool, result, false)
            }
        }
    }

    fn words(sent: &Sent) -> String {
        let words = sent.message.to_parts().into_iter().map(|part| match part {
            Part::Text { text } => text,
            Part::ToolCall { id, .. } => format!("c{id}"),
            Part::ToolResult { name, .. } => format!("r-{}", name.unwrap_or_default()),
            _ => "?".into(),
        });
        words.collect::<Vec<_>>().join("+")
    }

    fn ordered(history: &str) -> String {
        let mut exchanges = Exchanges::default();
        let mut ready: Vec<_> =
            history.split(' ').flat_map(|word| exchanges.push(message(word))).collect();
        ready.extend(exchanges.finish());
        ready.iter().map(words).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn calls_of_one_message_are_joined_and_results_follow_in_their_order() {
        assert_eq!(ordered("uQ tA c1 c2 r2 r1 tB"), "Q A+c1+c2 r-tool-1 r-tool-2 B");
        assert_eq!(ordered("uQ c1 r1 c2 r2"), "Q c1 r-tool-1 c2 r-tool-2");
    }

    #[test]
    fn what_stands_between_a_call_and_its_result_comes_behind_the_result() {
        assert_eq!(ordered("uQ c1 iN r1 tA"), "Q c1 r-tool-1 N A");
        assert_eq!(ordered("uQ c1 c2 r1 tA r2"), "Q c1+c2 r-tool-1 r-tool-2 A");
    }

    #[test]
    fn what_the_model_says_about_a_result_in_one_message_comes_behind_it() {
        let words = ["tA", "c1", "r1", "c2", "r2", "tB", "c3", "r3", "tC"];
        let parts = words.into_iter().flat_map(|word| message(word).message.to_parts()).collect();
        let one = Message { role: Role::Assistant, content: Content::Parts(parts) };
        let mut exchanges = Exchanges::default();
        let sent = Sent { message: one, ts: Timestamp::UNIX_EPOCH, starts_turn: false };
        let mut ready = exchanges.push(sent);
        ready.extend(exchanges.finish());
        let got: Vec<_> = ready.iter().map(self::words).collect();
        assert_eq!(got.join(" "), "A+c1+c2 r-tool-1 r-tool-2 B+c3 r-tool-3 C");
    }

    #[test]
    fn a_call_without_a_result_holds_nothing_back_longer_than_its_turn() {
        assert_eq!(ordered("uQ c1 iN uR tA"), "Q c1 N R A");
        let mut exchanges = Exchanges::default();
        let history = ["uQ", "c1", "iN", "uR"];
        let ready: Vec<_> =
            history.into_iter().flat_map(|word| exchanges.push(message(word))).collect();
        assert_eq!(ready.len(), 4);
    }

    #[test]
    fn a_result_of_a_call_that_was_written_before_has_its_tool() {
        let mut exchanges = Exchanges::default();
        let call = OpenCall { id: "1".into(), name: "ls".into() };
        exchanges.pass(&[CallStep::Open(call)]);
        assert_eq!(exchanges.push(message("r1")).iter().map(words).collect::<Vec<_>>(), ["r-ls"]);
        assert_eq!(ordered("r1"), "r-");
    }
}
