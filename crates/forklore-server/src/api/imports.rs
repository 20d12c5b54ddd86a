//! The import of a session file that a client sends. The server reads no path that a request names: the
//! bytes lie in a folder of its own for as long as the import takes.

use std::fs::{self, File};
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use forklore::Engine;
use forklore::import::{ImportOptions, ImportReport, Importer};
use forklore_api::{Import, Imported, Scope};
use forklore_core::ErrorKind;
use forklore_core::workspace::Workspace;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::bytes::receive_into;
use crate::access::Caller;
use crate::api::params::Query;
use crate::problem::Problem;
use crate::service::Service;

/// The longest file, in bytes.
const LONGEST: u64 = 1 << 30;
/// How much of a file tells it from others, if its first line is short.
const BEGINNING: usize = 4 << 10;
/// A first line shorter than this is that of many files.
const SHORT: usize = 64;

/// What is said of a session file whose bytes are the body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// The file's name, without folders. Some formats are recognised by it.
    name: Option<String>,
    dialect: Option<String>,
    workspace: Option<String>,
    #[serde(default)]
    again: bool,
    #[serde(default)]
    dry_run: bool,
}

pub(crate) async fn import(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Query(given): Query<Description>,
    body: Request,
) -> Result<impl IntoResponse, Problem> {
    caller.needs(if given.dry_run { Scope::Read } else { Scope::Write })?;
    let (name, dry_run) = (name(given.name.as_deref())?, given.dry_run);
    let workspace = given.workspace.as_deref().map_or_else(|| Workspace::new("/"), Workspace::new);
    let request =
        Import { dialect: given.dialect, again: given.again, ..Import::of(Vec::new(), workspace) };
    let received = receive(&service, body).await?;
    // Here and not in the call, which would hold one of those that run at once while it waits.
    let turn = service.importing.clone().lock_owned().await;
    let state = service.state.clone();
    let imported = service.answer_as(&caller, move |engine| {
        let _turn = turn;
        let folder = Folder::of(&state, dry_run, &name, received)?;
        let report = if dry_run {
            // Into an empty store of its own, which ends with the request.
            let url = format!("sqlite:{}", folder.scratch()?.display());
            let opened = forklore::blocking::open(&url);
            let scratch =
                opened.map_err(|error| Problem::new(ErrorKind::Internal, error.to_string()))?;
            read(&scratch, &folder, &request)?
        } else {
            read(engine, &folder, &request)?
        };
        answer(report, &name)
    });
    let imported = imported.await?;
    let is_new = !dry_run && imported.sessions.iter().any(|session| session.appended > 0);
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(imported)))
}

/// Receives the file, whatever its name will be.
async fn receive(service: &Service, body: Request) -> Result<NamedTempFile, Problem> {
    let failed = |source| Problem::from(forklore::Error::io("receiving a file", source));
    let all = service.state.join("imports");
    fs::create_dir_all(&all).map_err(failed)?;
    let file = NamedTempFile::new_in(&all).map_err(failed)?;
    let (file, length) = receive_into(body, file, LONGEST).await?;
    if length > LONGEST {
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        let detail = format!("a session file has at most {LONGEST} bytes");
        return Err(Problem::with_status(status, ErrorKind::InvalidArgs, detail)
            .or_try("import it with the program, on a machine that has the file"));
    }
    Ok(file)
}

/// Returns the name of the file in the server's folder. It never leads out of it.
fn name(given: Option<&str>) -> Result<String, Problem> {
    let name = given.unwrap_or("session.jsonl");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ' | '+');
    if name.is_empty() || name.len() > 200 || name.starts_with('.') || !name.chars().all(is_plain) {
        return Err(Problem::invalid(
            "name is that of a file, without folders: letters, digits and -._+",
        ));
    }
    Ok(name.to_owned())
}

fn read(engine: &Engine, folder: &Folder, request: &Import) -> Result<ImportReport, Problem> {
    // A container is a database, whose pages the server does not trust.
    let engine = engine.clone().with_containers(&[]);
    let options = ImportOptions::of(request);
    Ok(Importer::new(&engine).import(std::slice::from_ref(&folder.file), &options, &mut |_| {})?)
}

/// Returns the answer, in which the file has the name that the client gave it.
fn answer(mut report: ImportReport, name: &str) -> Result<Imported, Problem> {
    for problem in report.problems.iter_mut().chain(&mut report.passed_over) {
        name.clone_into(&mut problem.path);
    }
    if report.files == 0 {
        let first = report.problems.first();
        let detail = match first {
            Some(problem) => format!("{name}: {}", problem.message),
            None => format!("{name} has no session that forklore reads"),
        };
        let mut problem = Problem::invalid(detail);
        let details = serde_json::json!({ "problems": report.problems });
        if let Ok(details) = serde_json::from_value(details) {
            *problem.details = details;
        }
        return Err(problem);
    }
    Ok(report.answer())
}

/// A folder with the file of an upload, which only one import uses at a time. Dropping it removes it.
struct Folder {
    path: PathBuf,
    file: PathBuf,
    _lock: File,
}

impl Folder {
    /// Gives a file its name. What begins like an earlier file gets the same path as that one, so that an
    /// import of the longer file goes on where the earlier one ended.
    fn of(
        state: &Path,
        dry_run: bool,
        name: &str,
        mut received: NamedTempFile,
    ) -> Result<Self, Problem> {
        let failed = |source| Problem::from(forklore::Error::io("receiving a file", source));
        let all = state.join("imports");
        received.flush().map_err(failed)?;
        let key = key(received.as_file_mut()).map_err(failed)?;
        // Another server may have the same folder.
        let lock = File::create(all.join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let path = all.join(if dry_run { format!("{key}-plan") } else { key });
        fs::create_dir_all(&path).map_err(failed)?;
        let folder = Self { file: path.join(name), path, _lock: lock };
        received.persist(&folder.file).map_err(|error| failed(error.error))?;
        Ok(folder)
    }

    /// Returns the path of a store that ends with the folder.
    fn scratch(&self) -> Result<PathBuf, Problem> {
        // Not beside the file, where agents' formats look for more.
        let folder = self.path.join("scratch");
        let failed = |source| Problem::from(forklore::Error::io("planning an import", source));
        fs::create_dir_all(&folder).map_err(failed)?;
        Ok(folder.join("plan.db"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Whatever stays is replaced by the next import of the same file.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Returns a text that is the same for a file and its continuation.
fn key(file: &mut File) -> std::io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let mut begin = Vec::new();
    file.take(BEGINNING as u64).read_to_end(&mut begin)?;
    let line = begin.iter().position(|byte| *byte == b'\n').unwrap_or(begin.len());
    let line = begin.get(..line).filter(|line| line.len() >= SHORT).unwrap_or(&begin);
    Ok(Sha256::digest(line).iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}
