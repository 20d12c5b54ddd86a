//! Events that the application defines. The kernel announces them with the ids of a session.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Name;

/// The maximum length of the name of an application's event, in bytes.
const LONGEST: usize = 64;

/// An event that the application defines. The kernel announces it for a session, and does not store
/// it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ApplicationEvent {
    /// The name of the event.
    #[serde(rename = "event")]
    pub name: ApplicationName,
    /// The details of the event, in a form that the application chooses.
    #[serde(default)]
    pub data: Value,
}

impl ApplicationEvent {
    /// Creates an event with details in any JSON form.
    #[must_use]
    pub fn new(name: ApplicationName, data: Value) -> Self {
        Self { name, data }
    }
}

/// The name of an event that the application defines, such as `plan:start`. The name consists of
/// two or more words with a colon between them, and has at most 64 bytes. The words consist of
/// ASCII letters, digits, `_`, `-` and `.`. The names of the kernel's own events ([`Name`]) are not
/// allowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApplicationName(Cow<'static, str>);

/// Why a text is not the name of an application's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// The text does not have the form of a name. The error does not repeat the text, because the
    /// text may be hostile.
    #[error("an event is named by words with a colon between them, such as plan:start")]
    Form,
    /// The kernel itself announces events with this name.
    #[error("{0} is an event of the kernel, which no application announces")]
    Kernel(Name),
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl ApplicationName {
            $($(#[$doc])* #[doc = concat!(" (`", $text, "`)")]
            pub const $name: Self = Self(Cow::Borrowed($text));)*

            /// The event names of Amplifier's kernel that forklore's kernel does not announce
            /// itself. Every other event name of Amplifier's kernel is a [`Name`].
            pub const CANONICAL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

names! {
    /// A phase of planning begins.
    PLAN_START = "plan:start";
    /// A phase of planning ended.
    PLAN_END = "plan:end";
    /// A provider limits the rate of requests.
    PROVIDER_THROTTLE = "provider:throttle";
    /// A provider repaired a malformed sequence of tool calls.
    PROVIDER_TOOL_SEQUENCE_REPAIRED = "provider:tool_sequence_repaired";
    /// A provider was selected.
    PROVIDER_RESOLVE = "provider:resolve";
    /// A request is sent to a provider, in the provider's own protocol.
    LLM_REQUEST = "llm:request";
    /// An answer of a provider arrived, in the provider's own protocol.
    LLM_RESPONSE = "llm:response";
    /// The application itself compacted what a model receives.
    CONTEXT_COMPACTION = "context:compaction";
    /// The application added something to what a model receives.
    CONTEXT_INCLUDE = "context:include";
    /// An orchestrator (code of the application that runs a turn) begins.
    EXECUTION_START = "execution:start";
    /// An orchestrator ended.
    EXECUTION_END = "execution:end";
    /// A message for the user.
    USER_NOTIFICATION = "user:notification";
    /// An artifact, such as a file, was written.
    ARTIFACT_WRITE = "artifact:write";
    /// An artifact, such as a file, was read.
    ARTIFACT_READ = "artifact:read";
    /// A policy was violated.
    POLICY_VIOLATION = "policy:violation";
}

impl ApplicationName {
    /// Returns the name as it is written in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ApplicationName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for ApplicationName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        };
        if text.len() > LONGEST || !text.contains(':') || !text.split(':').all(is_word) {
            return Err(InvalidName::Form);
        }
        match Name::ALL.iter().find(|name| name.as_str() == text) {
            Some(name) => Err(InvalidName::Kernel(*name)),
            None => Ok(Self(Cow::Owned(text))),
        }
    }
}

impl From<ApplicationName> for String {
    fn from(name: ApplicationName) -> Self {
        name.0.into_owned()
    }
}

impl fmt::Display for ApplicationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_words_with_colons_and_not_the_kernels() {
        for name in ["plan:start", "my-app:step.2", "a:b:c"] {
            assert_eq!(name.parse::<ApplicationName>().unwrap().as_str(), name);
        }
        let long = format!("a:{}", "b".repeat(63));
        for text in ["", "plan", ":", "plan:", ":start", "plan::end", "a b:c", "a:\n", "é:a", &long]
        {
            assert_eq!(text.parse::<ApplicationName>(), Err(InvalidName::Form), "{text:?}");
        }
        for name in Name::ALL {
            let parsed = name.as_str().parse::<ApplicationName>();
            assert_eq!(parsed, Err(InvalidName::Kernel(*name)));
        }
        for name in ApplicationName::CANONICAL {
            assert_eq!(name.as_str().parse().as_ref(), Ok(name));
        }
    }

    /// All event names in the file `events.rs` of Amplifier's kernel.
    const AMPLIFIER: &str = "session:start session:end session:fork session:resume prompt:submit \
        prompt:complete plan:start plan:end provider:request provider:response provider:retry \
        provider:error provider:throttle provider:tool_sequence_repaired provider:resolve \
        llm:request llm:response content_block:start content_block:delta content_block:end \
        thinking:delta thinking:final tool:pre tool:post tool:error context:pre_compact \
        context:post_compact context:compaction context:include orchestrator:complete \
        execution:start execution:end user:notification artifact:write artifact:read \
        policy:violation approval:required approval:granted approval:denied cancel:requested \
        cancel:completed";

    #[test]
    fn every_name_of_amplifier_is_the_kernels_or_the_applications() {
        let ours = Name::ALL.iter().map(|name| name.as_str());
        let all: Vec<_> =
            ours.chain(ApplicationName::CANONICAL.iter().map(ApplicationName::as_str)).collect();
        let missing: Vec<_> =
            AMPLIFIER.split_whitespace().filter(|name| !all.contains(name)).collect();
        assert_eq!(missing, Vec::<&str>::new());
        let strange: Vec<_> = ApplicationName::CANONICAL
            .iter()
            .filter(|name| !AMPLIFIER.split_whitespace().any(|it| it == name.as_str()))
            .collect();
        assert_eq!(strange, Vec::<&ApplicationName>::new());
    }
}
