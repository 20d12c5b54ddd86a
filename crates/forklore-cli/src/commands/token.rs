//! `token`: who may use the server of this machine.

use clap::Subcommand;
use forklore::api::{AccessTokens, NewAccessToken, Scope};
use forklore_server::TokenFile;
use jiff::Timestamp;

use crate::app::App;
use crate::choice::choice;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Table, Tone};
use crate::wiring;

const EXAMPLES: &str = "\
A token is shown once, when it is added; only its hash is stored. Whoever has it may use the server \
that `forklore serve` starts on this machine, until it expires or is revoked, also while the server runs.

Examples:
  forklore token add ci                       may read sessions
  forklore token add ann --scope write        may also fork and append
  forklore token add trial --days 7
  forklore token add blue --tenant blue       sees the store of this tenant only (PostgreSQL)
  forklore token list
  forklore token revoke ci";

/// Name who may use the server of this machine
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What `token` does. Without an action, it lists the tokens.
#[derive(Debug, Subcommand)]
enum Action {
    /// List the tokens, without the secrets
    List,
    /// Create a token and print it, once
    Add {
        /// The name, which the store records with each operation
        name: String,
        /// What its owner may do
        #[arg(long, default_value = "read", value_parser = choice::<Scope>(&["read", "write", "admin"]))]
        scope: Scope,
        /// For how many days it is valid [default: until it is revoked]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        days: Option<u16>,
        /// The tenant whose store its owner sees, of a server on PostgreSQL [default: the store of the
        /// server]
        #[arg(long, value_name = "NAME")]
        tenant: Option<String>,
    },
    /// Refuse a token from now on
    Revoke {
        /// The name
        name: String,
    },
}

pub(super) fn run(args: &Args, _: &App, output: &mut Output) -> Result<()> {
    let file = TokenFile::at(wiring::server_folder()?.join("tokens.json"));
    match &args.action {
        None | Some(Action::List) => list(&file, output),
        Some(Action::Add { name, scope, days, tenant }) => {
            add(&file, (name, tenant.as_deref()), *scope, *days, output)
        }
        Some(Action::Revoke { name }) => {
            let revoked = file.revoke(name)?;
            output.answer(&revoked, |page| {
                page.put(Tone::Good, "Revoked ").put(Tone::Strong, &revoked.name).end();
            })
        }
    }
}

fn list(file: &TokenFile, output: &mut Output) -> Result<()> {
    let answer = AccessTokens { tokens: file.list()? };
    let now = Timestamp::now();
    output.answer(&answer, |page| {
        if answer.tokens.is_empty() {
            page.put(Tone::Plain, "There are no tokens.").end();
            return;
        }
        let columns = ["NAME", "SCOPE", "TENANT", "CREATED", "EXPIRES"].map(Column::new);
        let mut table = Table::new(&columns);
        for token in &answer.tokens {
            let day = |time: Timestamp| time.strftime("%Y-%m-%d").to_string();
            let expires = match token.expires {
                None => Cell::new(Tone::Dim, "never"),
                Some(time) if time <= now => Cell::new(Tone::Bad, "expired"),
                Some(time) => Cell::new(Tone::Plain, day(time)),
            };
            table.row(vec![
                Cell::new(Tone::Strong, token.name.as_str()),
                Cell::new(Tone::Plain, token.scope.as_str()),
                Cell::new(Tone::Plain, token.tenant.as_deref().unwrap_or("-")),
                Cell::new(Tone::Plain, day(token.created)),
                expires,
            ]);
        }
        table.show(page);
    })?;
    if answer.tokens.is_empty() {
        output.hint("forklore token add NAME", "let somebody use the server");
    }
    Ok(())
}

fn add(
    file: &TokenFile,
    (name, tenant): (&str, Option<&str>),
    scope: Scope,
    days: Option<u16>,
    output: &mut Output,
) -> Result<()> {
    let now = Timestamp::now();
    let expires = days.map(|days| now + jiff::SignedDuration::from_hours(24 * i64::from(days)));
    let (stored, token) = file.add_for(tenant, name, scope, now, expires)?;
    let answer = NewAccessToken { stored, token };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Added ").put(Tone::Strong, &answer.stored.name);
        page.put(Tone::Plain, format!(", which may {}", may(scope)));
        if let Some(tenant) = &answer.stored.tenant {
            page.put(Tone::Plain, " of the tenant ").put(Tone::Strong, tenant);
        }
        page.end();
        page.put(Tone::Plain, &answer.token).end();
    })?;
    output.remark("it is shown only here: store it where its owner finds it");
    Ok(())
}

fn may(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read sessions",
        Scope::Write => "read and write sessions",
        Scope::Admin => "do everything, also erase sessions",
    }
}
