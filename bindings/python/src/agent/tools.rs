//! Tools that are Python functions.

use forklore_agent::tool::{CallContext, Caller, Step, ToolCall, ToolOutcome, ToolSpec, Tools};
use forklore_api::event::{ApplicationEvent, ApplicationName};
use forklore_core::Data;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use pyo3::prelude::*;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::config::{self, invalid};
use super::reply::Question;
use super::session::delegated;
use super::work::{Work, start};

/// A set of tools whose calls a Python object executes.
pub(super) struct FunctionTools {
    pub(super) specs: Vec<ToolSpec>,
    pub(super) callables: Py<PyAny>,
}

/// What a tool reports while it works.
enum Report {
    Step(Step),
    Event(ApplicationEvent),
}

/// A running call, as its tool sees it.
#[pyclass(frozen, module = "forklore._native")]
pub(crate) struct Call {
    session: String,
    cancelled: CancellationToken,
    caller: Caller,
    reports: mpsc::UnboundedSender<Report>,
}

/// The outcome of a call, as Python code writes it.
#[derive(Deserialize)]
struct Outcome {
    content: Data,
    is_error: bool,
}

#[pymethods]
impl Call {
    /// The id of the session that contains the call.
    #[getter]
    fn session_id(&self) -> &str {
        &self.session
    }

    /// Whether the turn was interrupted, so that the tool should return.
    #[getter]
    fn cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Reports how much of the work is done. After the end of the call, does nothing.
    #[pyo3(signature = (done, total=None, message=None))]
    fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        self.report(Report::Step(Step { done, total, message }));
    }

    /// Announces an event of the application. After the end of the call, does nothing.
    fn announce(&self, name: &str, data: &str) -> PyResult<()> {
        self.report(Report::Event(event(name, data)?));
        Ok(())
    }

    /// Lets a sub-agent do a task.
    #[pyo3(signature = (task, config, callables, done))]
    fn delegate(
        &self,
        task: &str,
        config: Option<&str>,
        callables: Option<Py<PyAny>>,
        done: Py<PyAny>,
    ) -> PyResult<Work> {
        let task = config::delegate(task, config, callables)?;
        let caller = self.caller.clone();
        start(None, done, async move { delegated(caller.delegate(task).await?) })
    }
}

impl Call {
    fn report(&self, report: Report) {
        // The receiver is gone after the end of the call.
        let _ = self.reports.send(report);
    }
}

/// Returns an event of the application.
pub(super) fn event(name: &str, data: &str) -> PyResult<ApplicationEvent> {
    let name: ApplicationName = name.parse().map_err(invalid)?;
    Ok(ApplicationEvent::new(name, serde_json::from_str(data).map_err(invalid)?))
}

impl Tools for FunctionTools {
    fn specs(&self) -> Vec<ToolSpec> {
        self.specs.clone()
    }

    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        async move {
            match self.answer(call, context).await {
                Ok(outcome) => outcome,
                Err(why) => ToolOutcome::failed(&why),
            }
        }
        .boxed()
    }
}

impl FunctionTools {
    async fn answer(&self, call: &ToolCall, context: &CallContext) -> Result<ToolOutcome, String> {
        let (sender, mut reports) = mpsc::unbounded_channel();
        let running = Call {
            session: context.session.to_string(),
            cancelled: context.cancelled.clone(),
            caller: context.caller.clone(),
            reports: sender,
        };
        let payload = serde_json::to_string(call).map_err(|error| error.to_string())?;
        let running = Python::try_attach(|py| Py::new(py, running));
        let running = running.ok_or("the interpreter ends")?.map_err(|error| error.to_string())?;
        let question = Question::put(&self.callables, "tool", &payload, vec![running.into_any()])?;
        let Question { running: work, mut answer } = question;
        let mut is_cancelled = false;
        let answer = loop {
            tokio::select! {
                biased;
                Some(report) = reports.recv() => pass_on(report, context),
                answer = &mut answer => break answer,
                () = context.cancelled.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    work.cancel();
                }
            }
        };
        work.ended();
        while let Ok(report) = reports.try_recv() {
            pass_on(report, context);
        }
        let answer = answer.map_err(|_| "its event loop has ended".to_owned())??;
        let Outcome { content, is_error } =
            serde_json::from_str(&answer).map_err(|error| format!("the result: {error}"))?;
        Ok(ToolOutcome { content, is_error })
    }
}

fn pass_on(report: Report, context: &CallContext) {
    match report {
        Report::Step(step) => context.progress.tell(step),
        Report::Event(event) => context.caller.announce(event),
    }
}
