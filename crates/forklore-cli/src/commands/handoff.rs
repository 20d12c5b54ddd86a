//! `handoff`: copies a session into another store, where another person continues it.

use forklore::api::{HandedOff, NewEvent, Transferred};
use forklore::core::{Class, Data, ErrorKind, EventType, Header, SessionId};
use forklore::engine::{Batch, SkipReason, Transfer};
use forklore_sanitize::shell::quoted;
use serde_json::json;

use super::other_store::OtherStore;
use super::transfer;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone};
use crate::session_ref::SessionRef;

/// The type of the event that records a handover (docs/semantics.md, Moving between stores).
const KIND: &str = "x.handoff";

const EXAMPLES: &str = "\
The session is pushed with its whole family, after an event that records who hands it over and to \
whom. The answer is the command with which the other person goes on. A session in which a turn \
runs cannot be handed over.

Examples:
  forklore handoff last --to bob                     to the only remote
  forklore handoff @plan-b --to bob team";

/// Give a session to another person, in another store
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, a label or a title, or last
    session: String,
    /// The other store: a URL, the path of an SQLite file, or a remote
    remote: Option<String>,
    /// The person who continues the session
    #[arg(long, value_name = "PERSON")]
    to: String,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let other = match &args.remote {
        Some(remote) => OtherStore::named(remote, app)?,
        None => OtherStore::only_remote(app)?,
    };
    other.is_not(&app.store_url()?)?;
    let header = app.stored(&session, output)?;
    // Nothing is created or recorded for a session that cannot be handed over.
    refuse_running(&header, app)?;
    let into = other.or_new()?;
    record(&header, &args.to, &other.shown(), app)?;
    let session_id = Some(header.id.clone());
    let request = Transfer { session_id, name: transfer::host(), dry_run: false };
    let transferred = transfer::copy(app.engine()?, &into, &request, output)?;
    let arrived = arrived(&header, &transferred)?;
    let url = without_local_paths(&other.shown());
    let command = format!("forklore --store {} resume {arrived}", quoted(&url));
    let to = args.to.clone();
    let answer = HandedOff { session_id: arrived, to, url, command, transferred };
    output.answer(&answer, |page| {
        transfer::show(page, &answer.transferred);
        page.put(Tone::Strong, &answer.to).put(Tone::Plain, " goes on with: ");
        page.put(Tone::Good, &answer.command).end();
    })
}

/// Returns the URL of a server without the options that name files of this machine.
fn without_local_paths(url: &str) -> String {
    let Some((server, options)) = url.split_once('?').filter(|_| url.contains("://")) else {
        return url.to_owned();
    };
    let is_path = |option: &&str| {
        ["sslrootcert=", "cache=", "ca="].iter().any(|name| option.starts_with(name))
    };
    let options: Vec<_> = options.split('&').filter(|option| !is_path(option)).collect();
    let mark = if options.is_empty() { "" } else { "?" };
    format!("{server}{mark}{}", options.join("&"))
}

fn refuse_running(header: &Header, app: &App) -> Result<()> {
    if !app.engine()?.is_leased(header) {
        return Ok(());
    }
    let message = format!("a turn runs in {}; end it before you hand it over", header.id);
    let show = format!("forklore show {}", header.id);
    Err(Failure::refused(ErrorKind::Busy, message).or_try(show))
}

/// Records in the session who hands it over and to whom, so that both stores have it.
fn record(header: &Header, to: &str, url: &str, app: &App) -> Result<()> {
    let data = json!({"to": to, "by": header.principal, "host": transfer::host(), "store": url});
    let data = Data::of(&data).map_err(|error| Failure::invalid(error.to_string()))?;
    let kind: EventType = KIND.parse().map_err(|_| Failure::invalid("no event type"))?;
    let event = NewEvent { class: Some(Class::Evidence), ..NewEvent::new(kind, data) };
    app.engine()?.append(&header.id, &Batch::from(event))?;
    Ok(())
}

/// Returns the id that a session has in the other store: its own, or that of its parted branch.
///
/// # Errors
/// When the session did not arrive there whole, for example because it was deleted there.
fn arrived(header: &Header, done: &Transferred) -> Result<SessionId> {
    if let Some(failure) = transfer::failure(done) {
        return Err(failure);
    }
    if let Some(skipped) =
        done.skipped.iter().find(|it| it.session_id == header.id && it.why != SkipReason::Source)
    {
        let message = format!("{} was not handed over: {}", header.id, skipped.reason);
        return Err(Failure::refused(ErrorKind::Conflict, message));
    }
    let of = done.sessions.iter().rfind(|session| session.session_id == header.id);
    Ok(of.map_or_else(|| header.id.clone(), |session| session.target_id.clone()))
}

#[cfg(test)]
mod tests {
    use super::without_local_paths;

    #[test]
    fn the_other_person_gets_no_path_of_this_machine() {
        let url = "postgres://db.example/team?tenant=blue&sslrootcert=/home/ann/ca.pem&cache=/tmp";
        assert_eq!(without_local_paths(url), "postgres://db.example/team?tenant=blue");
        assert_eq!(
            without_local_paths("postgres://db.example/team?cache=no"),
            "postgres://db.example/team"
        );
        assert_eq!(without_local_paths("files:/mnt/odd?cache=1"), "files:/mnt/odd?cache=1");
    }
}
