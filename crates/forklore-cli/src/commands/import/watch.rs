//! `import --watch`: follows the folders of agents and imports each change, so that nothing is
//! lost.
//!
//! Everything that was read is in the store, so a watch can end at any time, and several can run at
//! the same time.

mod followed;
mod news;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forklore::Engine;
use forklore::core::ErrorKind;
use forklore::core::agent_format::AgentFormat;
use forklore::import::{ImportOptions, Importer};

use self::followed::{Followed, Next};
use self::news::News;
use super::Args;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::{agents, exit};

/// After an import the watch pauses this many times as long as the import took. So it never uses
/// much of the machine, even if a change requires comparing a very long file with its imported
/// version.
const REST: u32 = 4;
/// The pause before a retry when the store refused an import.
const AGAIN: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let paths = paths(&args.path)?;
    let options = ImportOptions { found: true, ..ImportOptions::of(&super::request(args, app)?) };
    let engine = app.engine()?;
    let mut followed = Followed::new(&paths);
    let ended = exit::gently(&options.stop, followed.stopper())?;
    let mut watch = Watch { engine, options, news: News::new(output) };

    watch.news.begin(&paths)?;
    let mut paths: Vec<_> = paths.iter().filter(|location| location.exists()).cloned().collect();
    loop {
        let begun = Instant::now();
        let refused = watch.look(&paths)?;
        let rest = if refused { AGAIN } else { begun.elapsed() * REST };
        if refused {
            followed.look_again(&paths);
        }
        match followed.next(rest) {
            Next::Look(changed) => paths = changed,
            Next::Stop => break,
        }
    }
    watch.news.end()?;
    if ended.by_interrupt() { Err(Failure::Answered(ErrorKind::Interrupted)) } else { Ok(()) }
}

/// Returns the paths on the command line, or the default folders of all known agents, even if they
/// do not exist yet.
fn paths(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if named.is_empty() {
        let paths: Vec<_> = agents::all().into_iter().flat_map(|agent| agent.folders).collect();
        let homeless = "there is no home directory in which agents could keep sessions";
        return if paths.is_empty() { Err(Failure::invalid(homeless)) } else { Ok(paths) };
    }
    let real = |path: &PathBuf| {
        let doing = format!("looking for {}", path.display());
        path.canonicalize().map_err(|source| Failure::File { doing, source })
    };
    named.iter().map(real).collect()
}

struct Watch<'a> {
    engine: &'a Engine,
    options: ImportOptions,
    news: News<'a>,
}

/// Checks whether a file can contain a session, or can be a sidecar of one.
fn reads(dialect: &dyn AgentFormat, path: &Path) -> bool {
    dialect.may_own(path) || dialect.belongs_to(path).is_some()
}

impl Watch<'_> {
    /// Imports what is new at these paths. Returns whether the store refused the import.
    fn look(&mut self, paths: &[PathBuf]) -> Result<bool> {
        let (there, gone): (Vec<_>, Vec<_>) =
            paths.iter().cloned().partition(|path| path.symlink_metadata().is_ok());
        for path in &gone {
            if !self.may_be_session(path) {
                continue;
            }
            let sessions = Importer::new(self.engine).sessions_of(path);
            self.news.gone(path, &sessions.unwrap_or_default())?;
        }
        let to_read: Vec<_> = there.into_iter().filter(|path| self.is_meant(path)).collect();
        if to_read.is_empty() {
            return Ok(false);
        }
        match Importer::new(self.engine).import(&to_read, &self.options, &mut |_| {}) {
            Ok(report) => self.news.tell(&report).map(|()| false),
            Err(error) => self.news.refused(&error).map(|()| true),
        }
    }

    /// Checks whether to import a changed path: a folder, or a file that can belong to an agent.
    /// Symbolic links are left out because they can lead anywhere; the scan of their folder checks
    /// them.
    fn is_meant(&self, path: &Path) -> bool {
        let Ok(about) = path.symlink_metadata() else { return false };
        about.is_dir() || (about.is_file() && self.may_be_session(path))
    }

    fn may_be_session(&self, path: &Path) -> bool {
        let dialects = self.engine.agent_formats();
        match &self.options.from {
            Some(name) => dialects.named(name).is_some_and(|dialect| reads(dialect, path)),
            None => dialects.0.iter().any(|dialect| reads(*dialect, path)),
        }
    }
}
