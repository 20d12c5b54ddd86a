//! The file with which opencode or Pi calls forklore: a plugin, an extension.

use super::agent::Agent;

/// How each such file begins, by which it is recognised.
const MARK: &str = "// Written by `forklore hooks install`";

/// The function that both agents call. It ends when the program has ended, whatever happened.
const LOOK: &str = r#"
import { spawn } from "node:child_process"

const look = (session_id, cwd) => new Promise((done) => {
  try {
    const options = { stdio: ["pipe", "ignore", "ignore"], detached: true }
    const child = spawn(command[0], command.slice(1), options)
    child.on("error", () => done())
    child.on("close", () => done())
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ session_id, cwd }))
  } catch {
    done()
  }
})
"#;

const OPENCODE: &str = r#"
export const Forklore = async ({ directory }) => ({
  "chat.message": async (input) => {
    await look(input.sessionID, directory)
  },
  event: async ({ event }) => {
    if (event.type === "session.idle") await look(event.properties.sessionID, directory)
  },
})
"#;

const PI: &str = r#"
export default function (pi) {
  const turn = async (_event, ctx) => {
    await look(ctx.sessionManager.getSessionId(), ctx.cwd)
  }
  pi.on("before_agent_start", turn)
  pi.on("agent_end", turn)
}
"#;

/// Returns the file. `text` is what it contains now.
///
/// # Errors
/// If it contains something that forklore did not write.
pub(super) fn with(text: &str, agent: Agent, words: &[String]) -> Result<String, String> {
    if !text.trim().is_empty() && !is_ours(text) {
        return Err("somebody else wrote it".to_owned());
    }
    let remove = format!("{MARK}: `forklore hooks remove {}` deletes it.", agent.name());
    let words = serde_json::to_string(words).map_err(|error| error.to_string())?;
    let rest = if agent == Agent::Pi { PI } else { OPENCODE };
    Ok(format!("{remove}\nconst command = {words}\n{LOOK}{rest}"))
}

pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(MARK)
}
