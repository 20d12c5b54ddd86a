//! A session that can run turns: made, made ready, executed, forked, ended.

mod cleanup;
mod compact;
mod delegate;
mod equipment;
mod execute;
mod fork;
mod initialize;
mod lease;
mod prompt;
mod summarize;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_core::{Header, SessionId};
use serde_json::{Value, json};
use tokio::sync::Mutex as AsyncMutex;
use tokio_util::sync::CancellationToken;

pub use compact::Gauge;
pub(crate) use delegate::{Child, delegation_of, failure};
pub use delegate::{Delegate, Delegated, Delegation};
pub use equipment::{Budget, Equipment, NewSession, Prices, Settings};
pub use fork::Branched;
pub(crate) use initialize::fork_data;
pub(crate) use lease::Lease;
pub use prompt::Prompt;

use crate::hook::{Judged, Matter};
use crate::model::Model;
use crate::notify::{Bus, Identity, Name, Notification, Subscription};
use crate::turn::View;
use crate::{Error, Kernel, Result};

/// A session that can run turns, one at a time. A clone is the same session.
#[derive(Clone)]
pub struct AgentSession {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) kernel: Kernel,
    pub(crate) owner: String,
    equipment: Mutex<Equipment>,
    state: Mutex<State>,
    bus: Bus,
    /// Held while a turn runs; what a turn learnt that helps the next.
    pub(crate) turn: AsyncMutex<View>,
}

struct State {
    identity: Identity,
    /// The sessions that it went on from, where another runtime took over.
    former: Vec<SessionId>,
    /// What is to be made, until it is.
    plan: Option<NewSession>,
    ready: bool,
    started: bool,
    ended: bool,
    cancel: Option<CancellationToken>,
}

impl AgentSession {
    pub(crate) fn planned(kernel: &Kernel, new: NewSession, equipment: Equipment) -> Self {
        let id = new.id.clone().unwrap_or_else(|| kernel.engine().new_id());
        let identity = Identity {
            // A child's family is known when it is made ready.
            root_id: new.parent_id.clone().unwrap_or_else(|| id.clone()),
            parent_id: new.parent_id.clone(),
            session_id: id,
        };
        Self::with(kernel, identity, Some(new), equipment)
    }

    pub(crate) fn of(kernel: &Kernel, header: &Header, equipment: Equipment) -> Self {
        Self::with(kernel, Identity::from(header), None, equipment)
    }

    fn with(
        kernel: &Kernel,
        identity: Identity,
        plan: Option<NewSession>,
        equipment: Equipment,
    ) -> Self {
        let state = State {
            identity,
            former: Vec::new(),
            plan,
            ready: false,
            started: false,
            ended: false,
            cancel: None,
        };
        let inner = Arc::new(Inner {
            kernel: kernel.clone(),
            owner: kernel.new_owner(),
            equipment: Mutex::new(equipment),
            state: Mutex::new(state),
            bus: Bus::default(),
            turn: AsyncMutex::new(View::default()),
        });
        kernel.enter(&inner);
        Self { inner }
    }

    /// Its id. A runtime that lost its session to another goes on in a fork of it (SPEC 9), so
    /// this may change with a turn; the turn then says so.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.inner.identity().session_id
    }

    /// Its id, its parent's and its family's.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.inner.identity()
    }

    /// What it works with: a copy.
    #[must_use]
    pub fn equipment(&self) -> Equipment {
        self.inner.equipment()
    }

    /// Gives it other things to work with, from its next turn on.
    pub fn equip(&self, change: impl FnOnce(&mut Equipment)) {
        change(&mut self.inner.equipment.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Gives it another model from its next turn on.
    pub fn set_model(&self, model: Arc<dyn Model>) {
        self.equip(|equipment| equipment.model = model);
    }

    /// Listens to this session alone; see [`Kernel::subscribe`].
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.inner.bus.subscribe(capacity)
    }

    /// Whether a turn runs in it, in this process.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.inner.state().cancel.is_some()
    }

    /// Interrupts the turn that runs, if one does. What it has said so far is kept, calls that run
    /// are cancelled, and [`execute`](Self::execute) returns.
    pub fn interrupt(&self) -> bool {
        let cancel = self.inner.state().cancel.clone();
        let Some(cancel) = cancel.filter(|cancel| !cancel.is_cancelled()) else { return false };
        self.inner.announce(Name::CancelRequested, Value::Null);
        cancel.cancel();
        true
    }
}

impl Inner {
    pub(crate) fn identity(&self) -> Identity {
        self.state().identity.clone()
    }

    pub(crate) fn equipment(&self) -> Equipment {
        self.equipment.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What interrupts the turn that runs.
    pub(crate) fn cancel_token(&self) -> Option<CancellationToken> {
        self.state().cancel.clone()
    }

    /// Whether the turn that runs, or is about to, was interrupted.
    fn is_cancelled(&self) -> bool {
        self.cancel_token().is_some_and(|cancel| cancel.is_cancelled())
    }

    /// Goes on as another session.
    pub(crate) fn become_session(&self, header: &Header) {
        let mut state = self.state();
        let former = std::mem::replace(&mut state.identity, Identity::from(header));
        state.former.push(former.session_id);
    }

    /// Whether it is a child of another one that is alive.
    fn is_below(&self, other: &Self) -> bool {
        let Some(parent) = self.identity().parent_id else { return false };
        let other = other.state();
        other.identity.session_id == parent || other.former.contains(&parent)
    }

    pub(crate) fn announce(&self, name: Name, data: Value) {
        self.announce_as(&self.identity(), name, data);
    }

    pub(crate) fn announce_as(&self, identity: &Identity, name: Name, data: Value) {
        if !self.is_heard() {
            return;
        }
        let ts = self.kernel.engine().now();
        let notification = Arc::new(Notification::new(name, identity, ts, data));
        self.kernel.announce(&notification);
        self.bus.announce(&notification);
    }

    pub(crate) fn is_heard(&self) -> bool {
        self.kernel.is_heard() || self.bus.is_heard()
    }

    /// Asks the hooks, and the person where a hook wants that.
    pub(crate) async fn judge<'a>(&self, identity: &'a Identity, matter: Matter<'a>) -> Judged<'a> {
        let equipment = self.equipment();
        let gate = matter.gate();
        let patience = equipment.settings.hook_patience;
        let mut judged = self.kernel.hooks().judge(identity, matter, patience).await;
        for (hook, error) in &judged.failed {
            let data = json!({"hook": hook, "gate": gate.what(), "error": error});
            self.announce_as(identity, Name::HookError, data);
        }
        if judged.denied.is_none() {
            for (hook, prompt) in std::mem::take(&mut judged.questions) {
                let call = match &judged.matter {
                    Matter::Call { call } => Some(call.clone()),
                    _ => None,
                };
                let is_call = call.is_some();
                let answer = self.ask_person(identity, call, prompt).await;
                judged.asked = true;
                if !is_call {
                    self.announce_answer(identity, None, answer.as_ref().err());
                }
                if let Err(reason) = answer {
                    judged.denied = Some((hook, reason));
                    break;
                }
            }
        }
        judged
    }

    /// Tells what a person said; `no` is why not.
    pub(crate) fn announce_answer(
        &self,
        identity: &Identity,
        call: Option<&str>,
        no: Option<&String>,
    ) {
        let name = if no.is_some() { Name::ApprovalDenied } else { Name::ApprovalGranted };
        self.announce_as(identity, name, json!({"tool_call_id": call, "reason": no}));
    }

    /// The same, for matters where a no ends everything.
    pub(crate) async fn must_pass<'a>(
        &self,
        identity: &'a Identity,
        matter: Matter<'a>,
    ) -> Result<(Matter<'a>, Vec<String>)> {
        let what = matter.gate().what();
        let judged = self.judge(identity, matter).await;
        match judged.denied {
            Some((by, reason)) => Err(Error::Denied { what, by, reason }),
            None => Ok((judged.matter, judged.injected)),
        }
    }
}
