//! `config edit`: changes the configuration file in the user's editor. A file with problems never
//! takes the place of the configuration.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forklore::api::{ConfigEdited, ConfigProblem};
use forklore::core::ErrorKind;
use forklore_host::config::{check_text, template};
use forklore_host::text_file;

use crate::commands::new_file;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count, problems};
use crate::{interrupts, store, wiring};

const EXAMPLES: &str = "\
It opens a copy in VISUAL, EDITOR or vi, checks what you wrote, and offers to go back to the editor \
where something is wrong. Only a file without problems takes the place of the configuration, in one \
step; otherwise your text stays in the copy, and the message names it.

Examples:
  forklore config edit
  EDITOR=nano forklore config edit";

/// Change the configuration in your editor, and check it before it is used
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

pub(super) fn run(output: &mut Output) -> Result<()> {
    let named = wiring::path()?;
    let path = target(&named)?;
    let before = read(&path)?;
    let begin = before.clone().unwrap_or_else(|| template(&[], &[]).into_bytes());
    let copy = copy_of(&path, &begin)?;
    let problems = edit(&named, &copy, &begin, output)?;
    let changed = problems.is_some();
    if changed {
        replace(&path, &copy, before.as_deref())?;
    } else {
        let _ = fs::remove_file(&copy);
    }
    let answer = ConfigEdited { path: named, changed, problems: problems.unwrap_or_default() };
    output.answer(&answer, |page| {
        problems::show(page, &answer.problems);
        let word = if changed { "Changed " } else { "Nothing changed in " };
        page.put(Tone::Good, word).put(Tone::Strong, answer.path.display()).end();
    })
}

/// Returns the file to replace: the one that the path leads to, if it is a symbolic link.
fn target(path: &Path) -> Result<PathBuf> {
    if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        let doing = format!("following the link {}", path.display());
        return path.canonicalize().map_err(|source| Failure::File { doing, source });
    }
    Ok(path.to_owned())
}

/// Returns the bytes of the file, which need not be text. `None` if there is no file.
fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let failed = |source| Failure::File { doing: format!("reading {}", path.display()), source };
    match path.metadata() {
        Ok(found) if !found.is_file() => {
            let message = format!("{} is no regular file", path.display());
            Err(Failure::invalid(message).or_try("name a file in FORKLORE_CONFIG"))
        }
        Ok(_) => fs::read(path).map(Some).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Creates the copy that the user edits. The copy is next to the file, so that a rename can put the
/// copy in the place of the file.
fn copy_of(path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        store::create_private(folder).map_err(new_file::failed(folder))?;
    }
    let copy = path.with_file_name(format!("config-edit-{}.toml", std::process::id()));
    new_file::create(&copy, |file| file.write_all(bytes).map_err(new_file::failed(&copy)))?;
    Ok(copy)
}

/// Runs the editor until the text has no problems or the user gives up. Returns the warnings, or
/// `None` if the user changed nothing. If the user gives up, returns an error.
fn edit(
    named: &Path,
    copy: &Path,
    begin: &[u8],
    output: &mut Output,
) -> Result<Option<Vec<ConfigProblem>>> {
    loop {
        run_editor(copy, output)?;
        if fs::read(copy).is_ok_and(|text| text == begin) {
            let Err(unread) = text_file::read(copy) else { return Ok(None) };
            let _ = fs::remove_file(copy);
            let name = named.display();
            let message = format!("{name} stays as it was, and cannot be used: {unread}");
            return Err(Failure::invalid(message).or_try("forklore config edit"));
        }
        let found = match text_file::read(copy) {
            Ok(text) => check_text(named, &text, &[]),
            Err(unread) => {
                return Err(unusable(copy, &format!("it cannot be read: {unread}")));
            }
        };
        let wrong = found.iter().filter(|problem| !problem.warning).count() as u64;
        if wrong == 0 {
            return Ok(Some(found));
        }
        for problem in found.iter().filter(|problem| !problem.warning) {
            let (at, wrong) = (problems::location(problem), &problem.message);
            output.remark(&format!("{at}: {wrong}; try: {}", problem.hint));
        }
        if !output.can_ask() || !output.asks("Go back to the editor?")? {
            return Err(unusable(copy, &format!("it has {}", count(wrong, "problem"))));
        }
    }
}

/// Returns the error for a text that is no configuration. The text stays in the copy.
fn unusable(copy: &Path, why: &str) -> Failure {
    let message =
        format!("the configuration stays as it was: {why}; your text is in {}", copy.display());
    Failure::invalid(message).or_try("forklore config edit")
}

/// Runs the user's editor on the file and waits until it ends. An interrupt goes to the editor only.
fn run_editor(file: &Path, output: &mut Output) -> Result<()> {
    let named = |name| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let words = shlex::split(&editor).unwrap_or_default();
    let Some((program, options)) = words.split_first() else {
        let _ = fs::remove_file(file);
        return Err(Failure::invalid("VISUAL or EDITOR is no command"));
    };
    output.flush()?;
    let failed = |source| Failure::File { doing: format!("running the editor {program}"), source };
    let mut command = Command::new(program);
    command.args(options).arg(file);
    if output.is_json() {
        // The answer alone goes to standard output.
        let shown = File::options().append(true).open("/dev/stderr");
        command.stdout(shown.map_or_else(|_| Stdio::null(), Stdio::from));
    }
    match interrupts::ignored(|| command.status()) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let message =
                format!("the editor ended with {status}; the configuration stays as it was");
            let _ = fs::remove_file(file);
            Err(Failure::refused(ErrorKind::Interrupted, message))
        }
        Err(source) => {
            let _ = fs::remove_file(file);
            let failure = failed(source);
            Err(Failure::refused(failure.kind(), failure.to_string())
                .or_try("EDITOR=nano forklore config edit"))
        }
    }
}

/// Puts the copy in the place of the file, unless somebody else changed the file meanwhile. Only
/// the owner can write to the new file.
fn replace(path: &Path, copy: &Path, before: Option<&[u8]>) -> Result<()> {
    if read(path)?.as_deref() != before {
        let message = format!(
            "{} was changed meanwhile and stays so; your text is in {}",
            path.display(),
            copy.display()
        );
        return Err(Failure::refused(ErrorKind::Conflict, message));
    }
    let mode = path.metadata().map_or(0o600, |found| found.permissions().mode() & 0o755);
    let replaced = fs::set_permissions(copy, Permissions::from_mode(mode))
        .and_then(|()| File::open(copy)?.sync_all())
        .and_then(|()| fs::rename(copy, path));
    replaced.map_err(new_file::failed(path))
}
