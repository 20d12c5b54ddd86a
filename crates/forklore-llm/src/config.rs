//! Which model, where it is served, and what it costs.

use std::time::Duration;

use forklore_agent::Prices;
use forklore_agent::media::{Capabilities, Crowd};
use serde::{Deserialize, Serialize};

use crate::key::KeyVariable;

/// The most bytes of all that goes along with a request, as base64: requests of more than 20 MB
/// are refused by some, and words need room too.
const MAX_MEDIA_BYTES: usize = 18 << 20;
/// The most bytes of a text that is attached; of a small model not more than a quarter of what it
/// takes, at four bytes for each token.
const MAX_TEXT_BYTES: usize = 128 << 10;

/// A model, as the user's configuration names it. Keys are never in it, only the names of the
/// environment variables that hold them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The form in which it is asked.
    pub provider: Provider,
    /// Its name there.
    pub model: String,
    /// Where it is served; none is the provider's own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable with the key. None is the provider's usual one, at the provider's
    /// own address, and no key elsewhere: a key never goes to an address by mistake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<KeyVariable>,
    /// How many tokens a request and its answer may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The most tokens of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// How free the choice of words is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How many seconds to wait for the next piece of an answer: 300 where none is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_seconds: Option<u64>,
    /// Whether the family's cache key is sent in the OpenAI form. Some servers refuse what they do
    /// not know.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub cache_key: bool,
    /// Whether images are sent. None is yes at the address of a provider of models, and no at
    /// another address and with Ollama: many servers refuse a request with an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// What a million tokens cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Prices>,
}

/// The form in which a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI's chat completions, which most servers speak.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `streamGenerateContent`.
    Gemini,
    /// Ollama, in the OpenAI form that it offers.
    Ollama,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_true(value: &bool) -> bool {
    *value
}

impl ModelConfig {
    /// A model at its provider's own address, with nothing else said.
    #[must_use]
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            key_env: None,
            context_window: None,
            max_output_tokens: None,
            temperature: None,
            patience_seconds: None,
            cache_key: true,
            images: None,
            price: None,
        }
    }

    /// Where it is served, without a slash at the end.
    pub(crate) fn address(&self) -> &str {
        self.base_url.as_deref().unwrap_or(self.provider.address()).trim_end_matches('/')
    }

    /// The variables that may hold the key, the first that is set counts.
    pub(crate) fn key_variables(&self) -> Vec<&str> {
        match (&self.key_env, &self.base_url) {
            (Some(named), _) => vec![named.as_str()],
            (None, None) => self.provider.key_variables().to_vec(),
            (None, Some(_)) => Vec::new(),
        }
    }

    /// What goes along with a request beside words. The numbers are what the providers' own
    /// documentation says, or less.
    pub(crate) fn takes(&self) -> Capabilities {
        let is_own = self.base_url.is_none() && self.provider != Provider::Ollama;
        let window = self.context_window.and_then(|tokens| usize::try_from(tokens).ok());
        let text = window.unwrap_or(MAX_TEXT_BYTES).min(MAX_TEXT_BYTES);
        let words =
            Capabilities { most_together: MAX_MEDIA_BYTES, text, ..Capabilities::default() };
        if !self.images.unwrap_or(is_own) {
            return words;
        }
        let most = match self.provider {
            // What it counts is the base64.
            Provider::Anthropic => 5 << 20,
            Provider::OpenAi | Provider::Gemini | Provider::Ollama => 15 << 20,
        };
        let images: &[_] = match self.provider {
            Provider::Gemini => &["image/png", "image/jpeg", "image/webp"],
            _ => &["image/png", "image/jpeg", "image/gif", "image/webp"],
        };
        let is_anthropic = self.provider == Provider::Anthropic;
        Capabilities {
            images,
            documents: is_own,
            most,
            most_images: 100,
            side: is_anthropic.then_some(8000),
            crowd: is_anthropic.then_some(Crowd { images: 20, side: 2000 }),
            ..words
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(self.patience_seconds.unwrap_or(300))
    }
}

impl Provider {
    /// How it is named in the log and in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    const fn address(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::Ollama => "http://localhost:11434/v1",
        }
    }

    const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Ollama => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_it_all() {
        let config: ModelConfig = toml::from_str(
            "provider = 'anthropic'\nmodel = 'claude'\nkey_env = 'MY_KEY'\n\
             images = false\ncontext_window = 200000\nprice = { input = 3, output = 15, cached = 0.3 }\n",
        )
        .unwrap();
        let price = Prices { input: 3.0, output: 15.0, cached: Some(0.3), cache_written: None };
        let expected = ModelConfig {
            key_env: Some("MY_KEY".parse().unwrap()),
            context_window: Some(200_000),
            images: Some(false),
            price: Some(price),
            ..ModelConfig::new(Provider::Anthropic, "claude")
        };
        assert_eq!(config, expected);
        let again = serde_json::to_string(&config).unwrap();
        let again: ModelConfig = serde_json::from_str(&again).unwrap();
        assert_eq!(again, expected);
    }

    #[test]
    fn an_unknown_field_is_named() {
        let text = "provider = 'openai'\nmodel = 'm'\nkey = 'sk-1'\n";
        let error = toml::from_str::<ModelConfig>(text).unwrap_err().to_string();
        assert!(error.contains("unknown field `key`"), "{error}");
    }

    #[test]
    fn a_key_instead_of_its_variable_is_not_repeated() {
        let text = "provider = 'openai'\nmodel = 'm'\nkey_env = 'sk-ant-secret'\n";
        let error = toml::from_str::<ModelConfig>(text).unwrap_err();
        assert!(error.message().starts_with("key_env is the name of"), "{error}");
        assert!(!error.message().contains("secret"), "{error}");
    }

    #[test]
    fn a_usual_key_goes_to_the_usual_address_only() {
        let own = ModelConfig::new(Provider::OpenAi, "m");
        assert_eq!(own.key_variables(), ["OPENAI_API_KEY"]);
        let elsewhere = ModelConfig { base_url: Some("http://localhost:1/v1/".into()), ..own };
        assert_eq!(elsewhere.key_variables(), Vec::<&str>::new());
        assert_eq!(elsewhere.address(), "http://localhost:1/v1");
        let named = ModelConfig { key_env: Some("MINE".parse().unwrap()), ..elsewhere };
        assert_eq!(named.key_variables(), ["MINE"]);
    }
}
