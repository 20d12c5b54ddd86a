//! Tests of what the screen shows when several sub-agents work at the same time.

use std::io;
use std::sync::{Arc, Mutex};

use forklore_agent::notify::event::{
    Block, BlockEnded, BlockKind, BlockPiece, DelegateStarted, EndReason, ProviderAnswer,
    SessionForked, Thought, TokenUsage, ToolInput,
};
use forklore_agent::notify::{Identity, KernelEvent, Notification};
use forklore_core::SessionKind;
use serde_json::json;

use super::*;

#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns what a screen shows for these events. Each event is paired with its session's id.
fn shown(events: Vec<(&str, KernelEvent)>) -> String {
    let out = Shown::default();
    let mut screen = Screen::new(Box::new(out.clone()), Look { color: false, width: 80 });
    for (session, event) in events {
        let identity = Identity {
            session_id: session.parse().unwrap(),
            parent_id: (session != "root").then(|| "root".parse().unwrap()),
            root_id: "root".parse().unwrap(),
        };
        let ts = "2026-01-01T00:00:00Z".parse().unwrap();
        screen.notification(&Notification::new(identity, ts, event));
    }
    screen.end_turn();
    let shown = out.0.lock().unwrap();
    String::from_utf8(shown.clone()).unwrap()
}

fn forked(label: &str) -> KernelEvent {
    KernelEvent::SessionFork(SessionForked {
        parent: Some("root".parse().unwrap()),
        kind: SessionKind::Delegate,
        label: label.parse().unwrap(),
        cut: None,
        metadata: None,
        reason: None,
    })
}

fn spawned(session: &str, agent: &str) -> KernelEvent {
    KernelEvent::DelegateSpawned(DelegateStarted {
        agent: Some(agent.to_owned()),
        sub_session_id: session.parse().unwrap(),
        parent_session_id: "root".parse().unwrap(),
        tool_call_id: None,
    })
}

fn says(delta: &str) -> KernelEvent {
    let (block_type, delta) = (BlockKind::Text, delta.to_owned());
    KernelEvent::ContentBlockDelta(BlockPiece { block_type, block_index: 0, delta })
}

fn thinks(delta: &str) -> KernelEvent {
    let (block_type, delta) = (BlockKind::Thinking, delta.to_owned());
    KernelEvent::ThinkingDelta(BlockPiece { block_type, block_index: 0, delta })
}

fn thought(thinking: &str) -> KernelEvent {
    KernelEvent::ThinkingFinal(Thought { block_index: 0, thinking: thinking.to_owned() })
}

fn ended(text: &str) -> KernelEvent {
    KernelEvent::ContentBlockEnd(BlockEnded {
        block_type: BlockKind::Text,
        block_index: 0,
        total_blocks: 1,
        block: Block::Text { text: text.to_owned() },
        partial: false,
    })
}

fn answered() -> KernelEvent {
    KernelEvent::ProviderResponse(ProviderAnswer {
        provider: "test".to_owned(),
        model: "small".to_owned(),
        usage: TokenUsage::default(),
        stop_reason: EndReason::Done,
        request_id: None,
    })
}

fn calls(tool: &str) -> KernelEvent {
    KernelEvent::ToolPre(ToolInput {
        tool_call_id: "c".to_owned(),
        tool_name: tool.to_owned(),
        tool_input: json!({}),
    })
}

#[test]
fn words_of_sub_agents_side_by_side_are_whole_and_carry_their_names() {
    let events = vec![
        ("a", forked("one")),
        ("b", forked("two")),
        ("root", spawned("a", "counts")),
        ("a", says("one ")),
        ("b", thinks("in ")),
        ("b", says("eins ")),
        ("a", says("two")),
        ("b", says("zwei")),
        ("b", thought("in German")),
        ("b", ended("eins zwei")),
        ("b", answered()),
        ("b", calls("look")),
        ("a", ended("one two")),
        ("a", answered()),
        ("a", says("three")),
        ("a", ended("three")),
    ];
    insta::assert_snapshot!(shown(events));
}

#[test]
fn one_sub_agent_alone_needs_no_name() {
    let events = vec![("a", forked("one")), ("a", says("hello")), ("a", ended("hello"))];
    assert_eq!(shown(events), "hello\n");
}

#[test]
fn what_waits_is_shown_when_the_speaker_never_ends() {
    let events = vec![
        ("a", forked("one")),
        ("b", forked("two")),
        ("a", says("half")),
        ("b", says("whole")),
        ("b", ended("whole")),
    ];
    assert_eq!(shown(events), "@one\nhalf\n@two\nwhole\n");
}
