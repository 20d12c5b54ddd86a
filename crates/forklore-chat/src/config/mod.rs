//! The user's configuration: which models and tools there are, and which calls are carried out.
//!
//! One file in the user's own configuration folder. A project's folder is never read: it comes
//! from somewhere else, and must not say which program starts or where a conversation is sent.

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

/// Files of a project's folder that look as if they were to configure forklore.
const IN_PROJECTS: [&str; 3] = ["forklore.toml", ".forklore.toml", ".forklore/config.toml"];

/// What the user has set. Keys are named by their variable, and never stand in it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The model where none is named; of a single one it goes without saying.
    pub default_model: Option<String>,
    /// What a model is told at the beginning of a new session.
    pub system: Option<String>,
    /// The models, by the names that the user gives them.
    pub models: BTreeMap<String, ModelConfig>,
    /// The servers of tools.
    pub tools: BTreeMap<ServerName, ServerConfig>,
    /// Which calls are carried out, refused or asked about.
    pub policy: Rules,
    /// How far a model may hand work to sub-agents by itself; without it, not at all.
    pub delegate: Option<Limits>,
    /// Where spans of what happens go; without it, nowhere.
    pub tracing: Option<TracingConfig>,
}

/// Where the configuration is, and what it says.
#[derive(Debug, Default)]
pub struct Configured {
    /// The file; it need not exist.
    pub path: PathBuf,
    /// What it says.
    pub config: Config,
}

impl Configured {
    /// Reads the file; where there is none, nothing is configured.
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

    /// The name of a model and what is known of it: the one asked for, or the default.
    ///
    /// # Errors
    /// When there is none.
    pub fn model(&self, asked: Option<&str>) -> Result<(&str, &ModelConfig), ConfigError> {
        let models = &self.config.models;
        let only = || Some(models.first_key_value().filter(|_| models.len() == 1)?.0.as_str());
        let name = asked.or(self.config.default_model.as_deref()).or_else(only);
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

/// Files in a project's folder that say how forklore is to work; nothing of them is heeded.
#[must_use]
pub fn ignored_in(folder: &Path) -> Vec<PathBuf> {
    let there = IN_PROJECTS.iter().map(|name| folder.join(name));
    there.filter(|path| path.symlink_metadata().is_ok()).collect()
}

#[cfg(test)]
mod tests;
