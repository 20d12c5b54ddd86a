//! The client side of a connection: answers requests of the server, and handles its notifications.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forklore_agent::tool::Step;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
    Tool,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::mpsc;

use super::Tools;

/// The client side of one connection to an MCP server.
pub(crate) struct Client {
    tools: Tools,
    steps: Steps,
    patience: Duration,
}

impl Client {
    pub(super) fn new(tools: &Tools, patience: Duration) -> Self {
        Self { tools: tools.clone(), steps: Steps::default(), patience }
    }

    pub(super) fn steps(&self) -> Steps {
        self.steps.clone()
    }
}

/// The running calls of a connection that can receive progress reports. Maps the progress token of
/// each call to a sender of reports.
#[derive(Clone, Default)]
pub(super) struct Steps(Arc<Mutex<HashMap<ProgressToken, mpsc::UnboundedSender<Step>>>>);

impl Steps {
    /// Returns a receiver of the progress reports of the call with this token. The receiver gets
    /// reports until [`forget`](Self::forget) is called.
    pub(super) fn of(&self, token: &ProgressToken) -> mpsc::UnboundedReceiver<Step> {
        let (reported, steps) = mpsc::unbounded_channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), reported);
        steps
    }

    pub(super) fn forget(&self, token: &ProgressToken) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    fn tell(&self, token: &ProgressToken, step: Step) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiter) = waiting.get(token) {
            // An error means that the call has ended.
            let _ = waiter.send(step);
        }
    }
}

impl ClientHandler for Client {
    /// Returns the description of this client. It offers the server no capabilities: no folders, no
    /// model, and no person to ask.
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("forklore", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        let step =
            Step { done: progress.progress, total: progress.total, message: progress.message };
        self.steps.tell(&progress.progress_token, step);
        std::future::ready(())
    }

    /// Lists the tools of the server again, after the server has reported a change. If the request
    /// fails, the earlier list stays in use.
    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        let listed = tokio::time::timeout(self.patience, context.peer.list_all_tools()).await;
        if let Ok(Ok(tools)) = listed {
            store_tools(&self.tools, tools);
        }
    }
}

/// Stores the tools of a server, sorted by name. A server may list its tools in another order each
/// time. All requests of a family (the sessions with one root) must begin with the same tools in
/// the same order, otherwise the provider's prompt cache does not match. If several tools have the
/// same name, stores only the first.
pub(super) fn store_tools(tools: &Tools, mut named: Vec<Tool>) {
    named.sort_by(|a, b| a.name.cmp(&b.name));
    named.dedup_by(|a, b| a.name == b.name);
    *tools.write().unwrap_or_else(PoisonError::into_inner) = named.into();
}

pub(super) fn current_tools(tools: &Tools) -> Arc<[Tool]> {
    tools.read().unwrap_or_else(PoisonError::into_inner).clone()
}
