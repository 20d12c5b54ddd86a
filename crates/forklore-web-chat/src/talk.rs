//! A session that people talk to through this server: its running turn, and the questions of that
//! turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_core::{ErrorKind, SessionId};
use forklore_host::{Approvals, CancellationToken, Conversation, PendingApproval};
use tokio::sync::Mutex as AsyncMutex;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::refused::{Answer, Refused};
use crate::stream::Stream;
use crate::types::{Approval, SendTurn, TurnBegan, TurnState};

/// How many repeated requests to send are recognised.
const KEYS: usize = 64;

/// A session that people talk to.
pub(crate) struct Talk {
    pub(crate) id: SessionId,
    pub(crate) stream: Stream,
    state: Mutex<State>,
    /// What a turn needs. Locked while one runs.
    pub(crate) seat: AsyncMutex<Option<Seat>>,
}

/// An open conversation, and the questions of its turns.
pub(crate) struct Seat {
    pub(crate) conversation: Conversation,
    pub(crate) questions: UnboundedReceiver<PendingApproval>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) current: Option<Current>,
    pub(crate) pending: Vec<(Approval, PendingApproval)>,
    pub(crate) approvals: Option<Arc<Approvals>>,
    keys: VecDeque<(String, SendTurn, TurnBegan)>,
}

/// The running turn.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) turn_id: String,
    pub(crate) cancel: CancellationToken,
    /// How many questions the turn had.
    pub(crate) questions: u64,
}

impl Talk {
    pub(crate) fn new(id: SessionId) -> Self {
        let (state, seat) = (Mutex::default(), AsyncMutex::default());
        Self { id, stream: Stream::new(), state, seat }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the running turn and its questions.
    pub(crate) fn shown(&self) -> TurnState {
        let state = self.state();
        TurnState {
            session_id: self.id.clone(),
            turn_id: state.current.as_ref().map(|current| current.turn_id.clone()),
            approvals: state.pending.iter().map(|(approval, _)| approval.clone()).collect(),
        }
    }

    /// Checks whether a turn runs here, or something would be forgotten without this.
    pub(crate) fn is_needed(&self) -> bool {
        let state = self.state();
        state.current.is_some() || state.approvals.is_some()
    }

    /// Interrupts the running turn, which ends with what was answered so far.
    pub(crate) fn interrupt(&self) -> Answer<TurnState> {
        let shown = self.shown();
        let current = self.state().current.clone();
        let current = current.ok_or_else(|| {
            Refused::new(ErrorKind::Conflict, "this server runs no turn in the session")
                .or_try("a turn of another program is interrupted there")
        })?;
        current.cancel.cancel();
        Ok(shown)
    }
}

impl State {
    /// Returns the turn that the same request began before.
    pub(crate) fn repeated(&self, key: &str, request: &SendTurn) -> Answer<Option<TurnBegan>> {
        match self.keys.iter().find(|(before, ..)| before == key) {
            None => Ok(None),
            Some((_, before, began)) if before == request => Ok(Some(began.clone())),
            Some(_) => {
                let detail = "another request had this Idempotency-Key";
                Err(Refused::new(ErrorKind::Conflict, detail).or_try("choose another key"))
            }
        }
    }

    pub(crate) fn remember(&mut self, key: String, request: SendTurn, began: TurnBegan) {
        if self.keys.len() >= KEYS {
            self.keys.pop_front();
        }
        self.keys.push_back((key, request, began));
    }
}
