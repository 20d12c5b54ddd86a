//! opencode, which has all its sessions in one database and reads a new one from a document.
//!
//! The branch of an attempt begins before opencode imports the document. So whoever reads the
//! database first, another import too, finds that the session has a branch already.

use std::cell::OnceCell;
use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use forklore_host::CancellationToken;
use forklore_import::AwaitedSession;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;

use crate::program::printed;
use crate::{Error, Result, SessionFile};

/// The name of the agent and of its program.
pub(crate) const NAME: &str = "opencode";
/// What `opencode run` denies a session that it begins: nobody would answer.
const DENIED: [&str; 3] = ["question", "plan_enter", "plan_exit"];
/// The provider of a message that opencode did not write (docs/formats/opencode.md, Export).
const UNKNOWN: &str = "unknown";

/// The program on this machine, which is asked where it has its sessions and which model it uses.
pub(crate) struct Opencode {
    /// The folder in which its settings are looked for.
    folder: PathBuf,
    cancel: CancellationToken,
    database: PathBuf,
    model: OnceCell<String>,
}

impl Opencode {
    /// Finds the database. Must be called where blocking is allowed, in a runtime.
    pub(crate) fn find(folder: &Path, cancel: &CancellationToken) -> Result<Self> {
        let printed = ask(&["db", "path"], folder, cancel)?;
        let last = printed.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let path = PathBuf::from(last.trim());
        // An import looks for the file by its path without links.
        let real = path.canonicalize().or_else(|error| match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
            _ => Err(error),
        });
        let database = real.map_err(|source| Error::NoDatabase { printed: last.into(), source })?;
        let (folder, cancel) = (folder.to_owned(), cancel.clone());
        Ok(Self { folder, cancel, database, model: OnceCell::new() })
    }

    /// Completes a document that was written for `opencode import`, and the command that goes on with
    /// it. Returns the session that opencode will have.
    pub(crate) fn complete(
        &self,
        written: &mut SessionFile,
        model: bool,
    ) -> Result<AwaitedSession> {
        let failed = |error: String| {
            Error::SessionFile(format!("{} is no session: {error}", written.path.display()))
        };
        let text = fs::read_to_string(&written.path).map_err(|error| failed(error.to_string()))?;
        let document = Document::parse(&text).map_err(|error| failed(error.to_string()))?;
        let id = document.info.get("id").and_then(Value::as_str).map(str::to_owned);
        let id = id.ok_or_else(|| failed("it has no id".to_owned()))?;
        let info = Value::Object(document.info);
        let whole = format!("{{\"info\":{info},\"messages\":{}}}\n", document.messages.get());
        fs::write(&written.path, whole).map_err(|error| failed(error.to_string()))?;
        if !model
            && document.needs_model
            && let Some(run) = written.commands.last_mut()
        {
            run.extend(["-m".to_owned(), self.model()?]);
        }
        let line = json!({ "info": info }).to_string();
        let (container, records) = (self.database.clone(), document.records);
        Ok(AwaitedSession { container, id, line, records })
    }

    /// Returns the model that opencode uses in a new session: that of its settings, or else the one
    /// that was used last.
    fn model(&self) -> Result<String> {
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        #[derive(Default, Deserialize)]
        struct Settings {
            model: Option<String>,
        }
        let settings = ask(&["debug", "config"], &self.folder, &self.cancel)?;
        let settings: Settings = serde_json::from_str(&settings).unwrap_or_default();
        let model = match settings.model {
            Some(model) => Some(model),
            None => last_model(&ask(&["debug", "paths"], &self.folder, &self.cancel)?),
        };
        let model = model.ok_or(Error::NoModel)?;
        Ok(self.model.get_or_init(|| model).clone())
    }
}

/// Creates the folder of a document, which only its owner can look into. Dropping it removes it.
pub(crate) fn document_folder() -> Result<TempDir> {
    let private = fs::Permissions::from_mode(0o700);
    let made = tempfile::Builder::new().prefix("forklore-").permissions(private).tempdir();
    made.map_err(|error| Error::SessionFile(format!("no temporary folder can be made: {error}")))
}

/// Removes a session from the database. An import that failed may have left a part of it.
pub(crate) async fn forget(id: &str, folder: &Path) {
    let words = [NAME, "session", "delete", id];
    // A session that stays is one in the list of opencode that has no end.
    let _ = printed(&words, folder, &CancellationToken::new()).await;
}

/// Runs a command that only prints something.
fn ask(words: &[&str], folder: &Path, cancel: &CancellationToken) -> Result<String> {
    Handle::current().block_on(printed(&[&[NAME], words].concat(), folder, cancel))
}

/// Returns the model that was used last, according to the folders that opencode prints.
fn last_model(folders: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Used {
        recent: Vec<Model>,
    }
    #[derive(Deserialize)]
    struct Model {
        #[serde(rename = "providerID")]
        provider: String,
        #[serde(rename = "modelID")]
        model: String,
    }
    let state = folders.lines().find_map(|line| line.strip_prefix("state "))?;
    let used = fs::read_to_string(Path::new(state.trim()).join("model.json")).ok()?;
    let used: Used = serde_json::from_str(&used).ok()?;
    let last = used.recent.into_iter().next()?;
    Some(format!("{}/{}", last.provider, last.model))
}

/// A document for `opencode import`.
struct Document<'a> {
    /// What is stated about the session, which asks nobody.
    info: Map<String, Value>,
    messages: &'a RawValue,
    /// The smallest and the largest id of its messages.
    records: Option<RangeInclusive<String>>,
    /// Whether the last message of the user names no model of opencode, which would go on with it.
    needs_model: bool,
}

impl<'a> Document<'a> {
    fn parse(text: &'a str) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Written<'a> {
            info: Map<String, Value>,
            #[serde(borrow)]
            messages: &'a RawValue,
        }
        #[derive(Deserialize)]
        struct Message {
            info: Info,
        }
        #[derive(Deserialize)]
        struct Info {
            id: String,
            role: String,
            #[serde(default)]
            model: Value,
        }
        let Written { mut info, messages } = serde_json::from_str(text)?;
        let rules =
            DENIED.map(|what| json!({"permission": what, "pattern": "*", "action": "deny"}));
        info.insert("permission".to_owned(), rules.into());
        let all: Vec<Message> = serde_json::from_str(messages.get())?;
        let last = all.iter().rfind(|message| message.info.role == "user");
        let provider = last.and_then(|last| last.info.model.get("providerID"));
        let needs_model = last.is_some() && provider.is_none_or(|provider| provider == UNKNOWN);
        let ids = || all.iter().map(|message| &message.info.id);
        let records =
            ids().min().zip(ids().max()).map(|(first, last)| first.clone()..=last.clone());
        Ok(Self { info, messages, records, needs_model })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a broken expectation ends a test")]
mod tests {
    use super::*;

    fn document(messages: &str) -> String {
        format!("{{\"info\":{{\"id\":\"ses_1\"}},\"messages\":[{messages}]}}")
    }

    fn of_user(id: &str, model: &str) -> String {
        format!(r#"{{"info":{{"id":"{id}","role":"user","model":{model}}},"parts":[]}}"#)
    }

    #[test]
    fn the_last_model_of_a_document_is_gone_on_with_if_opencode_has_it() {
        let own = r#"{"providerID":"anthropic","modelID":"claude"}"#;
        let unknown = r#"{"providerID":"unknown","modelID":"unknown"}"#;
        let needs = |messages: &[String]| {
            Document::parse(&document(&messages.join(","))).unwrap().needs_model
        };
        assert!(!needs(&[]));
        assert!(!needs(&[of_user("msg_1", unknown), of_user("msg_2", own)]));
        assert!(needs(&[of_user("msg_1", own), of_user("msg_2", unknown)]));
        assert!(needs(&[of_user("msg_1", "null")]));
    }

    #[test]
    fn the_records_of_a_document_are_those_between_its_ids() {
        let text = document(&[of_user("msg_2", "null"), of_user("msg_1", "null")].join(","));
        let document = Document::parse(&text).unwrap();
        assert_eq!(document.records, Some("msg_1".to_owned()..="msg_2".to_owned()));
        assert_eq!(document.info["permission"][0]["permission"], "question");
        assert_eq!(Document::parse(&super::tests::document("")).unwrap().records, None);
    }

    #[test]
    fn the_model_that_was_used_last_is_in_the_state() {
        let folder = document_folder().unwrap();
        let folders = format!("data  /x\nstate      {}\n", folder.path().display());
        assert_eq!(last_model(&folders), None);
        let used =
            r#"{"recent":[{"providerID":"p","modelID":"m"},{"providerID":"q","modelID":"n"}]}"#;
        fs::write(folder.path().join("model.json"), used).unwrap();
        assert_eq!(last_model(&folders).as_deref(), Some("p/m"));
        assert_eq!(folder.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}
