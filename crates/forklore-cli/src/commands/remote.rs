//! `remote`: lists, adds and removes the names of other stores in the configuration.

use clap::Subcommand;
use forklore::api::{Remote, Remotes};
use forklore::core::{ErrorKind, Label};
use forklore::without_password;
use forklore_host::config::{with_remote, without_remote};

use super::config::file;
use super::other_store::OtherStore;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Cell, Column, Output, Table, Tone};
use crate::wiring;

const EXAMPLES: &str = "\
A remote is the name of another store in your configuration. With a single remote, push and pull \
need no name.

Examples:
  forklore remote add team postgres://ann@db.example/team
  forklore remote add usb files:/mnt/usb/sessions
  forklore remote list
  forklore remote remove usb                 the store itself stays";

/// Name other stores for push and pull
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What `remote` does. Without an action, it lists the remotes.
#[derive(Debug, Subcommand)]
enum Action {
    /// List the remotes
    List,
    /// Add a remote, or give it another URL
    Add {
        /// The name: letters, digits, and . _ -
        name: String,
        /// The store: a URL, or the path of an SQLite file
        url: String,
    },
    /// Remove a remote; the store itself stays
    Remove {
        /// The name
        name: String,
    },
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    match &args.action {
        None | Some(Action::List) => list(app, output),
        Some(Action::Add { name, url }) => add(name, url, output),
        Some(Action::Remove { name }) => remove(name, app, output),
    }
}

fn list(app: &App, output: &mut Output) -> Result<()> {
    let configured = wiring::read_configuration(app)?.config.remotes;
    let remotes = configured.into_iter();
    let remotes = remotes.map(|(name, url)| Remote { name, url: without_password(&url) });
    let answer = Remotes { remotes: remotes.collect() };
    output.answer(&answer, |page| {
        if answer.remotes.is_empty() {
            page.put(Tone::Plain, "There are no remotes.").end();
            return;
        }
        let mut table = Table::new(&[Column::new("NAME"), Column::new("STORE")]);
        for remote in &answer.remotes {
            let name = Cell::new(Tone::Strong, remote.name.as_str());
            table.row(vec![name, Cell::new(Tone::Plain, remote.url.as_str())]);
        }
        table.show(page);
    })?;
    if answer.remotes.is_empty() {
        output.hint("forklore remote add team postgres://USER@HOST/DATABASE", "name a store");
    }
    Ok(())
}

fn add(name: &str, url: &str, output: &mut Output) -> Result<()> {
    name.parse::<Label>().map_err(Failure::name("name of a remote"))?;
    let url = absolute(&OtherStore::at(url)?)?;
    file::rewrite(|text| Ok(Some(with_remote(text, name, &url).map_err(not_toml)?)))?;
    let answer = Remote { name: name.to_owned(), url };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Added ").put(Tone::Strong, name);
        page.put(Tone::Plain, "  ").put(Tone::Dim, &answer.url).end();
    })?;
    output.hints(&[
        (&format!("forklore push --all {name}"), "copy every session there"),
        (&format!("forklore pull {name}"), "copy every session from there"),
    ]);
    Ok(())
}

/// Returns the URL of a store with an absolute path, because the remote is used in other folders.
///
/// # Errors
/// When the URL contains a password, or the current folder was deleted.
fn absolute(other: &OtherStore) -> Result<String> {
    let shown = other.shown();
    if shown != other.text() {
        let message = "a password does not belong into the configuration; leave it out of the URL";
        return Err(Failure::invalid(message).or_try("give it in PGPASSWORD or ~/.pgpass"));
    }
    let Some(path) = other.path() else { return Ok(shown) };
    let doing = || format!("finding the folder of {}", path.display());
    let whole =
        std::path::absolute(path).map_err(|source| Failure::File { doing: doing(), source })?;
    Ok(shown.replacen(&*path.to_string_lossy(), &whole.to_string_lossy(), 1))
}

fn remove(name: &str, app: &App, output: &mut Output) -> Result<()> {
    let remotes = wiring::read_configuration(app)?.config.remotes;
    let Some(url) = remotes.get(name).map(|url| without_password(url)) else {
        return Err(Failure::refused(ErrorKind::NotFound, "there is no remote of this name")
            .or_try("forklore remote list"));
    };
    file::rewrite(|text| without_remote(text, name).map_err(not_toml))?;
    let answer = Remote { name: name.to_owned(), url };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Removed ").put(Tone::Strong, name);
        page.put(Tone::Dim, format!("  {} itself stays", answer.url)).end();
    })
}

fn not_toml(error: impl std::error::Error) -> Failure {
    Failure::invalid(format!("the configuration is no TOML: {error}"))
        .or_try("forklore config check")
}
