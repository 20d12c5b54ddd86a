//! `config show`: lists the settings in force, each with its origin.

use std::path::Path;

use forklore::api::{ConfigSetting, ConfigSettings, SettingOrigin};
use forklore_host::Error;
use forklore_host::config::in_force;
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Page, Table, Tone};
use crate::wiring;

const EXAMPLES: &str = "\
A value that is or looks like a secret is hidden. Of a key, only the name of its variable is shown.

Examples:
  forklore config show
  forklore config show -c models.local.model=qwen3
  forklore config show --json | jq '.settings[] | select(.from != \"default\")'";

/// List the settings in force, and where each comes from
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

pub(super) fn run(app: &App, output: &mut Output) -> Result<()> {
    let path = wiring::path()?;
    let mut settings = of_program(app, &path.to_string_lossy())?;
    settings.extend(in_force(&path, app.settings()).map_err(Error::from)?);
    let answer = ConfigSettings { exists: path.exists(), path, settings };
    output.answer(&answer, |page| show(page, &answer))?;
    if !answer.exists {
        output.hint("forklore config init", "write one, with the servers and keys that are there");
    }
    Ok(())
}

/// Returns the settings that are no part of the configuration file.
fn of_program(app: &App, path: &str) -> Result<Vec<ConfigSetting>> {
    let globals = app.globals();
    let url = app.store_url()?;
    let default = || format!("sqlite:{}", url.path().unwrap_or(Path::new("")).display());
    let shown = |url: &String| forklore::without_password(url);
    let store = globals.store.as_ref().map_or_else(default, shown);
    let depth = globals.max_fork_depth.map(|depth| depth.to_string());
    let log = globals.log.as_ref().map(ToString::to_string);
    let named = |value: &Option<String>| value.as_ref().map_or(Value::Null, |value| json!(value));
    Ok(vec![
        of_option("--store", json!(store), globals.store.clone(), "FORKLORE_STORE"),
        of_option("FORKLORE_CONFIG", json!(path), None, wiring::CONFIG_VARIABLE),
        of_option("--max-fork-depth", named(&depth), depth.clone(), "FORKLORE_MAX_FORK_DEPTH"),
        of_option("--log", named(&log), log.clone(), "FORKLORE_LOG"),
    ])
}

/// Returns the setting of an option of the program, which the environment variable `variable` may
/// set too. `named` is the value that the option has on the command line or from the environment;
/// `None` if it has none, or if there is only the variable and no such option.
fn of_option(key: &str, value: Value, named: Option<String>, variable: &str) -> ConfigSetting {
    let in_environment = std::env::var(variable).ok().filter(|value| !value.is_empty());
    let from = match (named, in_environment) {
        (Some(named), Some(set)) if named == set => SettingOrigin::Environment,
        (None, Some(_)) => SettingOrigin::Environment,
        (Some(_), _) => SettingOrigin::CommandLine,
        (None, None) => SettingOrigin::Default,
    };
    let variable = (from == SettingOrigin::Environment).then(|| variable.to_owned());
    ConfigSetting { key: key.to_owned(), value, hidden: false, from, line: None, variable }
}

fn show(page: &mut Page, answer: &ConfigSettings) {
    page.fact("file", answer.path.display());
    if !answer.exists {
        page.fact("", "it is not there");
    }
    page.end();
    let mut table = Table::new(&[
        Column::new("SETTING"),
        Column::new("VALUE").gives_way(),
        Column::new("FROM"),
    ]);
    for setting in &answer.settings {
        let tone = match setting.from {
            SettingOrigin::Default => Tone::Dim,
            _ => Tone::Plain,
        };
        table.row(vec![
            Cell::new(Tone::Strong, setting.key.as_str()),
            Cell::new(tone, value(setting)),
            Cell::new(Tone::Dim, origin(setting)),
        ]);
    }
    table.show(page);
}

fn value(setting: &ConfigSetting) -> String {
    match (&setting.value, setting.hidden) {
        (_, true) => "(hidden)".to_owned(),
        (Value::Null, false) => "(not set)".to_owned(),
        (value, false) => value.to_string(),
    }
}

fn origin(setting: &ConfigSetting) -> String {
    match setting.from {
        SettingOrigin::File => match setting.line {
            Some(line) => format!("file, line {line}"),
            None => "file".to_owned(),
        },
        SettingOrigin::CommandLine => "command line".to_owned(),
        SettingOrigin::Environment => setting.variable.clone().unwrap_or_default(),
        SettingOrigin::Default => "default".to_owned(),
    }
}
