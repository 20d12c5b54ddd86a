//! Writes Gemini CLI's session files: a header, then messages. A message replaces an earlier
//! message with the same id. The export uses this to add results to calls.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forklore_core::export::{
    Export, FileWriter, Home, NewFile, NoDestination, Placement, TimedMessage, Unattended,
};
use forklore_core::{Event, EventType, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OWNER, view};
use crate::call_cursor::CallCursor;
use crate::pieces::{self, Losses, Piece};
use crate::splice::quoted;

/// Number of names that are tried for a project's directory: the plain name, then names with a
/// numeric suffix. Gemini CLI tries this number of names and then fails; it never uses the
/// directory of another project.
const ATTEMPTS: usize = 1000;

impl Export for super::Gemini {
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter> {
        let file = file.clone();
        Box::new(Writer {
            file,
            last: None,
            cursor: CallCursor::default(),
            is_written: true,
            count: 0,
            losses: Losses::new(),
        })
    }

    fn home(&self) -> Option<Home> {
        Some(Home { variable: "GEMINI_CLI_HOME", holds: true, folder: ".gemini" })
    }

    /// Returns the path of the exported file, with the current minute in its name. With an earlier
    /// time in its name, the file could be lost: when Gemini CLI starts, it deletes a file if a
    /// newer one has the same session id.
    fn destination(
        &self,
        file: &NewFile,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination> {
        let folder = PathBuf::from("tmp").join(project(&file.cwd, read)?);
        let minute = format!("{:.0}", file.now).replace(':', "-");
        let minute = minute.get(..16).unwrap_or(&minute);
        let id = session_id(file);
        let begun = id.get(..8).unwrap_or(&id);
        let path = folder.join("chats").join(format!("session-{minute}-{begun}.jsonl"));
        Ok(Placement { path, companions: vec![(folder.join(OWNER), file.cwd.clone())] })
    }

    fn start(&self, file: &NewFile, _path: &str) -> Vec<Vec<String>> {
        vec![["gemini", "-r", &session_id(file)].map(str::to_owned).to_vec()]
    }

    fn unattended(&self, file: &NewFile, _: &str, run: &Unattended) -> Option<Vec<Vec<String>>> {
        let id = session_id(file);
        let mut words = ["gemini", "--skip-trust", "-r", &id].map(str::to_owned).to_vec();
        run.add_model(&mut words, "--model");
        let mode = if run.everything { "yolo" } else { "auto_edit" };
        words.extend(["--approval-mode", mode, "-p"].map(str::to_owned));
        words.push(run.argument());
        Some(vec![words])
    }

    /// Returns `false`: the prompt is the argument of `-p`.
    fn reads_prompt(&self) -> bool {
        false
    }
}

/// Returns the id of the exported session. File names contain only its first 8 characters, so these
/// differ from file to file.
fn session_id(file: &NewFile) -> String {
    file.fresh_id(0)
}

/// Returns the name of Gemini CLI's directory for the project in the working directory `cwd`: the
/// registered name, or else the first name that belongs to no other project. The export claims that
/// directory with a file [`OWNER`]. Fails if all possible names belong to other projects.
fn project(cwd: &str, read: &dyn Fn(&Path) -> Option<String>) -> Result<String, NoDestination> {
    #[derive(Default, Deserialize)]
    struct Registry {
        #[serde(default)]
        projects: BTreeMap<String, String>,
    }
    let registry = read(Path::new("projects.json"));
    let registry: Registry =
        registry.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let owner = |name: &str| {
        let owner = read(&PathBuf::from("tmp").join(name).join(OWNER));
        owner.map(|owner| owner.trim().to_owned())
    };
    let free = |name: &String| owner(name).is_none_or(|owner| owner == cwd);
    if let Some(name) = registry.projects.get(cwd).filter(|name| is_name(name) && free(name)) {
        return Ok(name.clone());
    }
    let name = name_of(cwd);
    let mut names =
        (0..ATTEMPTS).map(|n| if n == 0 { name.clone() } else { format!("{name}-{n}") });
    let is_used = |name: &String| registry.projects.values().any(|other| other == name);
    names.find(|name| !is_used(name) && free(name)).ok_or_else(|| {
        NoDestination(format!(
            "the {ATTEMPTS} folders that Gemini CLI names after {cwd}, from {name} on, belong to \
             other projects"
        ))
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the last component of the path `cwd` in lowercase. Replaces each run of characters other
/// than ASCII letters and digits by one hyphen. Returns `project` if no letter or digit is left.
fn name_of(cwd: &str) -> String {
    let last = cwd.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' };
    let name: String = last.to_lowercase().chars().map(plain).collect();
    let words: Vec<_> = name.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "project".to_owned() } else { words.join("-") }
}

struct Writer {
    file: NewFile,
    /// The last message, if the model wrote it. The export adds results to the tool calls in this
    /// message.
    last: Option<Value>,
    /// Where the search for the call of the next result begins in `last`.
    cursor: CallCursor,
    /// Whether the exported file contains the message `last` with all results added to it so far.
    is_written: bool,
    count: u64,
    losses: Losses,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    role: Option<String>,
}

impl Writer {
    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.is_written, true) {
            return Ok(());
        }
        self.last.as_ref().map_or(Ok(()), |last| writeln!(out, "{last}"))
    }

    fn fresh_id(&mut self) -> String {
        self.count += 1;
        self.file.fresh_id(self.count)
    }

    /// Writes a record from a saved conversation as a message. Such a record has the form of a
    /// message in Google's API. A session file cannot contain this form.
    fn content(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        let message = view::message(&event.kind, &event.data.readable());
        let Some(message) = message else { return Ok(false) };
        let starts_turn = event.effect.starts_turn;
        let timed = TimedMessage { message: &message, ts: event.ts, starts_turn };
        self.message(&timed, out).map(|()| true)
    }

    /// Adds a tool result to its call in the last message. Returns `false` if that message does not
    /// contain the call.
    fn answer(&mut self, timed: &TimedMessage<'_>, piece: &Piece) -> bool {
        let Piece::Result { call_id, content, is_error, .. } = piece else { return false };
        let calls = self.last.as_mut().and_then(|last| last.get_mut("toolCalls")?.as_array_mut());
        let Some(call) = calls.and_then(|calls| self.cursor.find(calls, "id", call_id)) else {
            return false;
        };
        let name = call.get("name").cloned().unwrap_or_default();
        let output =
            json!({ if *is_error { "error" } else { "output" }: pieces::text_of(content) });
        let mut parts = vec![json!({"functionResponse":
            {"id": call_id, "name": name, "response": output}})];
        parts.extend(content.iter().filter(|piece| matches!(piece, Piece::Image { .. })).map(part));
        if let Some(call) = call.as_object_mut() {
            call.insert("result".to_owned(), Value::Array(parts));
            call.insert("status".to_owned(), json!(if *is_error { "error" } else { "success" }));
            call.insert("timestamp".to_owned(), json!(format!("{:.3}", timed.ts)));
        }
        self.is_written = false;
        true
    }
}

impl FileWriter for Writer {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let (id, now) = (quoted(&session_id(&self.file)), self.file.now);
        let hash = self.file.fresh_id(0).replace('-', "");
        writeln!(
            out,
            "{{\"sessionId\":{id},\"projectHash\":\"{hash}{hash}\",\"startTime\":\"{now:.3}\",\
             \"lastUpdated\":\"{now:.3}\",\"kind\":\"main\"}}"
        )
    }

    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        self.flush(out)?;
        let line = event.data.get();
        let Ok(Kind { kind, role }) = serde_json::from_str(line) else { return Ok(false) };
        if event.kind.as_str() == "x.gemini.tool_response" {
            // The messages of the calls already contain the results, so the model would get them
            // twice.
            return Ok(true);
        }
        match (kind.as_deref(), role) {
            (Some("gemini"), _) => {
                self.last = serde_json::from_str(line).ok();
                self.is_written = true;
            }
            (Some(_), _) => self.last = None,
            (None, Some(_)) => return self.content(event, out),
            (None, None) => return Ok(true),
        }
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")?;
        Ok(true)
    }

    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
        let role = timed.message.role;
        if role == Role::System {
            pieces::lose(EventType::SYSTEM_MESSAGE.as_str(), &mut self.losses);
            return Ok(());
        }
        let mut pieces = pieces::of_message(timed.message, &mut self.losses);
        let mut answers: Vec<_> =
            pieces.extract_if(.., |piece| matches!(piece, Piece::Result { .. })).collect();
        if !pieces.is_empty() {
            self.flush(out)?;
            let message = message_of(role, &pieces, &self.fresh_id(), timed);
            let by_model = role == Role::Assistant;
            if !by_model {
                writeln!(out, "{message}")?;
            }
            self.last = by_model.then_some(message);
            self.is_written = !by_model;
        }
        answers.retain(|answer| !self.answer(timed, answer));
        for _ in answers {
            pieces::lose(EventType::TOOL_RESULT.as_str(), &mut self.losses);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>> {
        self.flush(out)?;
        if let Some(title) = &self.file.title {
            writeln!(out, "{{\"$set\":{{\"summary\":{}}}}}", quoted(title))?;
        }
        Ok(std::mem::take(&mut self.losses))
    }
}

fn message_of(role: Role, pieces: &[Piece], id: &str, timed: &TimedMessage<'_>) -> Value {
    let timestamp = format!("{:.3}", timed.ts);
    if role != Role::Assistant {
        let parts: Vec<_> = pieces.iter().map(part).collect();
        return json!({"id": id, "timestamp": timestamp, "type": "user", "content": parts});
    }
    let mut calls = Vec::new();
    for piece in pieces {
        if let Piece::Call { id, name, arguments } = piece {
            calls.push(json!({"id": id, "name": name, "args": pieces::object(arguments),
                "status": "cancelled", "timestamp": timestamp}));
        }
    }
    let text = pieces::text_of(pieces);
    let mut message = json!({"id": id, "timestamp": timestamp, "type": "gemini", "content": text,
        "thoughts": []});
    if let (false, Some(fields)) = (calls.is_empty(), message.as_object_mut()) {
        fields.insert("toolCalls".to_owned(), Value::Array(calls));
    }
    message
}

fn part(piece: &Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"text": text}),
        Piece::Image { media_type, base64 } => {
            json!({"inlineData": {"mimeType": media_type, "data": base64}})
        }
        Piece::Call { id, name, arguments } => {
            json!({"functionCall": {"id": id, "name": name, "args": pieces::object(arguments)}})
        }
        Piece::Result { .. } => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_keeps_its_folder_and_takes_nobody_elses() {
        let read = |path: &Path| match path.to_str()? {
            "projects.json" => Some(r#"{"projects":{"/a/known":"k","/b/new":"new"}}"#.to_owned()),
            "tmp/other/.project_root" => Some("/b/other\n".to_owned()),
            "tmp/mine/.project_root" => Some("/a/mine\n".to_owned()),
            _ => None,
        };
        let names = ["/a/known", "/a/new", "/a/other", "/a/mine", "/a/Über Plan_2/", "/"];
        let folders = names.map(|cwd| project(cwd, &read).unwrap());
        assert_eq!(folders, ["k", "new-1", "other-1", "mine", "ber-plan-2", "project"]);
        let escaping = |path: &Path| {
            let is_registry = path == Path::new("projects.json");
            is_registry.then(|| r#"{"projects":{"/a/x":"../../x"}}"#.to_owned())
        };
        assert_eq!(project("/a/x", &escaping).unwrap(), "x");
    }

    #[test]
    fn no_folder_of_another_project_is_used_when_all_names_are_in_use() {
        let owned = |count: usize| {
            move |path: &Path| {
                let name = path.parent()?.file_name()?.to_str()?;
                let number = name.strip_prefix("x-").map_or(Some(0), |n| n.parse().ok())?;
                (path.ends_with(OWNER) && number < count).then(|| "/b/x\n".to_owned())
            }
        };
        assert_eq!(project("/a/x", &owned(999)), Ok("x-999".to_owned()));
        let message = "the 1000 folders that Gemini CLI names after /a/x, from x on, belong to \
                       other projects";
        assert_eq!(project("/a/x", &owned(1000)), Err(NoDestination(message.to_owned())));
    }
}
