//! Begins a turn.

use std::sync::Arc;

use forklore_core::ErrorKind;
use forklore_host::{Approvals, CancellationToken, Conversation, Start};
use tokio::sync::oneshot;

use crate::chat::Agent;
use crate::failure::refused;
use crate::refused::{Answer, Refused};
use crate::talk::{Current, Seat, Talk};
use crate::types::{SendTurn, TurnBegan};

/// The longest prompt, in bytes.
const LONGEST: usize = 4 << 20;

impl Talk {
    /// Begins a turn, and returns when its prompt is stored. The turn goes on if nobody waits for
    /// this. The same request with the same key begins one turn.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        agent: &Agent,
        request: SendTurn,
        key: Option<String>,
    ) -> Answer<TurnBegan> {
        check(&request)?;
        if request.prompt.is_none() {
            self.has_interrupted_turn(agent).await?;
        }
        let turn_id = agent.host.engine().new_id().to_string();
        {
            let mut state = self.state();
            if let Some(key) = &key
                && let Some(began) = state.repeated(key, &request)?
            {
                return Ok(began);
            }
            if state.current.is_some() {
                return Err(Refused::new(ErrorKind::Busy, "a turn of this session is running")
                    .or_try("interrupt it, or wait for its end")
                    .or_try("fork the session, and go on in the fork"));
            }
            let cancel = CancellationToken::new();
            state.current = Some(Current { turn_id: turn_id.clone(), cancel, questions: 0 });
        }
        let (began, begins) = oneshot::channel();
        tokio::spawn(Arc::clone(self).run(agent.clone(), turn_id, (request, key), began));
        let broken = |_| Refused::new(ErrorKind::Internal, "the turn ended without an answer");
        begins.await.map_err(broken)?
    }

    /// Refuses to go on where no turn was interrupted.
    async fn has_interrupted_turn(&self, agent: &Agent) -> Answer<()> {
        let (engine, id) = (agent.host.engine().clone(), self.id.clone());
        let look = move || -> forklore_engine::Result<bool> {
            let is_open = engine.interrupted_turn(&id)?.is_some();
            Ok(is_open || engine.is_cut_short(&id)?)
        };
        let broken = |_| Refused::new(ErrorKind::Internal, "the session was not read");
        if tokio::task::spawn_blocking(look).await.map_err(broken)?? {
            return Ok(());
        }
        Err(Refused::new(ErrorKind::Conflict, "no turn of this session was interrupted")
            .or_try("send a prompt"))
    }

    /// Opens the conversation if it is not open, with the model that the request names.
    pub(crate) async fn open(
        &self,
        agent: &Agent,
        seat: &mut Option<Seat>,
        model: Option<&str>,
    ) -> Answer<Conversation> {
        if let Some(seat) = seat {
            if let Some(name) = model.filter(|name| *name != seat.conversation.model()) {
                seat.conversation.use_model(name).map_err(|error| refused(&error))?;
            }
            return Ok(seat.conversation.clone());
        }
        let (approvals, questions) = Approvals::channel();
        let start = Start::in_workspace(agent.folder.clone()).session(self.id.clone());
        let start = Start { model: model.map(str::to_owned), ..start };
        let opened = agent.host.open(start, approvals.clone()).await;
        let conversation = opened.map_err(|error| refused(&error))?;
        *seat = Some(Seat { conversation: conversation.clone(), questions });
        self.state().approvals = Some(approvals);
        Ok(conversation)
    }
}

fn check(request: &SendTurn) -> Answer<()> {
    match &request.prompt {
        Some(prompt) if prompt.trim().is_empty() => Err(Refused::invalid("the prompt is empty")),
        Some(prompt) if prompt.len() > LONGEST => {
            Err(Refused::invalid(format!("a prompt has at most {LONGEST} bytes"))
                .or_try("attach the text to the session"))
        }
        _ => Ok(()),
    }
}
