//! Tests of turns, forks, and returning from forks.

use forklore_core::{ErrorKind, Selector, SessionId, SessionKind, Strategy};
use forklore_engine::Fork;
use forklore_host::{
    BranchOptions, CancellationToken, Condition, Conversation, Start, SummarizeBy,
};

use crate::world::World;

/// A configuration in which sub-agents need no approval.
const DELEGATES: &str = "[delegate]\n[policy]\nallow = ['delegate']\n";

fn never() -> CancellationToken {
    CancellationToken::new()
}

async fn texts(conversation: &Conversation) -> Vec<String> {
    let messages = conversation.messages().await.unwrap();
    messages.into_iter().map(|message| message.text).collect()
}

#[tokio::test]
async fn a_conversation_talks_forks_and_returns() {
    let world = World::new();
    let conversation = world.host.open_unattended(World::start()).await.unwrap();
    let nothing = conversation.header().await.unwrap_err();
    assert_eq!(
        (nothing.kind(), &*nothing.to_string()),
        (ErrorKind::InvalidArgs, "nothing was said yet")
    );
    let turn = conversation.say("plan A or plan B?", &never()).await.unwrap();
    assert_eq!(turn.text, "m1 read: plan A or plan B?");
    conversation.say("A", &never()).await.unwrap();
    let root = conversation.header().await.unwrap();

    let at = Some(Selector::Turn(1));
    let options =
        BranchOptions { at, label: Some("plan-b".parse().unwrap()), ..BranchOptions::default() };
    let forked = conversation.fork(options).await.unwrap();
    assert_eq!((conversation.id(), forked.cut.index), (forked.child_session_id, 2));
    conversation.use_model("two").unwrap();
    conversation.say("B", &never()).await.unwrap();
    let expected =
        ["plan A or plan B?", "m1 read: plan A or plan B?", "B", "m2 read: B"].map(str::to_owned);
    assert_eq!(texts(&conversation).await, expected);

    // The request of the fork begins with the messages of its parent.
    {
        let requests = world.requests.lock().unwrap();
        assert_eq!(requests[2].messages[..2], requests[1].messages[..2]);
        assert_eq!(requests[2].cache_key, requests[0].cache_key);
    }
    conversation.rewind(None).await.unwrap();
    assert_eq!(texts(&conversation).await, expected[..2]);
    assert_eq!(conversation.back().await.unwrap().label.as_str(), "plan-b");
    let branch = conversation.header().await.unwrap();
    assert_eq!(conversation.back().await.unwrap().id, root.id);
    assert!(conversation.back().await.is_err());
    assert_eq!(conversation.find("plan-b").await.unwrap().id, branch.id);

    let by = SummarizeBy::Deterministic;
    let brought = conversation.bring(&branch, &root, by, &never()).await.unwrap();
    assert_eq!(brought.answer.as_deref(), Some("m2 read: B"));
    conversation.close().await;
    world.host.close().await;
    assert_eq!(conversation.condition(&root).await, None);
}

#[tokio::test]
async fn one_turn_runs_without_a_conversation() {
    let world = World::new();
    let mut names = Vec::new();
    let mut notify = |notification: &forklore_agent::notify::Notification| {
        names.push(notification.name().to_owned());
    };
    let prompt = Some("hello".into());
    let turn = world.host.run_turn(&World::start(), prompt, &never(), &mut notify).await.unwrap();
    assert_eq!(turn.text, "m1 read: hello");
    assert!(names.contains(&"session:end".to_owned()), "{names:?}");
    // A complete turn cannot be continued.
    let start = World::start().session(turn.session_id);
    let over = world.host.run_turn(&start, None, &never(), &mut |_| {}).await.unwrap_err();
    assert_eq!(over.kind(), ErrorKind::InvalidArgs);
}

#[tokio::test]
async fn the_notifications_of_sub_agents_are_passed_on_and_no_others() {
    let world = World::configured(DELEGATES);
    let run = async |prompt: &str| {
        let mut received = Vec::new();
        let mut notify = |it: &forklore_agent::notify::Notification| {
            received.push((it.session_id.clone(), it.parent_id.clone(), it.name().to_owned()));
        };
        let (start, prompt) = (World::start(), Some(prompt.into()));
        let turn = world.host.run_turn(&start, prompt, &never(), &mut notify).await.unwrap();
        (turn.session_id, received)
    };
    let ((id, received), (other, others)) = tokio::join!(run("hand over"), run("alone"));
    let forked: Vec<_> = received.iter().filter(|it| it.2 == "session:fork").collect();
    let [(child, parent, _)] = forked[..] else { panic!("{received:?}") };
    assert_eq!(parent.as_ref(), Some(&id));
    let of = |session: &SessionId| {
        let of = received.iter().filter(|it| it.0 == *session);
        of.map(|it| it.2.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of(child)[..2], ["session:fork", "session:start"]);
    for session in [child, &id] {
        assert_eq!(of(session).last(), Some(&"session:end"));
        assert!(of(session).contains(&"content_block:delta"), "{received:?}");
    }
    assert!(received.iter().all(|it| it.0 == id || it.0 == *child), "{received:?}");
    assert!(others.iter().all(|it| it.0 == other), "{others:?}");
}

#[tokio::test]
async fn a_new_session_has_the_ceiling_that_it_is_given() {
    let world = World::configured(DELEGATES);
    let permissions = Some(["files.read".to_owned()].into());
    let start = Start { permissions, ..World::start() };
    let prompt = Some("hand over".into());
    let turn = world.host.run_turn(&start, prompt, &never(), &mut |_| {}).await.unwrap();
    let engine = world.host.engine();
    assert_eq!(engine.show(&turn.session_id).unwrap().permissions, start.permissions);
    let events = engine.load(&turn.session_id).unwrap().events;
    let decisions = events.iter().filter(|it| it.event.kind.as_str() == "permission_decision");
    let decided: Vec<serde_json::Value> =
        decisions.map(|it| it.event.data.read().unwrap()).collect();
    let [decision] = &decided[..] else { panic!("{decided:?}") };
    assert_eq!((&decision["decision"], &decision["by"]), (&"deny".into(), &"ceiling".into()));
}

#[tokio::test]
async fn cancelling_interrupts_a_turn_that_can_be_continued() {
    let world = World::new();
    let conversation = world.host.open_unattended(World::start()).await.unwrap();
    let cancel = never();
    let (other, token) = (conversation.clone(), cancel.clone());
    let turn = tokio::spawn(async move { other.say("hang", &token).await });
    while world.requests.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    let turn = turn.await.unwrap().unwrap();
    assert_eq!(turn.status, forklore_agent::Status::Cancelled);
    let header = conversation.header().await.unwrap();
    let condition = conversation.condition(&header).await;
    assert!(
        matches!(condition, Some(Condition::AnswerCutShort | Condition::TurnInterrupted)),
        "{condition:?}"
    );
}

#[tokio::test]
async fn a_summary_that_is_cancelled_forks_nothing() {
    let world = World::new();
    let conversation = world.host.open_unattended(World::start()).await.unwrap();
    conversation.say("hello", &never()).await.unwrap();
    let before = conversation.header().await.unwrap();
    let cancel = never();
    cancel.cancel();
    let refused = conversation.summarize(SummarizeBy::Model, &cancel).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Interrupted);
    assert_eq!(conversation.header().await.unwrap(), before);
    assert_eq!(world.host.engine().branches(&before.id).unwrap().branches.len(), 1);
    let summarized = conversation.summarize(SummarizeBy::Model, &never()).await.unwrap();
    assert_eq!(conversation.id(), summarized.forked.child_session_id);
}

#[tokio::test]
async fn files_go_along_with_one_prompt() {
    let world = World::new();
    let conversation = world.host.open_unattended(World::start()).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.txt");
    std::fs::write(&path, "one, two").unwrap();
    conversation.attach(&path).await.unwrap();
    assert_eq!(conversation.attachments().len(), 1);
    conversation.say("read it", &never()).await.unwrap();
    assert!(conversation.attachments().is_empty());
    assert!(conversation.attach(dir.path()).await.is_err());
    // If a prompt is not stored, its files stay pending for the next prompt.
    let header = conversation.header().await.unwrap();
    world.host.engine().take_lease(&header.id, "another program").unwrap();
    conversation.attach(&path).await.unwrap();
    let refused = conversation.say("again", &never()).await.unwrap_err();
    assert!(refused.is_in_use(), "{refused}");
    assert_eq!(conversation.attachments().len(), 1);
}

#[tokio::test]
async fn at_the_limit_of_depth_a_conversation_goes_on_in_copies() {
    let world = World::limited(1);
    let conversation = world.host.open_unattended(World::start()).await.unwrap();
    conversation.say("one", &never()).await.unwrap();
    conversation.say("two", &never()).await.unwrap();
    conversation.fork(BranchOptions::default()).await.unwrap();
    let deep = conversation.header().await.unwrap();
    assert_eq!((deep.depth, deep.strategy), (1, Some(Strategy::ShareV1)));
    let refused = world.host.engine().fork(&Fork::of(deep.id.clone())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");

    // Each of the ways into a fork, from the deepest session.
    let mut made = Vec::new();
    for way in ["fork", "rewind", "summarize", "summarize by the model"] {
        if conversation.id() != deep.id {
            conversation.switch(&deep.id).await.unwrap();
        }
        match way {
            "fork" => drop(conversation.fork(BranchOptions::default()).await.unwrap()),
            "rewind" => drop(conversation.rewind(None).await.unwrap()),
            "summarize" => {
                let by = SummarizeBy::Deterministic;
                drop(conversation.summarize(by, &never()).await.unwrap());
            }
            _ => drop(conversation.summarize(SummarizeBy::Model, &never()).await.unwrap()),
        }
        let copy = conversation.header().await.unwrap();
        made.push((way, copy.counts.index, copy.strategy, copy.parent_id == Some(deep.id.clone())));
        // The conversation goes on there.
        conversation.say("on", &never()).await.unwrap();
        assert_eq!(texts(&conversation).await.last().unwrap(), "m1 read: on", "{way}");
    }
    let copied = Some(Strategy::ReplayV1);
    let expected = [
        ("fork", 4, copied, true),
        ("rewind", 2, copied, true),
        ("summarize", 4, copied, true),
        ("summarize by the model", 4, copied, true),
    ];
    assert_eq!(made, expected);
    // A sub-agent inherits nothing, so it needs no copy.
    conversation.switch(&deep.id).await.unwrap();
    let delegated = conversation.delegate("count", &never()).await.unwrap();
    let child = world.host.engine().show(&delegated.session_id).unwrap();
    let answered = delegated.turn.unwrap().text;
    assert_eq!((child.kind, child.parent_id), (SessionKind::Delegate, Some(deep.id)));
    assert_eq!(answered, "m1 read: count");
}
