//! An agent that forks if two plans are possible.
//!
//! The model is a script, so the example runs without a network. Everything else is what a real
//! agent does: each message is durable before the next step starts, only one runtime at a time
//! writes the session, the model receives what the store returns, and the tools are really called.
//!
//! ```console
//! $ cargo run -p forklore --example agent_loop [FOLDER [STORE]]
//! ```

use std::error::Error;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use forklore::core::Message;
use forklore::prelude::*;
use serde_json::{Value, json};

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().unwrap_or_else(|| ".".into()));
    let url = args.next().unwrap_or_else(|| "memory:".into());
    futures_lite::future::block_on(run(&url, &folder, &mut stdout()))
}

/// Sends the agent a question about a directory, and follows every plan that it proposes.
pub(crate) async fn run(url: &str, folder: &Path, out: &mut impl Write) -> Result<()> {
    let store = forklore::open(url).await?;
    let workspace = Workspace::new(&folder.to_string_lossy());
    let main = store.create(Create::in_workspace(workspace)).await?.id;
    match turn(&store, &main, "Which file here should be shorter?", folder).await? {
        Answer::Choice(plans) => {
            writeln!(out, "main: {} plans are possible", plans.len())?;
            for (number, plan) in plans.iter().enumerate() {
                let label = Some(format!("plan-{}", number + 1).parse()?);
                let fork = Fork { label, ..Fork::of(main.clone()) };
                let branch = store.fork(fork).await?;
                let answer = turn(&store, &branch.child_session_id, plan, folder).await?;
                writeln!(out, "{}: {plan}: {}", branch.label, answer.text())?;
            }
        }
        answer => writeln!(out, "main: {}", answer.text())?,
    }
    let branches = store.branches(&main).await?.branches;
    if let [_, a, b, ..] = branches.as_slice() {
        let difference = store.diff(&a.session_id, &b.session_id).await?;
        let alone = difference.only_a.len();
        writeln!(
            out,
            "{} and {}: {} in common, then {alone} each",
            a.label, b.label, difference.common
        )?;
    }
    store.close().await;
    Ok(())
}

/// Runs one turn: a user message, then model calls and tool calls until the model calls no tool.
/// Returns the model's last answer.
async fn turn(store: &Forklore, session: &SessionId, text: &str, folder: &Path) -> Result<Answer> {
    let head = store.take_lease(session, Turn::OWNER).await?.head_seq();
    let mut turn = Turn { store, session, head };
    let ended = turn.run(text, folder).await;
    // Release the lease in any case, so that the next turn need not wait until it expires.
    store.release(session, Turn::OWNER).await?;
    ended
}

/// A turn of this program, which has the session's lease.
struct Turn<'a> {
    store: &'a Forklore,
    session: &'a SessionId,
    /// The head after this turn's last append. If another writer appends, the next append of this
    /// turn fails with a conflict.
    head: i64,
}

impl Turn<'_> {
    const OWNER: &'static str = "agent_loop";

    async fn run(&mut self, text: &str, folder: &Path) -> Result<Answer> {
        self.append(NewEvent::user(text)?).await?;
        loop {
            // A lease lasts ten seconds, and a model may need longer: renew it before each call.
            self.store.take_lease(self.session, Self::OWNER).await?;
            let given = self.store.inspect(self.session).await?.messages;
            let answer = model(&given);
            self.append(answer.event()?).await?;
            let Answer::Call { id, tool, arguments } = &answer else { return Ok(answer) };
            let (content, is_error) = match call(tool, arguments, folder) {
                Ok(content) => (content, false),
                Err(error) => (error.to_string(), true),
            };
            let result =
                json!({"call_id": id, "name": tool, "content": content, "is_error": is_error});
            self.append(NewEvent::new(EventType::TOOL_RESULT, Data::of(&result)?)).await?;
        }
    }

    /// Appends one event. The event is durable when this method returns.
    async fn append(&mut self, event: NewEvent) -> Result<()> {
        let owner = Some(Self::OWNER.to_owned());
        let request = Batch { events: vec![event], expect: Some(self.head), owner };
        self.head = self.store.append(self.session, request).await?.head_seq;
        Ok(())
    }
}

/// The answer of a model.
enum Answer {
    /// Call a tool.
    Call { id: &'static str, tool: &'static str, arguments: Value },
    /// Several plans are possible.
    Choice(Vec<String>),
    /// A final answer, which ends the turn.
    Message(String),
}

impl Answer {
    fn text(&self) -> String {
        match self {
            Self::Call { tool, .. } => format!("let me call {tool}"),
            Self::Choice(plans) => format!("I see several plans: {}", plans.join("; ")),
            Self::Message(text) => text.clone(),
        }
    }

    fn event(&self) -> Result<NewEvent> {
        let Self::Call { id, tool, arguments } = self else {
            return Ok(NewEvent::assistant(&self.text())?);
        };
        let part = json!({"type": "tool_call", "id": id, "name": tool, "arguments": arguments});
        let data = Data::of(&json!({"content": [part]}))?;
        Ok(NewEvent::new(EventType::ASSISTANT_MESSAGE, data))
    }
}

/// A script instead of a model. Like a model, it has only the messages that it receives.
fn model(messages: &[Message]) -> Answer {
    let Some(last) = messages.last() else { return Answer::Message("What shall I do?".into()) };
    match (result_of("list_files", last), result_of("count_lines", last)) {
        (Some(files), _) => match files.lines().take(2).collect::<Vec<_>>().as_slice() {
            [first, second] => {
                Answer::Choice(vec![format!("Split {first}"), format!("Split {second}")])
            }
            _ => Answer::Message("There is nothing to choose from.".into()),
        },
        (_, Some(lines)) => {
            let half = lines.parse().unwrap_or(0) / 2;
            Answer::Message(format!("{half} of its {lines} lines stay."))
        }
        _ => match last.plain_text().strip_prefix("Split ") {
            Some(file) => {
                Answer::Call { id: "c2", tool: "count_lines", arguments: json!({"file": file}) }
            }
            None => Answer::Call { id: "c1", tool: "list_files", arguments: json!({}) },
        },
    }
}

/// Returns the result of the tool `tool`, if the message contains one.
fn result_of(tool: &str, message: &Message) -> Option<String> {
    message.to_parts().into_iter().find_map(|part| match part {
        Part::ToolResult { name: Some(name), content, .. } if name == tool => content.read().ok(),
        _ => None,
    })
}

/// Calls a tool. `list_files` lists the files of a directory, the largest first; `count_lines`
/// counts the lines of a file.
fn call(tool: &str, arguments: &Value, folder: &Path) -> Result<String> {
    match tool {
        "list_files" => {
            let mut files = Vec::new();
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_type()?.is_file() {
                    files.push((entry.metadata()?.len(), entry.file_name()));
                }
            }
            files.sort_unstable_by(|a, b| b.cmp(a));
            let names = files.iter().map(|(_, name)| name.to_string_lossy());
            Ok(names.collect::<Vec<_>>().join("\n"))
        }
        "count_lines" => {
            let file = arguments.get("file").and_then(Value::as_str).unwrap_or_default();
            // Do not trust the model's path: accept only the name of a file in the directory.
            if Path::new(file).file_name() != Some(file.as_ref()) {
                return Err("a file of the folder is meant".into());
            }
            let bytes = fs::read(folder.join(file))?;
            Ok(String::from_utf8_lossy(&bytes).lines().count().to_string())
        }
        other => Err(format!("there is no tool {other}").into()),
    }
}
