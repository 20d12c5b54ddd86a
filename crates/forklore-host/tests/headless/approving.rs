//! Tests of questions about tool calls.

use forklore_host::{Approvals, CancellationToken};

use crate::world::World;

#[tokio::test]
async fn a_call_waits_for_its_answer_and_always_asks_no_more() {
    let world = World::configured("[delegate]\ndepth = 1\n");
    let (approvals, mut questions) = Approvals::channel();
    let conversation = world.host.open(World::start(), approvals.clone()).await.unwrap();
    let cancel = CancellationToken::new();
    let (other, token) = (conversation.clone(), cancel.clone());
    let turn = tokio::spawn(async move { other.say("call", &token).await });
    let pending = questions.recv().await.unwrap();
    assert_eq!(pending.question.call.as_ref().unwrap().name, "delegate");
    pending.answer(approvals.always("delegate"));
    assert_eq!(turn.await.unwrap().unwrap().tool_calls, 1);
    let turn = conversation.say("call", &cancel).await.unwrap();
    assert_eq!(turn.tool_calls, 1);
    assert!(questions.try_recv().is_err());
}

#[tokio::test]
async fn without_anybody_who_answers_a_call_is_denied() {
    let world = World::configured("[delegate]\ndepth = 1\n");
    let (approvals, questions) = Approvals::channel();
    drop(questions);
    let conversation = world.host.open(World::start(), approvals).await.unwrap();
    let turn = conversation.say("call", &CancellationToken::new()).await.unwrap();
    // Only the conversation called the model: the denied call started no sub-agent.
    assert_eq!((turn.model_calls, world.requests.lock().unwrap().len()), (2, 2));
}
