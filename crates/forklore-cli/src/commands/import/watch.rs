//! `import --watch`: follows the folders of agents, so that nothing of theirs is lost.
//!
//! What was read is in the store, so a watch may end at any time, and several may run at once.

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

/// After a look the watch rests for so many times as long: it never takes much of a machine, even
/// where a change means that a very long file is compared with what is known of it.
const REST: u32 = 4;
/// When to look once more at what the store would not take.
const AGAIN: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let places = paths(&args.path)?;
    let options = ImportOptions { found: true, ..super::options(args, app)? };
    let engine = app.engine()?;
    let mut followed = Followed::new(&places);
    let ended = exit::gently(&options.stop, followed.stopper())?;
    let mut watch = Watch { engine, options, news: News::new(output) };

    watch.news.begin(&places)?;
    let mut paths: Vec<_> = places.iter().filter(|place| place.exists()).cloned().collect();
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

/// The places named, or where the agents of this machine keep or would keep their sessions.
fn paths(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if named.is_empty() {
        let places: Vec<_> = agents::all().into_iter().flat_map(|agent| agent.folders).collect();
        let homeless = "there is no home directory in which agents could keep sessions";
        return if places.is_empty() { Err(Failure::invalid(homeless)) } else { Ok(places) };
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

/// Whether a file may hold a session, or lie beside one.
fn reads(dialect: &dyn AgentFormat, path: &Path) -> bool {
    dialect.may_own(path) || dialect.belongs_to(path).is_some()
}

impl Watch<'_> {
    /// Imports what is new at the paths. Says whether the store would not take it.
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

    /// Whether a path that changed is one to read: a folder, or a file that may be an agent's. A
    /// link may lead anywhere; the walk through its folder looks where.
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
