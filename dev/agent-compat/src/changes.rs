//! What the fake model changes in the folder of an agent: a file with the agent's own tool, and others
//! in its shell.

use serde_json::{Value, json};

use crate::tools::{Call, SHELLS, in_shell};

/// The words of the user for which the model makes these changes.
pub(crate) const PROMPT: &str = "Please change the configuration";
/// The file that the agent's own tool changes, with its contents before and after.
pub(crate) const CONFIG: [&str; 3] = ["config.toml", "mode = \"careful\"\n", "mode = \"fast\"\n"];
/// The file that the shell deletes, which git does not track.
pub(crate) const RESULTS: &str = "results.bin";
/// The file that the shell makes and commits.
pub(crate) const COMMITTED: &str = "committed.txt";

/// What the shell runs last.
pub(crate) const COMMIT: &str = "git commit --quiet -m Agent";

/// Returns the call after `done` results, with one of the tools `offered`. `None` after the last.
pub(crate) fn next(offered: &[String], done: usize) -> Option<Call> {
    let is_offered = |name: &str| offered.iter().any(|offered| offered == name);
    let mut calls = own(&is_offered);
    let line =
        format!("rm {RESULTS} && echo made > {COMMITTED} && git add {COMMITTED} && {COMMIT}");
    let shell = SHELLS.into_iter().find(|shell| is_offered(shell))?;
    calls.push((shell, in_shell(shell, &line)));
    let (name, arguments) = calls.into_iter().nth(done)?;
    let id = format!("change_{done}");
    Some(Call { id, namespace: None, name: name.to_owned(), arguments })
}

/// Returns the calls that change the file [`CONFIG`], in the way of the agent that offers the tools.
fn own(is_offered: &impl Fn(&str) -> bool) -> Vec<(&'static str, Value)> {
    let [path, before, after] = CONFIG;
    if is_offered("Edit") {
        // Claude Code edits only what it has read.
        let edit = json!({"file_path": path, "old_string": before, "new_string": after});
        return vec![("Read", json!({"file_path": path})), ("Edit", edit)];
    }
    if is_offered("write_file") {
        return vec![("write_file", json!({"file_path": path, "content": after}))];
    }
    if is_offered("exec_command") {
        // Codex applies a patch that is given to its shell without starting a program.
        let (old, new) = (before.trim_end(), after.trim_end());
        let patch = format!(
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n\
             *** End Patch\nEOF"
        );
        return vec![("exec_command", in_shell("exec_command", &patch))];
    }
    if is_offered("webfetch") {
        let edit = json!({"filePath": path, "oldString": before, "newString": after});
        return vec![("read", json!({"filePath": path})), ("edit", edit)];
    }
    vec![("write", json!({"path": path, "content": after}))]
}
