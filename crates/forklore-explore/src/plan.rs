//! What an exploration with coding agents tries.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forklore_api::{AgentWork, ResumeInRequest};
use forklore_core::export::Unattended;
use forklore_core::price::PriceTable;
use forklore_core::{Header, Selector, SessionId};
use forklore_host::explore::{Judge, Row, Try};

/// How an agent gets the session that it goes on with.
#[derive(Clone)]
pub enum Continuation {
    /// As a session file of its own, which this function writes.
    File(WriteSessionFile),
    /// It works on the store itself: forklore's own agent. This function returns its command.
    Store(GoOnInStore),
}

/// The session file of an agent, and how the agent goes on with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// The file.
    pub path: PathBuf,
    /// The commands, in order. Each is a program and its arguments. The commands before the last one
    /// prepare: if one of them fails, the attempt has not begun.
    pub commands: Vec<Vec<String>>,
    /// Whether the last command reads the prompt from its standard input. Otherwise it has the prompt
    /// as an argument.
    pub reads_prompt: bool,
}

/// Returns the program and the arguments that go on with a session of the store. The program reads the
/// prompt from its standard input.
pub type GoOnInStore = Arc<dyn Fn(&SessionId, &Unattended) -> Vec<String> + Send + Sync>;

/// Writes a session as a new file of an agent. Fails with a message for the user.
pub type WriteSessionFile =
    Arc<dyn Fn(&ResumeInRequest, &Unattended) -> Result<SessionFile, String> + Send + Sync>;

/// An exploration with coding agents.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The session to go on with.
    pub session: Header,
    /// The cut at which the attempts begin. `None` is the end of the session, with the present files
    /// of its folder.
    pub at: Option<Selector>,
    /// The agent, such as `codex`.
    pub agent: String,
    /// The attempts. A model that equals the agent's name is the agent's own choice.
    pub tries: Vec<Try>,
    /// Whether the agents may do everything without asking.
    pub everything: bool,
    /// The program that judges the files.
    pub judge: Option<Judge>,
    /// The beginning of the labels. `None` derives it from the session.
    pub label: Option<String>,
    /// How many agents work at once.
    pub jobs: usize,
    /// How long one agent may work.
    pub timeout: Duration,
    /// The cost at which all agents are stopped, in the currency of the prices.
    pub max_cost: Option<f64>,
    /// The prices of models, for calls whose records state no cost.
    pub prices: PriceTable,
}

impl Plan {
    /// Returns the row of an attempt that has not begun.
    #[must_use]
    pub fn waiting(&self, tried: &Try) -> Row {
        let work = AgentWork {
            agent: self.agent.clone(),
            folder: None,
            tests: None,
            files: 0,
            added: 0,
            removed: 0,
        };
        Row { work: Some(work), ..tried.waiting() }
    }

    /// Returns why agents that cost too much are stopped, if the plan has a maximum cost.
    #[must_use]
    pub fn over_budget(&self) -> Option<String> {
        let (most, currency) = (self.max_cost?, &self.prices.currency);
        Some(format!("the agents cost more than {most} {currency}, so they were stopped"))
    }

    /// Returns what the agent of an attempt is to do.
    pub(crate) fn unattended(&self, tried: &Try) -> Unattended {
        let model = Some(&tried.model).filter(|model| **model != self.agent);
        Unattended {
            prompt: tried.prompt.clone(),
            model: model.cloned(),
            everything: self.everything,
        }
    }
}
