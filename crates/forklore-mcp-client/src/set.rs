//! Combines all servers of a configuration to one tool set for the kernel.

use std::collections::BTreeMap;

use forklore_agent::tool::{CallContext, ToolCall, ToolOutcome, ToolSpec, Tools};
use forklore_core::Data;
use futures_util::future::{BoxFuture, FutureExt, join_all};

use crate::config::{ConfigError, ServerConfig};
use crate::name::{Qualified, ServerName};
use crate::outcome;
use crate::server::{Server, StartError};

/// The tools of all configured MCP servers. Dropping this value stops the servers.
/// [`end`](Self::end) also waits until the servers have stopped.
pub struct McpTools {
    servers: BTreeMap<ServerName, Server>,
}

/// A tool that a server has listed. The server may have stopped since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name by which a model calls the tool.
    pub called: String,
    /// The server, and the server's name for the tool. Escape this name for display, because the
    /// server may use any characters.
    pub tool: Qualified,
    /// The server's description of the tool. Escape it for display.
    pub description: String,
}

/// A server that did not start. Its tools are not available.
#[derive(Debug, thiserror::Error)]
#[error("the tool server `{server}` does not start: {source}")]
pub struct Problem {
    /// The name of the server that did not start.
    pub server: ServerName,
    /// The reason why the server did not start.
    pub source: StartError,
}

impl McpTools {
    /// Creates a tool set for the servers of a configuration. Starts no server, and a server has no
    /// tools before it is started.
    ///
    /// # Errors
    /// If the configuration of a server is invalid.
    pub fn new(servers: &BTreeMap<ServerName, ServerConfig>) -> Result<Self, ConfigError> {
        let servers = servers.iter().map(|(name, config)| {
            Ok((name.clone(), Server::new(name.clone(), config.check(name)?)))
        });
        Ok(Self { servers: servers.collect::<Result<_, _>>()? })
    }

    /// Starts all servers that are not running, all at the same time. Returns the servers that
    /// failed to start; the other servers can be used. If a server ends later, the next call of one
    /// of its tools starts the server again.
    pub fn start(&self) -> BoxFuture<'_, Vec<Problem>> {
        async move {
            let started = self.servers.values().map(|server| async move {
                let source = server.ready().await.err()?;
                Some(Problem { server: server.name.clone(), source })
            });
            join_all(started).await.into_iter().flatten().collect()
        }
        .boxed()
    }

    /// Stops all servers, and waits until they have stopped.
    pub fn end(&self) -> BoxFuture<'_, ()> {
        async move {
            join_all(self.servers.values().map(Server::end)).await;
        }
        .boxed()
    }

    /// Returns the tools that the servers have listed, sorted by server and by name.
    #[must_use]
    pub fn listed(&self) -> Vec<Listed> {
        let mut listed = Vec::new();
        for (server, tool) in self.all() {
            let tool_name = Qualified { server: server.name.clone(), tool: tool.name.to_string() };
            let description = tool.description.as_deref().unwrap_or_default().to_owned();
            listed.push(Listed { called: tool_name.called(), tool: tool_name, description });
        }
        listed
    }

    /// Returns the server's tool that a model calls by the name `called`. Returns `None` if no
    /// server has listed such a tool.
    #[must_use]
    pub fn find(&self, called: &str) -> Option<Qualified> {
        self.listed().into_iter().find(|tool| tool.called == called).map(|tool| tool.tool)
    }

    fn all(&self) -> impl Iterator<Item = (&Server, rmcp::model::Tool)> {
        self.servers.values().flat_map(|server| {
            let tools: Vec<_> = server.tools().iter().cloned().collect();
            tools.into_iter().map(move |tool| (server, tool))
        })
    }
}

impl Tools for McpTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let specs = self.all().map(|(server, tool)| {
            let name = Qualified { server: server.name.clone(), tool: tool.name.to_string() };
            ToolSpec {
                name: name.called(),
                description: tool.description.as_deref().unwrap_or_default().to_owned(),
                parameters: Data::of(&*tool.input_schema).unwrap_or_else(|_| Data::null()),
            }
        });
        specs.collect()
    }

    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let Some(tool) = self.find(&call.name) else {
                return outcome::failed(&format!("there is no tool `{}`", call.name));
            };
            match self.servers.get(&tool.server) {
                Some(server) => server.call(&tool.tool, call, context).await,
                None => outcome::failed(&format!("there is no server `{}`", tool.server)),
            }
        })
    }
}
