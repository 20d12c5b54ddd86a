//! Calls a tool. The call ends with a result, when its turn is interrupted, or after a timeout
//! without progress.

use std::sync::atomic::Ordering;
use std::time::Duration;

use forklore_agent::tool::{CallContext, Step, ToolCall, ToolOutcome};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use rmcp::{RoleClient, ServiceError};
use tokio::sync::mpsc;

use super::denied::Denied;
use super::{Live, Server, error_text, stderr_note};
use crate::outcome;

/// The reason why a tool call got no result.
enum Ended {
    /// The turn of the tool call was interrupted.
    Interrupted,
    /// Neither a result nor a progress report arrived during this time.
    Silent(Duration),
    /// The request failed: the server reported an error, or the connection or the server itself
    /// failed.
    Failed(ServiceError),
    /// The server's response is not a tool result.
    Strange,
}

impl Ended {
    /// Returns a fixed word for the fault of the server, for logs. Returns `None` for an
    /// interruption, and for an error that the server reports in the form that MCP requires.
    fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Interrupted | Self::Failed(ServiceError::McpError(_)) => None,
            Self::Silent(_) => Some("timed_out"),
            Self::Strange => Some("no_result"),
            Self::Failed(error) if Denied::later(error).is_some() => Some("denied"),
            Self::Failed(ServiceError::UnexpectedResponse) => Some("no_result"),
            Self::Failed(_) => Some("connection_lost"),
        }
    }
}

impl Server {
    /// Calls a tool of the server. A failure is returned as the result of the call, for the model.
    pub(crate) async fn call(
        &self,
        tool: &str,
        call: &ToolCall,
        context: &CallContext,
    ) -> ToolOutcome {
        let Some(arguments) = arguments(call) else {
            return outcome::failed("the arguments are not a JSON object");
        };
        let connection = tokio::select! {
            biased;
            () = context.cancelled.cancelled() => return outcome::failed("interrupted"),
            connection = self.live() => connection,
        };
        let live = match connection {
            Ok(connection) => connection,
            Err(error) => {
                let name = &self.name;
                return outcome::failed(&format!("the server `{name}` does not start: {error}"));
            }
        };
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        match self.run(&live, params, context).await {
            Ok(result) => outcome::of(result, self.config.max_output),
            Err(ended) => self.explain(&live, ended).await,
        }
    }

    async fn run(
        &self,
        live: &Live,
        params: CallToolRequestParams,
        context: &CallContext,
    ) -> Result<CallToolResult, Ended> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = live.service.send_cancellable_request(request, options).await;
        let sent = sent.map_err(Ended::Failed)?;
        let steps = live.service.service().steps();
        let token = sent.progress_token.clone();
        let mut progress = steps.of(&token);
        let ended = self.wait(Sent(Some(sent)), &mut progress, context).await;
        steps.forget(&token);
        while let Ok(step) = progress.try_recv() {
            context.progress.tell(step);
        }
        match ended? {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(ServerResult::EmptyResult(_)) => Ok(CallToolResult::default()),
            Ok(_) => Err(Ended::Strange),
            Err(error) => Err(Ended::Failed(error)),
        }
    }

    async fn wait(
        &self,
        mut sent: Sent,
        progress: &mut mpsc::UnboundedReceiver<Step>,
        context: &CallContext,
    ) -> Result<Result<ServerResult, ServiceError>, Ended> {
        loop {
            let Some(handle) = sent.0.as_mut() else { return Err(Ended::Strange) };
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    sent.0 = None;
                    return Ok(answer.unwrap_or(Err(ServiceError::TransportClosed)));
                }
                () = context.cancelled.cancelled() => return Err(Ended::Interrupted),
                Some(step) = progress.recv() => context.progress.tell(step),
                () = tokio::time::sleep(self.config.call) => {
                    return Err(Ended::Silent(self.config.call));
                }
            }
        }
    }

    /// Returns the result that the model receives for a call to which the server sent no result.
    /// `ended` is the reason why there is none.
    async fn explain(&self, live: &Live, ended: Ended) -> ToolOutcome {
        let note = || stderr_note(&self.stderr.lines());
        if let Some(cause) = ended.fault() {
            tracing::warn!(server = %self.name, cause, "a tool server failed during a call");
        }
        outcome::failed(&match ended {
            Ended::Interrupted => "interrupted".to_owned(),
            Ended::Silent(after) => {
                format!("nothing was heard of it for {} seconds{}", after.as_secs(), note())
            }
            Ended::Strange => "the server answered something that is no result".to_owned(),
            Ended::Failed(ServiceError::McpError(error)) => error.message.into_owned(),
            Ended::Failed(error) => {
                live.is_broken.store(true, Ordering::Relaxed);
                if let Some(denied) = Denied::later(&error) {
                    let message = denied.message(&self.name, &self.config.connection);
                    return outcome::failed(&format!("the server `{}`: {message}", self.name));
                }
                let status = match &live.process {
                    Some(process) => process.status().await,
                    None => None,
                };
                let how = match status {
                    Some(status) => format!("ended while the tool ran ({status})"),
                    None => format!("does not answer: {}", error_text::failed(&error)),
                };
                format!("the server `{}` {how}{}", self.name, note())
            }
        })
    }
}

/// A running request. Dropping this value cancels the request at the server.
struct Sent(Option<RequestHandle<RoleClient>>);

impl Drop for Sent {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        // Without an async runtime, the connection and the server have already ended.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(handle.cancel(Some("nobody waits for the result any more".to_owned())));
        }
    }
}

/// Returns the arguments of a call as an object; null becomes an empty object. Returns `None` for
/// any other value.
fn arguments(call: &ToolCall) -> Option<JsonObject> {
    let given: Option<JsonObject> = call.arguments.readable().read().ok()?;
    Some(given.unwrap_or_default())
}
