//! The user's configuration: models, tools, and the policy about calls.
//!
//! It is one file in the user's own configuration folder. A project's folder is never read: it
//! comes from somebody else, who must not choose which program starts or where a conversation goes.

mod error;
mod read;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use forklore_agent::subagents::Limits;
use forklore_llm::ModelConfig;
use forklore_mcp_client::{Rules, ServerConfig, ServerName};
use forklore_otel::TracingConfig;
use serde::Deserialize;

pub use error::ConfigError;
use trust::Trust;

/// Files of a project's folder that look like a configuration of forklore.
const IN_PROJECTS: [&str; 3] = ["forklore.toml", ".forklore.toml", ".forklore/config.toml"];

/// What the user has configured. It names the variables of keys, and never holds a key.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The model where none is named. A single model needs no default.
    pub default_model: Option<String>,
    /// The system prompt of a new session.
    pub system: Option<String>,
    /// The models, by the user's names.
    pub models: BTreeMap<String, ModelConfig>,
    /// The tool servers.
    pub tools: BTreeMap<ServerName, ServerConfig>,
    /// Which calls run, which are denied, and which a person approves.
    pub policy: Rules,
    /// How far a model may delegate to sub-agents by itself. None forbids it.
    pub delegate: Option<Limits>,
    /// The collector of spans. None sends none.
    pub tracing: Option<TracingConfig>,
}

/// The configuration and its file.
#[derive(Debug, Default)]
pub struct Configured {
    /// The file, which need not exist.
    pub path: PathBuf,
    /// Its content.
    pub config: Config,
}

impl Configured {
    /// Reads the file. A file that does not exist configures nothing.
    ///
    /// # Errors
    /// When the file cannot be read, others may write to it or to a folder that leads to it, or it
    /// does not say what it should: with the line.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let config = match read::text(path, &Trust::of_this_user())? {
            Some(text) => read::config(path, &text)?,
            None => Config::default(),
        };
        Ok(Self { path: path.to_owned(), config })
    }

    /// The name of a model and its configuration. None names the default.
    ///
    /// # Errors
    /// When there is none.
    pub fn model(&self, name: Option<&str>) -> Result<(&str, &ModelConfig), ConfigError> {
        let models = &self.config.models;
        let only = || Some(models.first_key_value().filter(|_| models.len() == 1)?.0.as_str());
        let name = name.or(self.config.default_model.as_deref()).or_else(only);
        let found = name.and_then(|name| models.get_key_value(name));
        found.map(|(name, model)| (name.as_str(), model)).ok_or_else(|| match name {
            Some(name) if !models.is_empty() => {
                let known = models.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let wrong = format!("there is no [models.{name}]; there is {known}");
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

/// Files in a project's folder that look like a configuration of forklore. They are ignored.
#[must_use]
pub fn ignored_in(folder: &Path) -> Vec<PathBuf> {
    let there = IN_PROJECTS.iter().map(|name| folder.join(name));
    there.filter(|path| path.symlink_metadata().is_ok()).collect()
}

#[cfg(test)]
mod tests;
