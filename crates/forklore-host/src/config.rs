//! The user's configuration: models, tools, and the policy for tool calls.
//!
//! The configuration is one file in the user's own configuration directory. forklore never reads a
//! configuration from the directory of a project, because the author of a project must not decide
//! which programs start or where a conversation is sent. The user may override the file for one run
//! with a [`Setting`].

mod budget;
mod check;
mod error;
mod in_force;
mod lines;
mod read;
mod recording;
mod remotes;
mod secret;
mod setting;
mod template;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use forklore_agent::delegate_tool::Limits;
use forklore_api::Retention;
use forklore_core::{Currency, PriceTable, Prices};
use forklore_llm::ModelConfig;
use forklore_mcp_client::{Rules, ServerConfig, ServerName};
use forklore_otel::TracingConfig;
use serde::Deserialize;

pub use budget::{Budget, is_amount};
pub use check::{check, check_text};
pub use error::ConfigError;
pub use in_force::in_force;
pub use recording::Recording;
pub use remotes::{with_remote, without_remote};
pub use setting::{InvalidSetting, Setting};
pub use template::template;
use trust::Trust;

/// The paths of files in a project's directory that look like a configuration of forklore.
const IN_PROJECTS: [&str; 3] = ["forklore.toml", ".forklore.toml", ".forklore/config.toml"];

/// The content of the configuration file. The file never contains an API key, only the names of
/// environment variables that contain keys.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The name of the default model. If this is `None` and only one model is configured, that
    /// model is the default.
    pub default_model: Option<String>,
    /// The system prompt of new sessions. `None` means no system prompt.
    pub system: Option<String>,
    /// The models, by the names that the user gave them.
    pub models: BTreeMap<String, ModelConfig>,
    /// The currency of all prices and costs. The default is USD, in which agents record costs.
    pub currency: Currency,
    /// The prices of models, by the names that the providers give the models. In a name, `*`
    /// matches any text. These prices apply to models without a price in [`models`](Self::models),
    /// and to models in the sessions of other agents.
    pub prices: BTreeMap<String, Prices>,
    /// How much the models may use.
    pub budget: Budget,
    /// The tool servers, by name.
    pub tools: BTreeMap<ServerName, ServerConfig>,
    /// The rules for tool calls: which calls run, which are denied, and which need approval.
    pub policy: Rules,
    /// Which states of files are recorded. The default is that turns with tools take snapshots.
    pub snapshots: Recording,
    /// The limits for sub-agents that a model starts by itself. `None` forbids such sub-agents.
    pub delegate: Option<Limits>,
    /// The URLs of other stores, by the names that the user gave them. `push`, `pull` and `handoff`
    /// know these names.
    pub remotes: BTreeMap<String, String>,
    /// How long sessions are retained, for `gc --policy`. `None` means that there is no policy.
    pub retention: Option<Retention>,
    /// The collector that receives OpenTelemetry spans. `None` disables tracing.
    pub tracing: Option<TracingConfig>,
}

impl Config {
    /// Returns all configured prices. If `prices` and a model in `models` have the same name, the
    /// price in `prices` counts. If two models in `models` have the same name at the provider and
    /// different prices, the table has no price for that name, unless `prices` has one.
    #[must_use]
    pub fn price_table(&self) -> PriceTable {
        let mut prices = self.prices.clone();
        for model in self.models.values() {
            let others = self.models.values().filter(|other| other.model == model.model);
            let agree = others.clone().all(|other| other.price == model.price);
            if let Some(price) = model.price.filter(|_| agree) {
                prices.entry(model.model.clone()).or_insert(price);
            }
        }
        PriceTable { currency: self.currency.clone(), prices }
    }

    /// Returns the prices of a configured model: its own, or else those that `prices` has for its
    /// name at the provider. Returns `None` if there are none.
    #[must_use]
    pub fn price_of(&self, model: &ModelConfig) -> Option<Prices> {
        model.price.or_else(|| self.price_table().of(&model.model).copied())
    }

    /// Returns the name of the only model, if there is just one.
    fn only_model(&self) -> Option<&str> {
        let first = self.models.first_key_value().filter(|_| self.models.len() == 1);
        first.map(|(name, _)| name.as_str())
    }
}

/// A configuration and the path of its file.
#[derive(Debug, Default)]
pub struct Configured {
    /// The path of the file, which need not exist.
    pub path: PathBuf,
    /// The content of the file, or the default if the file does not exist.
    pub config: Config,
}

impl Configured {
    /// Reads the configuration file. If the file does not exist, the configuration is empty.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, if other users may write to the file or to a
    /// directory on its path, or if its content is invalid. An error about the content has the line
    /// number.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::read_with(path, &[])
    }

    /// Reads the configuration file, and puts the settings into it. A later setting overrides an
    /// earlier one. The file does not change.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read). If a setting is the cause, the error has its key.
    pub fn read_with(path: &Path, settings: &[Setting]) -> Result<Self, ConfigError> {
        let text = read::text(path, &Trust::of_this_user())?.unwrap_or_default();
        let config = read::config(path, &text, settings)?;
        Ok(Self { path: path.to_owned(), config })
    }

    /// Returns the name of a model and its configuration. `None` selects the default model.
    ///
    /// # Errors
    /// Returns an error if no model has this name, or if `name` is `None` and there is no default
    /// model.
    pub fn model(&self, name: Option<&str>) -> Result<(&str, &ModelConfig), ConfigError> {
        let models = &self.config.models;
        let only = || self.config.only_model();
        let name = name.or(self.config.default_model.as_deref()).or_else(only);
        let found = name.and_then(|name| models.get_key_value(name));
        found.map(|(name, model)| (name.as_str(), model)).ok_or_else(|| match name {
            Some(name) if !models.is_empty() => {
                let names = models.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let wrong = format!("there is no [models.{name}]; there is {names}");
                ConfigError::new(&self.path, wrong)
            }
            None if !models.is_empty() => {
                let wrong = "several models are there: say which is the default_model".to_owned();
                ConfigError::new(&self.path, wrong)
            }
            _ => ConfigError::no_model(&self.path),
        })
    }
}

/// Lists the files in a project's directory that look like a configuration of forklore. forklore
/// ignores these files.
#[must_use]
pub fn ignored_in(folder: &Path) -> Vec<PathBuf> {
    let there = IN_PROJECTS.iter().map(|name| folder.join(name));
    there.filter(|path| path.symlink_metadata().is_ok()).collect()
}

#[cfg(test)]
mod tests;
