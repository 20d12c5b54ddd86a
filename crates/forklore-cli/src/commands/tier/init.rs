//! `tier init`: creates the tables of a PostgreSQL database, or brings them up to date.

use forklore::api::TierTables;
use forklore::postgres::Init;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Page, Tone, count};

const EXAMPLES: &str = "\
The store is one in a PostgreSQL database, and its URL names the tenant (tenant=NAME). The user of the \
URL owns the tables, or may create them. A command may be repeated.

Examples:
  forklore tier init                          creates the tables, or brings them up to date
  forklore tier init --tenant-login ann       ann reads and changes this tenant only
  forklore tier init --partitions 16          divides the large tables, when they are created";

/// Create the tables, or bring them up to date
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Give this login of the database to the tenant: it reads and changes no other one, whatever
    /// it sends. createuser creates it before
    #[arg(long, value_name = "NAME")]
    tenant_login: Option<String>,
    /// Divide the tables of sessions and events into this many partitions, by family
    #[arg(long, value_name = "N")]
    partitions: Option<u32>,
    /// Let Citus distribute the tables over several servers, by family. Experimental: such a store
    /// has no feed of changes and no logins of tenants
    #[arg(long, conflicts_with_all = ["partitions", "tenant_login"])]
    distributed: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let address = super::address(app, "tier init")?;
    let store = address.to_string();
    let Args { tenant_login, partitions, distributed } = args;
    let init = Init {
        tenant_login: tenant_login.clone(),
        partitions: *partitions,
        distributed: *distributed,
    };
    let tables = init.execute(address).map_err(forklore::OpenError::from)?;
    let answer = TierTables {
        store,
        tenant: tables.tenant,
        version: tables.version,
        before: tables.before,
        partitions: tables.partitions,
        distributed: tables.distributed,
        tenant_login: tenant_login.clone(),
    };
    output.answer(&answer, |page| show(page, &answer))
}

fn show(page: &mut Page, answer: &TierTables) {
    let done = match answer.before {
        None => "Created the tables",
        Some(before) if before < answer.version => "Brought the tables up to date",
        Some(_) => "The tables are there",
    };
    page.put(Tone::Good, done).put(Tone::Plain, format!("  {}", answer.store)).end();
    page.fact("version", answer.version);
    page.fact("tenant", &answer.tenant);
    if answer.partitions > 0 {
        page.fact("divided", count(answer.partitions.into(), "partition"));
    }
    if answer.distributed {
        page.fact("divided", "over the servers of Citus, without a feed of changes");
    }
    if let Some(login) = &answer.tenant_login {
        page.fact("login", format!("{login} reads and changes this tenant only"));
    }
}
