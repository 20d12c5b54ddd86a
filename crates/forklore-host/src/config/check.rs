//! Finds all problems of the configuration. (Reading the configuration stops at the first problem.)

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, io};

use forklore_api::ConfigProblem;
use forklore_core::ErrorKind;
use forklore_llm::HttpModel;
use forklore_mcp_client::McpTools;
use serde_path_to_error::Segment;
use toml::{Table, Value};

use super::error::without_values;
use super::lines::{KeyLines, line_of};
use super::trust::Trust;
use super::{Config, ConfigError, Setting};
use crate::text_file::{self, Unread};

/// The settings whose value is a table of independent entries.
const TABLES_OF_ENTRIES: [&str; 4] = ["models", "prices", "remotes", "tools"];
/// The number of problems from which on at most one further problem of each part of the
/// configuration is reported.
const MOST: usize = 100;

/// Returns all problems and warnings of the configuration file and of `settings`, which override
/// the file. Problems come before warnings, both in the order of their lines. A file that does not
/// exist is no problem.
#[must_use]
pub fn check(path: &Path, settings: &[Setting]) -> Vec<ConfigProblem> {
    match path.symlink_metadata() {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return check_text(path, "", settings);
        }
        Err(error) => return vec![problem_of(ConfigError::io(path, error))],
    }
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        // Nobody should change the rights of a device.
        return vec![problem_of(ConfigError::unread(path, Unread::NoFile))];
    }
    let mut problems = Vec::new();
    match Trust::of_this_user().check(path) {
        Ok(()) => {}
        // A file that cannot be looked at cannot be read either, for the same reason.
        Err(error) if error.source.is_some() => return vec![problem_of(error)],
        Err(error) => problems.push(problem_of(error)),
    }
    match text_file::read(path) {
        Ok(text) => problems.extend(check_text(path, &text, settings)),
        Err(unread) => problems.push(problem_of(ConfigError::unread(path, unread))),
    }
    problems
}

/// Returns all problems and warnings of the text of a configuration file, and of `settings`, which
/// override the file. Problems name the file as `path`.
#[must_use]
pub fn check_text(path: &Path, text: &str, settings: &[Setting]) -> Vec<ConfigProblem> {
    let (lines, errors) = KeyLines::parse(text);
    let mut check = Check { path, settings, lines, problems: Vec::new() };
    if !errors.is_empty() {
        for error in errors {
            let line = error.span().map(|span| line_of(text, span.start));
            check.add(line, None, without_values(error.message()), WRITE_TOML);
        }
        return check.sorted();
    }
    // The text can still contain a number that is too large.
    let mut table: Table = match text.parse::<Table>() {
        Ok(table) => table,
        Err(error) => {
            let line = error.span().map(|span| line_of(text, span.start));
            check.add(line, None, without_values(error.message()), WRITE_TOML);
            return check.sorted();
        }
    };
    for setting in settings {
        if let Err(wrong) = setting.put(&mut table) {
            check.add(None, Some(setting.to_string()), wrong, "leave this part of the key out");
        }
    }
    let names = names_of_models(&table);
    let config = check.fields(table);
    check.references(&config, &names);
    check.sorted()
}

const WRITE_TOML: &str = "correct this line: KEY = VALUE, with text in quotes, or [TABLE]";

/// A running check of a configuration, with the problems found so far.
struct Check<'a> {
    path: &'a Path,
    settings: &'a [Setting],
    lines: KeyLines<'a>,
    problems: Vec<ConfigProblem>,
}

impl Check<'_> {
    /// Checks each field. Returns the configuration without the fields that have problems.
    fn fields(&mut self, table: Table) -> Config {
        let mut sound = Table::new();
        for (key, value) in table {
            match value {
                Value::Table(entries) if TABLES_OF_ENTRIES.contains(&key.as_str()) => {
                    let sound = sound.entry(key.clone()).or_insert_with(|| Table::new().into());
                    for (name, entry) in entries {
                        let one = Table::from_iter([(name.clone(), entry)]);
                        let checked = self.part(Table::from_iter([(key.clone(), one.into())]));
                        let entry = checked.get(&key).and_then(|table| table.get(&name)).cloned();
                        if let (Some(entry), Some(sound)) = (entry, sound.as_table_mut()) {
                            sound.insert(name, entry);
                        }
                    }
                }
                value => sound.extend(self.part(Table::from_iter([(key, value)]))),
            }
        }
        // All parts were checked, so this cannot fail.
        Config::try_from_table(sound).unwrap_or_default()
    }

    /// Checks a part of the configuration. Removes each field that has a problem, and returns the
    /// rest.
    fn part(&mut self, mut part: Table) -> Table {
        let mut removed: Vec<Vec<String>> = Vec::new();
        while let Err(error) = serde_path_to_error::deserialize::<_, Config>(part.clone()) {
            let key = error.path().iter().filter_map(|segment| match segment {
                Segment::Map { key } => Some(key.clone()),
                _ => None,
            });
            let key: Vec<_> = key.collect();
            let message = without_values(error.inner().message());
            // A field that was removed because of a problem is not also reported as missing.
            let missing =
                message.strip_prefix("missing field `").map(|rest| rest.trim_end_matches('`'));
            let missing = missing.map(|field| [&key[..], &[field.to_owned()]].concat());
            if missing.is_none_or(|missing| !removed.contains(&missing)) {
                self.add_for(&key, message.clone(), hint_for(&message));
            }
            if self.problems.len() >= MOST || !remove(&mut part, &key) {
                return Table::new();
            }
            removed.push(key);
        }
        part
    }

    /// Checks what fields refer to: models, servers, programs and environment variables.
    fn references(&mut self, config: &Config, names: &[String]) {
        let default = config.default_model.as_ref();
        if let Some(name) = default.filter(|name| !names.contains(name)) {
            let wrong = format!("there is no [models.{name}], which is to be the default_model");
            self.add_for(&key(&["default_model"]), wrong, &name_one_of(names));
        } else if default.is_none() && names.len() > 1 {
            let wrong = "several models are there, and none is the default_model";
            self.warn(None, wrong.to_owned(), &name_one_of(names));
        }
        for (name, model) in &config.models {
            let at = key(&["models", name]);
            if let Err(error) = HttpModel::new(model.clone()) {
                let at = key(&["models", name, "base_url"]);
                self.add_for(&at, error.message, "write an address like http://127.0.0.1:8080/v1");
            }
            if config.budget.per_day.or(config.budget.per_session).is_some()
                && config.price_of(model).is_none()
            {
                let wrong = format!("[models.{name}] has no price, so [budget] refuses it");
                self.warn(self.lines.of(&at), wrong, "add price = { input = 0.0, output = 0.0 }");
            }
            if let Some(variable) = model.missing_key() {
                let wrong = format!("[models.{name}] has no key: {variable} is not set");
                let hint = format!("export {variable}=... in the shell that starts forklore");
                self.warn(self.lines.of(&at), wrong, &hint);
            }
        }
        for (name, server) in &config.tools {
            let at = key(&["tools", name.as_str()]);
            let one = BTreeMap::from_iter([(name.clone(), server.clone())]);
            if let Err(error) = McpTools::new(&one) {
                self.add_for(&at, error.to_string(), "correct the table of this server");
            }
            if server.command.as_deref().is_some_and(|program| !is_in_path(program)) {
                let wrong = format!("[tools.{name}] starts a program that is not there");
                self.warn(self.lines.of(&at), wrong, "install it, or correct `command`");
            }
            for variable in server.header_env.values().chain(&server.token_env) {
                self.expect_variable(&at, &format!("[tools.{name}]"), variable, true);
            }
        }
        for variable in config.tracing.iter().flat_map(|tracing| tracing.header_env.values()) {
            self.expect_variable(&key(&["tracing"]), "[tracing]", variable, false);
        }
    }

    /// Reports an environment variable that is not set. `variable` may be a misplaced secret, so it
    /// is named only if it looks like a name.
    fn expect_variable(&mut self, at: &[String], table: &str, variable: &str, is_warning: bool) {
        if env::var_os(variable).is_some() {
            return;
        }
        let is_name = variable.chars().all(|c| c.is_ascii_uppercase() || "_0123456789".contains(c));
        let name = if is_name { variable } else { "an environment variable that it names" };
        let wrong = format!("{table}: {name} is not set");
        let hint = "export it in the shell that starts forklore";
        if is_warning {
            self.warn(self.lines.of(at), wrong, hint);
        } else {
            self.add_for(at, wrong, hint);
        }
    }

    /// Adds a problem of the value with this key. The cause is the last setting on the command line
    /// that concerns the key, or else the file.
    fn add_for(&mut self, key: &[String], message: String, hint: &str) {
        let setting = self.settings.iter().rev().find(|setting| setting.concerns(key));
        match setting {
            Some(setting) => self.add(None, Some(setting.to_string()), message, hint),
            None => self.add(self.lines.of(key), None, message, hint),
        }
    }

    fn add(&mut self, line: Option<usize>, setting: Option<String>, message: String, hint: &str) {
        let (path, hint) = (self.path.to_owned(), hint.to_owned());
        let kind = ErrorKind::InvalidArgs;
        self.problems.push(ConfigProblem {
            path,
            line,
            setting,
            warning: false,
            kind,
            message,
            hint,
        });
    }

    fn warn(&mut self, line: Option<usize>, message: String, hint: &str) {
        self.add(line, None, message, hint);
        if let Some(added) = self.problems.last_mut() {
            added.warning = true;
        }
    }

    fn sorted(mut self) -> Vec<ConfigProblem> {
        self.problems.sort_by_key(|problem| (problem.warning, problem.line));
        self.problems
    }
}

impl Config {
    fn try_from_table(table: Table) -> Result<Self, toml::de::Error> {
        table.try_into()
    }
}

/// Converts the error of a file that cannot be read to a problem.
fn problem_of(error: ConfigError) -> ConfigProblem {
    let hint = match error.kind {
        ErrorKind::PermissionDenied if error.source.is_some() => {
            "make the file yours, and readable for you: chmod u+r"
        }
        ErrorKind::PermissionDenied => "only you may be able to change it, as its programs start",
        _ => another_file(&error.path),
    };
    ConfigProblem {
        path: error.path,
        line: error.line,
        setting: error.setting,
        warning: false,
        kind: error.kind,
        message: error.wrong,
        hint: hint.to_owned(),
    }
}

/// Returns what to do about a configuration that cannot be read as a text file.
fn another_file(path: &Path) -> &'static str {
    match path.metadata() {
        Ok(found) if found.is_dir() => "move the folder aside, then: forklore config init",
        Ok(found) if !found.is_file() => "name a text file in FORKLORE_CONFIG",
        Err(error) if path.is_symlink() => match error.kind() {
            io::ErrorKind::NotFound => "make the file that the link leads to, or remove the link",
            _ => "remove the link, then: forklore config init",
        },
        _ => "name a text file in FORKLORE_CONFIG, or move this aside: forklore config init",
    }
}

fn hint_for(message: &str) -> &'static str {
    if message.ends_with("name its variable with key_env") {
        "move the key into the environment, and name its variable in key_env"
    } else if message.starts_with("unknown field") {
        "correct the name, or take the line out"
    } else if message.starts_with("missing field") {
        "add the line that is missing"
    } else {
        "write a value that fits"
    }
}

fn name_one_of(names: &[String]) -> String {
    match names {
        [] => "take the line out, or configure a model: forklore config init".to_owned(),
        names => format!("name one of them as default_model: {}", names.join(", ")),
    }
}

fn names_of_models(table: &Table) -> Vec<String> {
    let models = table.get("models").and_then(Value::as_table);
    models.into_iter().flat_map(Table::keys).cloned().collect()
}

fn key(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// Removes the value with this key. If there is none, removes the innermost table or value above it
/// that exists. Returns whether anything was removed.
fn remove(table: &mut Table, key: &[String]) -> bool {
    match key {
        [] => false,
        [last] => table.remove(last).is_some(),
        [first, rest @ ..] => match table.get_mut(first) {
            Some(Value::Table(inner)) => remove(inner, rest) || table.remove(first).is_some(),
            _ => table.remove(first).is_some(),
        },
    }
}

/// Checks whether a program exists. A text with a directory is the path of the program; a bare name
/// is searched for in the folders of `PATH`.
fn is_in_path(program: &str) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file();
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}
