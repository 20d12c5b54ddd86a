//! `redact`: takes the content of events away, wherever the store has them.

use forklore::api::{Redact, Redacted, RedactedEvent, RedactionCause};
use forklore::core::ErrorKind;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, bytes, count};
use crate::session_ref::SessionRef;

/// The maximum number of events that the output lists.
const NAMED: usize = 20;

const EXAMPLES: &str = "\
The event stays in its position, with its type, time and calls; its content becomes the reason. Forks and \
copies of it lose the content too, and so do summaries and titles that quote it. An imported file \
with such an event can no longer be restored. Nothing brings the content back; after forklore gc \
its bytes are gone.

Examples:
  forklore redact last --match sk-live-1234 --reason 'a key was pasted' --dry-run
  forklore redact last @plan-b --regex 'sk-[a-z]+-[0-9]+' --reason 'keys'
  forklore redact SESSION:12 --reason 'a name' --yes && forklore gc";

/// Take the content of events away
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The events: SESSION:SEQ or event ids; with --match or --regex, the sessions to search
    #[arg(required = true, value_name = "EVENT|SESSION")]
    what: Vec<String>,
    /// Redact each event of these sessions that contains this text
    #[arg(long = "match", value_name = "TEXT", conflicts_with = "regex")]
    matching: Option<String>,
    /// Redact each event of these sessions that this regular expression fits
    #[arg(long, value_name = "PATTERN")]
    regex: Option<String>,
    /// Why; it is stored in place of the content
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Only print what would be redacted
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let request = request(args, app, output)?;
    let engine = app.engine()?;
    if !request.dry_run && !args.yes && output.can_ask() {
        let plan = engine.redact(&Redact { dry_run: true, ..request.clone() })?;
        if plan.events.is_empty() && plan.titles.is_empty() {
            return show(&plan, output);
        }
        let events = count(plan.events.len() as u64, "event");
        let question = format!("Take the content of {events} away? Nothing brings it back.");
        if !output.asks(&question)? {
            return Err(Failure::refused(ErrorKind::Interrupted, "nothing was redacted"));
        }
    }
    show(&engine.redact(&request)?, output)
}

fn request(args: &Args, app: &App, output: &mut Output) -> Result<Redact> {
    let Args { matching, regex, reason, dry_run, .. } = args;
    let (reason, dry_run) = (reason.clone(), *dry_run);
    let Some(pattern) = matching.as_ref().or(regex.as_ref()) else {
        let events = args.what.iter().map(|what| event(what, app, output));
        let events = events.collect::<Result<_>>()?;
        return Ok(Redact { events, reason, dry_run, ..Redact::default() });
    };
    let mut sessions = Vec::new();
    for what in &args.what {
        sessions.push(app.stored(&SessionRef::parse(what)?, output)?.id);
    }
    let (matching, regex) = (Some(pattern.clone()), regex.is_some());
    Ok(Redact { events: Vec::new(), sessions, matching, regex, reason, dry_run })
}

/// Returns the event with the session's id, where it is named by a session and a seq.
fn event(what: &str, app: &App, output: &mut Output) -> Result<String> {
    let named = what.rsplit_once(':').filter(|(_, seq)| seq.parse::<u64>().is_ok());
    let Some((session, seq)) = named else { return Ok(what.to_owned()) };
    let header = app.stored(&SessionRef::parse(session)?, output)?;
    Ok(format!("{}:{seq}", header.id))
}

fn show(redacted: &Redacted, output: &mut Output) -> Result<()> {
    output.answer(redacted, |page| {
        let events = count(redacted.events.len() as u64, "event");
        let (tone, did) = match redacted.dry_run {
            true => (Tone::Warn, "Would redact"),
            false => (Tone::Good, "Redacted"),
        };
        let size = bytes(redacted.bytes);
        if redacted.events.is_empty() && redacted.already_redacted == 0 {
            let nothing =
                "Nothing to redact: no event in the history of what was named contains it";
            page.put(Tone::Warn, nothing).end();
        } else {
            page.put(tone, did).put(Tone::Plain, format!(" {events}, {size}")).end();
        }
        for event in redacted.events.iter().take(NAMED) {
            line(page, event);
        }
        if redacted.events.len() > NAMED {
            page.put(Tone::Dim, format!("  ... and {} more", redacted.events.len() - NAMED)).end();
        }
        for session in &redacted.titles {
            page.put(Tone::Plain, "  the title of ").put(Tone::Id, session).end();
        }
        for file in &redacted.files {
            page.put(Tone::Plain, "  cannot be restored any more: ").put(Tone::Plain, file).end();
        }
        if redacted.already_redacted > 0 {
            let already = count(redacted.already_redacted, "event");
            page.put(Tone::Dim, format!("{already} had been redacted before")).end();
        }
        for problem in &redacted.problems {
            page.put(Tone::Bad, "not searched: ").put(Tone::Plain, &problem.message).end();
        }
    })?;
    if !redacted.dry_run && !redacted.events.is_empty() {
        output.hint("forklore gc", "erase the bytes from the store's files");
    }
    Ok(())
}

fn line(page: &mut Page, event: &RedactedEvent) {
    let why = match event.why {
        RedactionCause::Named => "",
        RedactionCause::Matched => ", contains the text",
        RedactionCause::Copy => ", a copy",
        RedactionCause::Quote => ", quotes it",
    };
    page.put(Tone::Plain, "  ").put(Tone::Id, &event.session_id);
    page.put(Tone::Plain, format!(":{} ", event.seq)).put(Tone::Plain, &event.kind);
    page.put(Tone::Dim, format!(", {}{why}", bytes(event.bytes))).end();
}
