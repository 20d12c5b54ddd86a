//! An MCP client: tools for the kernel, from the MCP servers of the user's configuration.
//!
//! Use this crate to give an agent the tools of MCP servers. For tools inside the program,
//! implement [`Tools`](forklore_agent::tool::Tools) yourself.
//!
//! - [`McpTools`] implements `Tools` with the tools of MCP servers. A server is a child process, or
//!   is called over HTTP.
//! - [`ServerConfig`] is the user's configuration of one server, which has a [`ServerName`].
//! - [`Rules`] determine which calls are allowed, which are denied, and which need approval.
//!   [`UserPolicy`] applies the rules to the tools of servers.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use forklore_agent::approve::Rule;
//! use forklore_agent::tool::{CallContext, ToolCall, ToolOutcome, Tools as _};
//! use forklore_core::Data;
//! use forklore_mcp_client::{McpTools, Rules, ServerConfig, ServerName};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let program = r#"
//! # import json, sys
//! # for line in sys.stdin:
//! #     request = json.loads(line)
//! #     if request["method"] == "initialize":
//! #         version = request["params"]["protocolVersion"]
//! #         result = {"protocolVersion": version, "capabilities": {"tools": {}},
//! #                   "serverInfo": {"name": "clock", "version": "1"}}
//! #     elif request["method"] == "tools/list":
//! #         result = {"tools": [{"name": "now", "inputSchema": {"type": "object"}}]}
//! #     elif request["method"] == "tools/call":
//! #         result = {"content": [{"type": "text", "text": "12:00"}]}
//! #     else:
//! #         continue
//! #     print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
//! # "#;
//! // `program` is an MCP server in Python with one tool, `now`.
//! let clock = ServerConfig {
//!     command: Some("python3".to_owned()),
//!     args: vec!["-c".to_owned(), program.to_owned()],
//!     ..ServerConfig::default()
//! };
//! let tools = McpTools::new(&BTreeMap::from([("clock".parse::<ServerName>()?, clock)]))?;
//! assert!(tools.start().await.is_empty(), "every server starts");
//!
//! let [now] = tools.listed().try_into().map_err(|_| "one tool")?;
//! let rules = Rules { allow: vec!["clock.*".parse()?], ..Rules::default() };
//! assert_eq!(rules.of(&now.tool.to_string()), Rule::Allow);
//!
//! let call = ToolCall { id: "c1".to_owned(), name: now.called, arguments: Data::parse("{}")? };
//! // `context` names the session and lets it cancel the call.
//! # let context = CallContext {
//! #     session: "plan".parse()?, cancelled: Default::default(), progress: Default::default(),
//! #     caller: Default::default(),
//! # };
//! assert_eq!(tools.call(&call, &context).await, ToolOutcome::text("12:00"));
//! tools.end().await;
//! # Ok(())
//! # }
//! ```
//!
//! A server is untrusted: its output is bounded, its failures never end a turn, and a child process
//! never outlives its [`McpTools`]. The crate does not ask a person for approval, and it is no MCP
//! server. It supports the tools of MCP, but not prompts or sampling.

mod config;
mod http;
mod name;
mod outcome;
mod policy;
mod redact;
mod server;
mod set;
mod stderr_tail;
mod stdio;

pub use config::{ConfigError, ServerConfig};
pub use name::{NameError, Qualified, ServerName};
pub use policy::{Pattern, PatternError, Rules, UserPolicy};
pub use server::StartError;
pub use set::{Listed, McpTools, Problem};
