//! Runs as the hook of another agent: records the files of its session. The agent goes on whatever
//! happens here, so the result is recorded for `hooks list`.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use forklore::api::HookRun;
use forklore_workspace::{AgentSession, project_folder};
use jiff::Timestamp;
use serde::Deserialize;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::{agent_config, store, wiring};

/// The most bytes that are read from an agent.
const MOST: u64 = 64 << 20;

/// What an agent says about the moment.
#[derive(Deserialize)]
struct Moment {
    #[serde(alias = "thread-id", alias = "thread_id")]
    session_id: String,
    cwd: PathBuf,
}

/// Records the files for the session that an agent names on standard input, or in `given`.
pub(crate) fn run(agent: &str, given: Option<&str>, app: &App) {
    let error = record(agent, given, app).err().map(|error| error.to_string());
    let run = HookRun { at: Timestamp::now(), error };
    // Nobody could be shown this error.
    let _ = path_of(agent).and_then(|path| {
        let text = serde_json::to_string(&run).map_err(|error| Failure::File {
            doing: "writing the result of a hook".to_owned(),
            source: error.into(),
        })?;
        agent_config::write(&path, &text)
    });
}

/// Returns the last run of the hooks of an agent.
///
/// # Errors
/// When the record cannot be read.
pub(crate) fn last(agent: &str) -> Result<Option<HookRun>> {
    let text = agent_config::read(&path_of(agent)?)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn path_of(agent: &str) -> Result<PathBuf> {
    Ok(wiring::hooks_folder()?.join(format!("{agent}.json")))
}

fn record(agent: &str, given: Option<&str>, app: &App) -> Result<()> {
    let mut text = String::new();
    let read = match given {
        Some(given) => {
            given.clone_into(&mut text);
            Ok(0)
        }
        None => io::stdin().take(MOST).read_to_string(&mut text),
    };
    let doing = || format!("reading what {agent} says");
    read.map_err(|source| Failure::File { doing: doing(), source })?;
    let moment: Moment = serde_json::from_str(&text)
        .map_err(|error| Failure::File { doing: doing(), source: error.into() })?;
    // The folder in which the agent was started; it may have moved elsewhere.
    let variable = format!("{}_PROJECT_DIR", agent.to_uppercase());
    let named = std::env::var_os(variable).map(PathBuf::from);
    let folder = named.as_deref().filter(|folder| folder.is_absolute()).unwrap_or(&moment.cwd);
    let folder = project_folder(folder).ok_or_else(|| no_project(folder))?;
    if let Some(parent) = app.store_url()?.path().and_then(Path::parent).filter(|it| !it.exists()) {
        store::make_private(parent)?;
    }
    let session = AgentSession { dialect: agent.to_owned(), native_id: moment.session_id };
    app.files()?.record_moment(&session, &folder)?;
    Ok(())
}

fn no_project(folder: &Path) -> Failure {
    let path = folder.display();
    match fs::metadata(folder) {
        Ok(_) => Failure::invalid(format!("{path} contains your home, so no files were recorded")),
        Err(source) => Failure::File { doing: format!("looking into {path}"), source },
    }
}
