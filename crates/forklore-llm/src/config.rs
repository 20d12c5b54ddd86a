//! Configuration of a model: its provider, address, API key, limits and prices.

use std::time::Duration;

use forklore_agent::Prices;
use forklore_agent::media::{Capabilities, Crowd};
use serde::{Deserialize, Serialize};

use crate::key::{KeyLookup, KeyVariable};

/// The maximum total size of the media in one request, in bytes of base64. Some providers refuse
/// requests of more than 20 MB, including the text.
const MAX_MEDIA_BYTES: usize = 18 << 20;
/// The maximum size of an attached text, in bytes. For a small context window, the limit is as many
/// bytes as the window has tokens. This is about a quarter of the window, because a token has about
/// four bytes.
const MAX_TEXT_BYTES: usize = 128 << 10;

/// The configuration of one model. It contains no API key, only the name of the environment
/// variable that contains the key.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The API protocol that requests use.
    pub provider: Provider,
    /// The name of the model in the provider's API.
    pub model: String,
    /// The base URL of the API. `None` means the provider's own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that contains the API key. If this is `None`, the provider's usual
    /// variables apply at the provider's own address. At any other address, requests then contain
    /// no key, so that a key never goes to a wrong address by mistake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<KeyVariable>,
    /// The maximum number of tokens of a request and its response together. `None` if it is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The maximum number of tokens of a response. `None` leaves the limit to the provider, except
    /// that requests to Anthropic, which must contain a limit, have 8192.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature. `None` leaves it to the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The maximum time to wait for the next chunk of a response, in seconds. The default is 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_seconds: Option<u64>,
    /// Whether requests to an OpenAI-compatible server contain the prompt-cache key, the field
    /// `prompt_cache_key`. Set this to false for a server that refuses unknown fields.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub cache_key: bool,
    /// Whether requests may contain images. If false, they contain no PDF documents either. The
    /// default is true at the provider's own address, but false for Ollama and at any other
    /// address, because many servers refuse a request with an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// The prices of a million tokens, from which costs are computed. `None` if this configuration
    /// states no prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Prices>,
}

/// The API protocol of a model server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI's chat completions API, which most servers implement.
    OpenAi,
    /// Anthropic's messages API.
    Anthropic,
    /// Gemini's `streamGenerateContent` method.
    Gemini,
    /// Ollama, through its OpenAI-compatible API.
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
    /// Creates the configuration of a model at its provider's own address. All other fields have
    /// their defaults.
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

    /// Returns the base URL of the model's API without trailing slashes.
    #[must_use]
    pub fn address(&self) -> &str {
        self.base_url.as_deref().unwrap_or(self.provider.address()).trim_end_matches('/')
    }

    /// Returns the environment variables that may contain the API key. The first variable that is
    /// set applies.
    pub(crate) fn key_variables(&self) -> Vec<&str> {
        match (&self.key_env, &self.base_url) {
            (Some(named), _) => vec![named.as_str()],
            (None, None) => self.provider.key_variables().to_vec(),
            (None, Some(_)) => Vec::new(),
        }
    }

    /// Returns the environment variable that should contain the API key, if it is not set or does
    /// not contain a valid key. Returns `None` if there is a valid key, or if requests need none.
    #[must_use]
    pub fn missing_key(&self) -> Option<String> {
        match KeyLookup::of(&self.key_variables()) {
            KeyLookup::NotSet(variable) | KeyLookup::Invalid(variable) => Some(variable),
            KeyLookup::Key(_) | KeyLookup::None => None,
        }
    }

    /// Returns the environment variable from which requests take the API key. Returns `None` if no
    /// variable is set, or if requests need none.
    #[must_use]
    pub fn key_variable(&self) -> Option<&str> {
        let is_set = |name: &&str| std::env::var(name).is_ok_and(|key| !key.trim().is_empty());
        self.key_variables().into_iter().find(is_set)
    }

    /// Returns which images, documents and texts requests may contain. The limits are at most those
    /// of the providers' documentation.
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
            // Anthropic's limit applies to the base64 form.
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

    /// Returns the maximum time to wait for the next chunk of a response.
    #[must_use]
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.patience_seconds.unwrap_or(300))
    }
}

impl Provider {
    /// Returns the provider's name in the log and in the configuration.
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

    /// Returns the environment variables in which the provider's API keys usually are.
    #[must_use]
    pub const fn key_variables(self) -> &'static [&'static str] {
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
