//! Runs a turn to its end, and tells everybody who follows the session what happens.

use std::sync::Arc;

use forklore_agent::Turn;
use forklore_agent::notify::{Received, Subscription};
use forklore_api::TurnAnswer;
use forklore_host::{CancellationToken, Conversation};
use futures_util::{FutureExt, StreamExt};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::cast::Cast;
use crate::chat::Agent;
use crate::failure;
use crate::refused::{Answer, Refused};
use crate::talk::{Seat, Talk};
use crate::types::{SendTurn, TurnBegan};

/// How many notifications may wait, before mere progress is dropped.
const CAPACITY: usize = 4096;

/// How a turn ended.
#[derive(Serialize)]
struct Ended<'a> {
    turn_id: &'a str,
    turn: Option<TurnAnswer>,
    problem: Option<Value>,
}

type Began = oneshot::Sender<Answer<TurnBegan>>;

impl Talk {
    /// Runs the turn that was reserved. Says through `began` that its prompt is stored, or why not.
    pub(crate) async fn run(
        self: Arc<Self>,
        agent: Agent,
        turn_id: String,
        (request, key): (SendTurn, Option<String>),
        began: Began,
    ) {
        let mut seat = self.seat.lock().await;
        let opened = self.open(&agent, &mut seat, request.model.as_deref()).await;
        let (conversation, seated) = match (opened, seat.as_mut()) {
            (Ok(conversation), Some(seated)) => (conversation, seated),
            (Err(refused), _) => return self.never_began(began, refused),
            (Ok(_), None) => return,
        };
        let first = TurnBegan {
            session_id: self.id.clone(),
            turn_id: turn_id.clone(),
            model: conversation.model(),
        };
        let mut began = Some((began, first, request.clone(), key));
        let done = self.carry_out(seated, &agent, &conversation, request.prompt, &mut began).await;
        let moved = conversation.id() != self.id;
        if moved {
            // It goes on in a fork, which people open as a session of its own.
            conversation.close().await;
            *seat = None;
        }
        match (done, began) {
            (Err(error), Some((began, ..))) => {
                self.never_began(began, failure::refused(&error));
            }
            (done, began) => {
                self.say_began(began);
                self.ended(&turn_id, &agent, done.map_err(|error| failure::refused(&error)));
            }
        }
    }

    async fn carry_out(
        &self,
        seat: &mut Seat,
        agent: &Agent,
        conversation: &Conversation,
        prompt: Option<String>,
        began: &mut Option<(Began, TurnBegan, SendTurn, Option<String>)>,
    ) -> forklore_host::Result<Turn> {
        let cancel = self.state().current.as_ref().map(|current| current.cancel.clone());
        let cancel = cancel.unwrap_or_default();
        let mut notifications = agent.host.kernel().subscribe(CAPACITY);
        let mut cast = Cast::of(conversation.id());
        let mut work = std::pin::pin!(turn(conversation, prompt, &cancel));
        let done = loop {
            tokio::select! {
                biased;
                Some(received) = notifications.next() => {
                    self.received(&received, &mut cast, began);
                }
                Some(question) = seat.questions.recv() => {
                    self.say_began(began.take());
                    self.ask(question);
                }
                done = &mut work => break done,
            }
        };
        self.drain(&mut notifications, &mut cast, began);
        done
    }

    fn drain(
        &self,
        notifications: &mut Subscription,
        cast: &mut Cast,
        began: &mut Option<(Began, TurnBegan, SendTurn, Option<String>)>,
    ) {
        while let Some(Some(received)) = notifications.next().now_or_never() {
            self.received(&received, cast, began);
        }
    }

    /// The kernel announces only what is stored, so with the first notification the prompt is too.
    fn say_began(&self, began: Option<(Began, TurnBegan, SendTurn, Option<String>)>) {
        let Some((sender, first, request, key)) = began else { return };
        self.stream.begin(&first);
        if let Some(key) = key {
            self.state().remember(key, request, first.clone());
        }
        let _ = sender.send(Ok(first));
    }

    fn received(
        &self,
        received: &Received,
        cast: &mut Cast,
        began: &mut Option<(Began, TurnBegan, SendTurn, Option<String>)>,
    ) {
        match received {
            Received::Event(notification) if cast.has(notification) => {
                self.say_began(began.take());
                self.stream.notify(notification);
            }
            // Of another session that this server runs.
            Received::Event(_) => {}
            Received::Lagged(missed) => self.stream.push(
                "missed",
                &json!({ "ephemeral": missed.ephemeral, "lasting": missed.lasting }),
            ),
        }
    }

    fn never_began(&self, began: Began, refused: Refused) {
        self.state().current = None;
        let _ = began.send(Err(refused));
    }

    fn ended(&self, turn_id: &str, agent: &Agent, done: Answer<Turn>) {
        {
            let mut state = self.state();
            state.current = None;
            state.pending.clear();
        }
        let (turn, problem) = match done {
            Ok(turn) => (Some(answer(turn, agent)), None),
            Err(refused) => {
                let refused = match refused.next_actions.is_empty() {
                    true => refused.or_try("go on with the turn, or choose another model"),
                    false => refused,
                };
                let Refused { kind, detail, details, next_actions } = refused;
                let problem = json!({
                    "kind": kind.name(), "detail": detail, "details": details,
                    "next_actions": next_actions,
                });
                (None, Some(problem))
            }
        };
        self.stream.end(&Ended { turn_id, turn, problem });
    }
}

async fn turn(
    conversation: &Conversation,
    prompt: Option<String>,
    cancel: &CancellationToken,
) -> forklore_host::Result<Turn> {
    match prompt {
        Some(prompt) => conversation.say(&prompt, cancel).await,
        None => conversation.continue_turn(cancel).await,
    }
}

fn answer(turn: Turn, agent: &Agent) -> TurnAnswer {
    TurnAnswer {
        resume_command: format!("{} resume {}", agent.program, turn.session_id),
        session_id: turn.session_id,
        moved_from: turn.moved_from,
        status: turn.status,
        text: turn.text,
        model_calls: turn.model_calls,
        tool_calls: turn.tool_calls,
        usage: turn.usage,
        head_seq: turn.head_seq,
    }
}
