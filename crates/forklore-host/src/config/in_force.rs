//! Lists the settings in force, each with its origin.

use std::path::Path;

use forklore_api::{ConfigSetting, Gc, SettingOrigin};
use serde_json::{Value, json};
use toml::Table;

use super::lines::KeyLines;
use super::secret::may_be_secret;
use super::setting::shown;
use super::trust::Trust;
use super::{Config, ConfigError, Setting, read};

/// Returns the settings in force: those of the configuration file; those of the command line, which
/// override the file; the environment variables with the keys of models; and the defaults of what
/// is configured. The values of secrets are hidden.
///
/// # Errors
/// The errors of [`Configured::read_with`](super::Configured::read_with).
pub fn in_force(path: &Path, settings: &[Setting]) -> Result<Vec<ConfigSetting>, ConfigError> {
    let text = read::text(path, &Trust::of_this_user())?.unwrap_or_default();
    let config = read::config(path, &text, settings)?;
    let (lines, _) = KeyLines::parse(&text);
    // The text and the settings were read as a configuration above, so neither step can fail.
    let mut table: Table = text.parse().unwrap_or_default();
    for setting in settings {
        let _ = setting.put(&mut table);
    }
    let mut found = Found { settings, lines, list: Vec::new() };
    found.values(&mut Vec::new(), table.into());
    found.models(&config);
    found.defaults(&config);
    found.list.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(found.list)
}

struct Found<'a> {
    settings: &'a [Setting],
    lines: KeyLines<'a>,
    list: Vec<ConfigSetting>,
}

impl Found<'_> {
    /// Adds all values below `key`.
    fn values(&mut self, key: &mut Vec<String>, value: toml::Value) {
        match value {
            toml::Value::Table(table) => {
                for (name, value) in table {
                    key.push(name);
                    self.values(key, value);
                    key.pop();
                }
            }
            value => {
                let value = to_json(value);
                let hidden = may_be_secret(&value);
                let value = if hidden { Value::Null } else { value };
                let is_set = self.settings.iter().rev().find(|setting| setting.concerns(key));
                let line = self.lines.of(key).filter(|_| is_set.is_none());
                let from = match is_set {
                    Some(_) => SettingOrigin::CommandLine,
                    None => SettingOrigin::File,
                };
                let key = shown(key);
                self.list.push(ConfigSetting { key, value, hidden, from, line, variable: None });
            }
        }
    }

    /// Adds the environment variable of each model's API key, and the defaults of each model.
    fn models(&mut self, config: &Config) {
        for (name, model) in &config.models {
            let set = model.key_variable().map(str::to_owned);
            let hidden = set.is_some();
            if let Some(variable) = set.or_else(|| model.missing_key()) {
                self.list.push(ConfigSetting {
                    key: shown(&["models", name, "key"].map(str::to_owned)),
                    value: Value::Null,
                    hidden,
                    from: SettingOrigin::Environment,
                    line: None,
                    variable: Some(variable),
                });
            }
            for (field, value) in [
                ("base_url", json!(model.address())),
                ("cache_key", json!(model.cache_key)),
                ("patience_seconds", json!(model.patience().as_secs())),
            ] {
                self.default(&["models", name, field], value);
            }
        }
    }

    fn defaults(&mut self, config: &Config) {
        if let Some(name) = config.only_model() {
            self.default(&["default_model"], json!(name));
        }
        for name in ["per_day", "per_session", "tokens_per_day", "tokens_per_session"] {
            self.default(&["budget", name], Value::Null);
        }
        self.default(&["currency"], json!(config.currency.as_str()));
        for name in ["allow", "ask", "deny"] {
            self.default(&["policy", name], json!([]));
        }
        // A switch has no fields.
        if !self.list.iter().any(|setting| setting.key == "snapshots") {
            self.default(&["snapshots", "max_size"], Value::Null);
            self.default(&["snapshots", "turns"], json!(true));
        }
        if config.retention.is_some() {
            self.default(&["retention", "delete_after_days"], Value::Null);
            self.default(&["retention", "erase_after_days"], json!(Gc::TRASH_DAYS));
            self.default(&["retention", "spare_labelled"], json!(true));
        }
        if let Some(limits) = &config.delegate {
            self.default(&["delegate", "depth"], json!(limits.depth));
            self.default(&["delegate", "model_calls"], json!(limits.model_calls));
        }
    }

    /// Adds a default, unless the list already contains the setting.
    fn default(&mut self, key: &[&str], value: Value) {
        let parts: Vec<_> = key.iter().map(|part| (*part).to_owned()).collect();
        let key = shown(&parts);
        if self.list.iter().any(|setting| setting.key == key) {
            return;
        }
        let from = SettingOrigin::Default;
        self.list.push(ConfigSetting {
            key,
            value,
            hidden: false,
            from,
            line: None,
            variable: None,
        });
    }
}

fn to_json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => json!(number),
        toml::Value::Boolean(value) => Value::Bool(value),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(to_json).collect(),
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(name, value)| (name, to_json(value)));
            Value::Object(fields.collect())
        }
    }
}
