//! The configuration of a session, as Python code writes it.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use forklore_agent::delegate_tool::{DelegateTool, Limits};
use forklore_agent::model::{Model, ModelName, Options};
use forklore_agent::tool::ToolSpec;
use forklore_agent::{Budget, Delegate, Prices, SessionConfig, Settings};
use forklore_bindings::Failure;
use forklore_core::{Data, ErrorKind, Label, SessionId};
use forklore_llm::{HttpModel, ModelConfig};
use pyo3::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::approve::{FunctionApprover, Patterns};
use super::failure::exception;
use super::model::FunctionModel;
use super::tools::FunctionTools;
use crate::failure::raised;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    model: WrittenModel,
    tools: Vec<Tool>,
    policy: Patterns,
    asks: bool,
    delegate: Option<Limits>,
    system: Option<String>,
    settings: WrittenSettings,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenModel {
    Function { provider: String, model: String, context_window: Option<u64> },
    Http(Box<ModelConfig>),
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    description: String,
    parameters: Data,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenSettings {
    max_output_tokens: Option<u32>,
    temperature: Option<f64>,
    must_call: bool,
    patience: Option<f64>,
    prices: Option<Prices>,
    budget: WrittenBudget,
    attempts: u32,
    backoff: f64,
    longest_backoff: f64,
    grace: f64,
    result_bytes: usize,
    hook_patience: f64,
    stuck_rounds: Option<u32>,
    compact_at: Option<f64>,
    lease_wait: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenBudget {
    model_calls: Option<u32>,
    tokens: Option<u64>,
    cost: Option<f64>,
    seconds: Option<f64>,
}

/// A task for a sub-agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDelegate {
    task: String,
    agent: Option<String>,
    resume: Option<SessionId>,
    id: Option<SessionId>,
    label: Option<Label>,
    title: Option<String>,
    config: Option<Data>,
    metadata: Option<Data>,
    permissions: Option<BTreeSet<String>>,
    #[serde(default)]
    budget: WrittenBudget,
}

impl Default for WrittenSettings {
    fn default() -> Self {
        let kernel = Settings::default();
        Self {
            max_output_tokens: None,
            temperature: None,
            must_call: false,
            patience: None,
            prices: None,
            budget: WrittenBudget::default(),
            attempts: kernel.attempts,
            backoff: kernel.backoff.as_secs_f64(),
            longest_backoff: kernel.longest_backoff.as_secs_f64(),
            grace: kernel.grace.as_secs_f64(),
            result_bytes: kernel.result_bytes,
            hook_patience: kernel.hook_patience.as_secs_f64(),
            stuck_rounds: kernel.stuck_rounds,
            compact_at: kernel.compact_at,
            lease_wait: kernel.lease_wait.as_secs_f64(),
        }
    }
}

impl Default for WrittenBudget {
    fn default() -> Self {
        let Budget { model_calls, tokens, cost, time } = Budget::default();
        Self { model_calls, tokens, cost, seconds: time.map(|time| time.as_secs_f64()) }
    }
}

impl WrittenBudget {
    fn read(self) -> PyResult<Budget> {
        let Self { model_calls, tokens, cost, seconds } = self;
        let time = seconds.map(|seconds| duration("seconds", seconds)).transpose()?;
        Ok(Budget { model_calls, tokens, cost, time })
    }
}

impl WrittenSettings {
    fn read(self, prices: Option<Prices>) -> PyResult<Settings> {
        let patience = self.patience.map(|patience| duration("patience", patience)).transpose()?;
        Ok(Settings {
            options: Options {
                max_output_tokens: self.max_output_tokens,
                temperature: self.temperature,
                must_call: self.must_call,
                patience,
            },
            prices: self.prices.or(prices),
            budget: self.budget.read()?,
            attempts: self.attempts,
            backoff: duration("backoff", self.backoff)?,
            longest_backoff: duration("longest_backoff", self.longest_backoff)?,
            grace: duration("grace", self.grace)?,
            result_bytes: self.result_bytes,
            hook_patience: duration("hook_patience", self.hook_patience)?,
            stuck_rounds: self.stuck_rounds,
            compact_at: self.compact_at,
            lease_wait: duration("lease_wait", self.lease_wait)?,
        })
    }
}

fn duration(name: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|error| invalid(format!("{name}: {error}")))
}

/// Returns the exception for an argument that is wrong in itself.
pub(super) fn invalid(message: impl Display) -> PyErr {
    raised(Failure {
        kind: ErrorKind::InvalidArgs,
        message: message.to_string(),
        details: serde_json::json!({}),
        next_actions: Vec::new(),
    })
}

/// Reads JSON that Python code wrote.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(invalid)
}

/// Reads the configuration of a session, whose model, tools and approver `callables` calls.
pub(super) fn session(
    py: Python<'_>,
    text: &str,
    callables: &Py<PyAny>,
) -> PyResult<SessionConfig> {
    let written: Written = read(text)?;
    let prices = match &written.model {
        WrittenModel::Http(config) => config.price,
        WrittenModel::Function { .. } => None,
    };
    let mut config = SessionConfig::new(written.model.read(py, callables)?);
    let specs = written.tools.into_iter().map(|Tool { name, description, parameters }| ToolSpec {
        name,
        description,
        parameters,
    });
    config.tools =
        Arc::new(FunctionTools { specs: specs.collect(), callables: callables.clone_ref(py) });
    config.policy = Arc::new(written.policy);
    if written.asks {
        config.approve = Arc::new(FunctionApprover { callables: callables.clone_ref(py) });
    }
    config.delegation = written.delegate.and_then(DelegateTool::within);
    config.system = written.system;
    config.settings = written.settings.read(prices)?;
    Ok(config)
}

impl WrittenModel {
    fn read(self, py: Python<'_>, callables: &Py<PyAny>) -> PyResult<Arc<dyn Model>> {
        match self {
            Self::Function { provider, model, context_window } => Ok(Arc::new(FunctionModel {
                name: ModelName { provider, model },
                context_window,
                callables: callables.clone_ref(py),
            })),
            Self::Http(config) => {
                let model = HttpModel::new(*config).map_err(forklore_agent::Error::NotReady);
                Ok(Arc::new(model.map_err(exception)?))
            }
        }
    }
}

/// Reads a task for a sub-agent. Without `config`, the sub-agent works with its parent's.
pub(super) fn delegate(
    task: &str,
    config: Option<&str>,
    callables: Option<Py<PyAny>>,
) -> PyResult<Delegate> {
    let written: WrittenDelegate = read(task)?;
    let session_config = match (config, callables) {
        (Some(config), Some(callables)) => {
            Some(Python::attach(|py| session(py, config, &callables))?)
        }
        _ => None,
    };
    Ok(Delegate {
        agent: written.agent,
        resume: written.resume,
        id: written.id,
        label: written.label,
        title: written.title,
        config: written.config,
        metadata: written.metadata,
        permissions: written.permissions,
        session_config,
        budget: written.budget.read()?,
        ..Delegate::new(&written.task)
    })
}
