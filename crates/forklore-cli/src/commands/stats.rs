//! `stats`: how much there is, and what sharing saved.

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, bytes, count};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
What sessions share is counted once, in the session that wrote it.

Examples:
  forklore stats            the whole store
  forklore stats last";

/// Count sessions, events, bytes, and what models cost
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only this session [default: the whole store]
    session: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let reference = args.session.as_deref().map(SessionRef::parse).transpose()?;
    let session = reference.map(|session| app.session(&session, output)).transpose()?;
    let stats = app.engine()?.stats(session.as_ref().map(|header| &header.id))?;
    output.answer(&stats, |page| {
        page.fact("sessions", stats.sessions);
        page.fact("own", format!("{}, {}", count(stats.own_events, "event"), bytes(stats.bytes)));
        let inherited = count(stats.inherited_events, "event");
        page.fact(
            "inherited",
            format!("{inherited}, {} not stored again", bytes(stats.saved_bytes)),
        );
        page.fact("store", stats.store_bytes.map(bytes).unwrap_or_default());
        let usage = &stats.usage;
        if usage.input + usage.output > 0 || usage.cost > 0.0 {
            let tokens =
                format!("{} in ({} cached), {} out", usage.input, usage.cached, usage.output);
            page.fact("tokens", tokens);
            page.fact("cost", usage.cost);
        }
    })?;
    super::damaged::tell(&stats.problems, output)
}
