//! `resume-in`: writes a session as a new file that an agent finds and can resume.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use std::{env, fs, io};

use clap::builder::PossibleValuesParser;
use forklore::Engine;
use forklore::api::{ExportTo, Exported, ResumeIn, ResumeInRequest};
use forklore::core::export::{Placement, Shared, Unattended};
use forklore::core::workspace::Workspace;
use forklore::core::{ErrorKind, Selector, SessionId};
use forklore::engine::Outgoing;
use forklore::import::{Importer, WrittenFrom};
use forklore_sanitize::path::file_below;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;
use crate::{agents, new_file, workspace};

use super::{arguments, export};

/// The maximum size, in bytes, of a file that the agent wrote and that is read to find out where
/// the agent looks for sessions.
const SMALL: u64 = 1 << 20;

const EXAMPLES: &str = "\
Examples:
  forklore resume-in claude last
  forklore resume-in codex @plan-b --at turn:2
  forklore resume-in codex @plan-b --share        a new file of a few lines
  forklore resume-in gemini last --dry-run        say where, write nothing
  forklore resume-in pi ./session.jsonl --into-workspace ~/copy

A new file is written where the agent looks for its sessions, never over one that is there; then \
the command is shown that starts the agent with it. The session itself stays as it is and gets a \
branch, to which `forklore import` adds what the agent then writes. opencode \
keeps its sessions in a database: it gets a file in the current directory, which its own import \
reads. Pixir keeps them in the folder it works in.";

/// Go on with a session in the agent itself: write the file it resumes
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent: pi, claude, codex, gemini, opencode, amplifier, ak-coder or pixir
    #[arg(value_parser = PossibleValuesParser::new(agents::to_export_to()), hide_possible_values = true)]
    agent: String,
    /// The session: an id, label or title, last, or a session file
    session: String,
    /// Where to stop: turn:N, message:N, index:N, seq:N, event:ID, start, end [default: end]
    #[arg(long, value_name = "CUT", allow_hyphen_values = true)]
    at: Option<String>,
    /// The agent's own folder [default: the one that its environment variable names, or its usual
    /// one in your home]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// The folder in which the agent will work [default: the session's]
    #[arg(long, value_name = "DIR")]
    into_workspace: Option<PathBuf>,
    /// Only for codex: refer to the original file for the history, and write only new records
    #[arg(long)]
    share: bool,
    /// Print what would be written; write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    /// Returns the arguments with which `forklore resume-in` writes a whole session for an agent.
    pub(super) fn of(agent: String, session: &SessionId) -> Self {
        Self {
            agent,
            session: session.to_string(),
            at: None,
            home: None,
            into_workspace: None,
            share: false,
            dry_run: false,
        }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let at = arguments::selector(args.at.as_deref())?;
    let into = args.into_workspace.as_deref().map(|dir| workspace::of(Some(dir))).transpose()?;
    let (header, engine) = app.session_for(&session, args.dry_run, output)?;
    let cwd = into.map(|workspace| workspace.as_str().to_owned());
    // The file and the branch end at the same event, although the session may grow meanwhile.
    let at = engine.cut(&header, &at.unwrap_or(Selector::End))?.selector();
    let request = ResumeInRequest {
        session_id: header.id,
        to: ExportTo { dialect: args.agent.clone(), at: Some(at.clone()), cwd },
        home: args.home.clone(),
        share: args.share,
        dry_run: args.dry_run,
    };
    let written = write_for(&request, None, &engine)?;
    let branch = branch(&written, &request, at, &engine, output);
    let answer = ResumeIn { branch, ..written.answer };
    let shown = answer.branch.as_ref().map(|branch| output.id(branch));
    output.answer(&answer, |page| {
        let wrote = if request.dry_run { "Would write " } else { "Wrote " };
        page.put(Tone::Good, wrote).put(Tone::Plain, count(answer.events, "record"));
        page.put(Tone::Plain, " to ").put(Tone::Strong, answer.path.display()).end();
        export::left_out(page, &answer.lossy);
        if let Some(branch) = shown {
            page.fact("branch", branch);
        }
        for command in &answer.start {
            page.fact("start", command);
        }
    })
}

/// The session file that was written for an agent.
pub(super) struct Written {
    pub(super) answer: ResumeIn,
    /// Whether the agent goes on in this file itself.
    goes_on: bool,
    /// The agent's commands that go on without a person, if they were asked for and exist.
    pub(super) unattended: Option<Vec<Vec<String>>>,
    /// Whether the last of these commands reads the prompt from its standard input.
    pub(super) reads_prompt: bool,
}

/// Makes the branch that gets what the agent writes into the file. Without it, the file would be a
/// session of its own when it is imported.
fn branch(
    written: &Written,
    request: &ResumeInRequest,
    at: Selector,
    engine: &Engine,
    output: &mut Output,
) -> Option<SessionId> {
    // Codex names the original of a shared file. A file that an agent imports stays as it is.
    if request.dry_run || request.share || !written.goes_on {
        return None;
    }
    let workspace = Workspace::new(&written.answer.cwd);
    let from = WrittenFrom { session: request.session_id.clone(), at, workspace };
    let importer = Importer::new(engine);
    match importer.import_written(&request.to.dialect, &written.answer.path, from) {
        Ok(branch) => branch,
        Err(error) => {
            output.remark(&format!("the file is no branch of the session: {error}"));
            None
        }
    }
}

/// Writes the session file for an agent. If `run` is given, the agent is to do that by itself. In a
/// dry run, only determines what would be written.
pub(super) fn write_for(
    request: &ResumeInRequest,
    run: Option<&Unattended>,
    engine: &Engine,
) -> Result<Written> {
    let outgoing = engine.export_to(&request.session_id, &request.to)?;
    let folder = folder(request.home.as_deref(), &outgoing)?;
    let outgoing = if request.share { shared(outgoing, &folder)? } else { outgoing };
    let placement = outgoing
        .agent()
        .destination(outgoing.file(), &|path| small_file(&folder, path))
        .map_err(|why| {
            Failure::refused(ErrorKind::Conflict, why.to_string())
                .or_try("--into-workspace DIR, a folder with another name")
        })?;
    let path = below(&folder, &placement.path)?;
    if !fits(&folder, &placement.path) {
        return Err(too_long(&request.to.dialect, &outgoing.file().cwd));
    }
    let exported = if request.dry_run {
        outgoing.write(&mut io::sink())?
    } else {
        sidecars(&folder, &outgoing, engine)?;
        target(&folder, &placement, &outgoing)?
    };
    let start = commands(&outgoing, &path)?;
    let absolute = std::path::absolute(&path).map_err(new_file::failed(&path))?;
    let absolute = absolute.to_string_lossy();
    let of = |run| outgoing.agent().unattended(outgoing.file(), &absolute, run);
    let unattended = run.and_then(of);
    let answer = ResumeIn {
        dry_run: request.dry_run,
        path,
        branch: None,
        cwd: outgoing.file().cwd.clone(),
        start,
        events: exported.events,
        lossy: exported.lossy,
    };
    let goes_on = outgoing.agent().home().is_some() || outgoing.agent().is_in_workspace();
    let reads_prompt = outgoing.agent().reads_prompt();
    Ok(Written { answer, goes_on, unattended, reads_prompt })
}

/// Returns the agent's folder: `home`, or else the folder that the agent's environment variable
/// names, or else the agent's default folder below the home directory. For an agent that stores its
/// sessions in the directory in which it works, returns that directory. For an agent without a
/// folder of its own, returns the current directory.
fn folder(home: Option<&Path>, outgoing: &Outgoing) -> Result<PathBuf> {
    if let Some(home) = home {
        return Ok(home.to_owned());
    }
    if outgoing.agent().is_in_workspace() {
        let workspace = PathBuf::from(&outgoing.file().cwd);
        let none = || {
            let message = format!("{} is no folder", workspace.display());
            Failure::refused(ErrorKind::NotFound, message).or_try("--into-workspace DIR")
        };
        return if workspace.is_dir() { Ok(workspace) } else { Err(none()) };
    }
    let Some(home) = outgoing.agent().home() else {
        return env::current_dir().map_err(|source| Failure::File {
            doing: "looking for the current directory".into(),
            source,
        });
    };
    let inside: PathBuf = home.folder.split('/').collect();
    if let Some(named) = env::var_os(home.variable).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return Ok(if home.holds { named.join(inside) } else { named });
    }
    let none = || {
        let message = "there is no home directory";
        Failure::refused(ErrorKind::NotFound, message).or_try("--home DIR")
    };
    env::home_dir().map(|own| own.join(inside)).ok_or_else(none)
}

/// Returns an export that writes only the new records, and refers to the original file for the
/// history. The agent must support this. The original file must be in the agent's own folder, and
/// must still contain the last inherited record as it was imported.
fn shared(outgoing: Outgoing, folder: &Path) -> Result<Outgoing> {
    let refused = |message: &str| Failure::refused(ErrorKind::Conflict, message);
    let Some((path, last, found)) = outgoing.shareable() else {
        return Err(refused(
            "the history cannot be shared: only Codex goes on from another file, and only from one of \
             its own that was imported",
        ));
    };
    let path = Path::new(&path);
    let home = folder.canonicalize().map_err(new_file::failed(folder))?;
    if !path.starts_with(home) {
        return Err(refused("the history cannot be shared: the original is not the agent's own"));
    }
    let bytes = end_of_line(path, last.get()).map_err(new_file::failed(path))?;
    let Some(bytes) = bytes else {
        return Err(refused("the history cannot be shared: the original has changed"));
    };
    Ok(outgoing.sharing(Shared { bytes, ..found }))
}

/// Returns the byte offset after the first line that equals `text`, or `None` if there is no such
/// line.
fn end_of_line(path: &Path, text: &str) -> io::Result<Option<u64>> {
    let mut file = BufReader::with_capacity(new_file::BUFFER, fs::File::open(path)?);
    let (mut line, mut end) = (Vec::new(), 0);
    loop {
        line.clear();
        end += file.read_until(b'\n', &mut line)? as u64;
        match line.strip_suffix(b"\n") {
            Some(message) if message == text.as_bytes() => return Ok(Some(end)),
            Some(_) => {}
            None => return Ok(None),
        }
    }
}

/// Joins the relative path `inside` to `folder`. Allows only normal path components, because data
/// of a session must never lead out of the folder.
fn below(folder: &Path, inside: &Path) -> Result<PathBuf> {
    if inside.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(folder.join(inside));
    }
    Err(Failure::invalid("the session's folder has a name that leads out of the agent's"))
}

/// Checks whether the file system accepts the names and the length of the path `folder/inside`.
/// Tests each name in an existing folder, because below a missing folder the system does not report
/// that a name is too long.
fn fits(folder: &Path, inside: &Path) -> bool {
    let is_occupied = |path: &Path| match path.symlink_metadata() {
        Err(error) => error.kind() != io::ErrorKind::InvalidFilename,
        Ok(_) => true,
    };
    let there = folder.ancestors().find(|above| above.is_dir()).unwrap_or(folder);
    is_occupied(&folder.join(inside)) && inside.iter().all(|name| is_occupied(&there.join(name)))
}

fn too_long(agent: &str, cwd: &str) -> Failure {
    let message = format!(
        "{agent} names its sessions' folder after the one it works in, whose {} are too many for \
         a file's name",
        count(cwd.len() as u64, "byte")
    );
    Failure::invalid(message).or_try("--into-workspace DIR, a folder with a shorter path")
}

fn small_file(folder: &Path, inside: &Path) -> Option<String> {
    let path = below(folder, inside).ok()?;
    let about = fs::metadata(&path).ok()?;
    if !about.is_file() || about.len() > SMALL {
        return None;
    }
    fs::read_to_string(path).ok()
}

/// Copies those sidecars of the original session file that the agent expects next to the new file.
fn sidecars(folder: &Path, outgoing: &Outgoing, engine: &Engine) -> Result<()> {
    for (sidecar, inside) in outgoing.sidecars()? {
        let path = new_path(folder, &inside, outgoing)?;
        new_file::create(&path, |file| {
            let mut out = BufWriter::with_capacity(new_file::BUFFER, file);
            engine.restore_file(&sidecar, &mut out)?;
            out.flush().map_err(new_file::failed(&path))
        })?;
    }
    Ok(())
}

fn target(folder: &Path, placement: &Placement, outgoing: &Outgoing) -> Result<Exported> {
    let path = &new_path(folder, &placement.path, outgoing)?;
    for (sidecar, text) in &placement.companions {
        let companion = new_path(folder, sidecar, outgoing)?;
        if !companion.exists() {
            new_file::create(&companion, |file| {
                file.write_all(text.as_bytes()).map_err(new_file::failed(&companion))
            })?;
        }
    }
    new_file::create(path, |file| {
        let mut out = BufWriter::with_capacity(new_file::BUFFER, file);
        let exported = outgoing.write(&mut out)?;
        out.flush().map_err(new_file::failed(path))?;
        Ok(exported)
    })
}

/// Creates the missing folders above a new file, and returns its path. Other users may write into
/// the directory in which an agent works, so no symbolic link may lead out of that directory.
fn new_path(folder: &Path, inside: &Path, outgoing: &Outgoing) -> Result<PathBuf> {
    if outgoing.agent().is_in_workspace() {
        return file_below(folder, inside).map_err(new_file::refused);
    }
    let path = below(folder, inside)?;
    private_folder_of(&path)?;
    Ok(path)
}

/// Creates the missing folders above a file. Only their owner can access them.
fn private_folder_of(path: &Path) -> Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(parent).map_err(new_file::failed(parent))
}

/// Returns the commands that start the agent on the file at `path`. Each command changes to the
/// agent's working directory first, if necessary.
fn commands(outgoing: &Outgoing, path: &Path) -> Result<Vec<String>> {
    let absolute = std::path::absolute(path).map_err(new_file::failed(path))?;
    let cwd = &outgoing.file().cwd;
    let here = env::current_dir().is_ok_and(|here| here == Path::new(cwd));
    let start = outgoing.agent().start(outgoing.file(), &absolute.to_string_lossy());
    let last = start.len().saturating_sub(1);
    let command = start.iter().enumerate().map(|(at, words)| {
        let words: Vec<_> = words.iter().map(|word| shell_quoted(word)).collect();
        let command = words.join(" ");
        let typed = outgoing.agent().first_input(outgoing.file());
        let command = match typed.filter(|_| at == last) {
            // The text after `#` is a shell comment.
            Some(typed) => format!("{command} # then type: {typed}"),
            None => command,
        };
        if here { command } else { format!("cd {} && {command}", shell_quoted(cwd)) }
    });
    Ok(command.collect())
}

fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/=,@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
