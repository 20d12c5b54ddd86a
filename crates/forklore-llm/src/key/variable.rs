//! The name of the environment variable that contains an API key.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of an environment variable. Text that cannot be a name is refused, and the error does
/// not repeat the text, because it may be a key in the wrong field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyVariable(String);

/// The error for text that cannot be the name of an environment variable. The error does not
/// contain the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "key_env is the name of the environment variable that holds the key: letters, digits and \
     underscores, no digit first. What stands there is none and may be the key itself, so it is \
     not shown"
)]
pub struct NoVariable;

impl KeyVariable {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for KeyVariable {
    type Error = NoVariable;

    fn try_from(name: String) -> Result<Self, NoVariable> {
        let mut bytes = name.bytes();
        let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let others = bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if first && others { Ok(Self(name)) } else { Err(NoVariable) }
    }
}

impl FromStr for KeyVariable {
    type Err = NoVariable;

    fn from_str(name: &str) -> Result<Self, NoVariable> {
        name.to_owned().try_into()
    }
}

impl From<KeyVariable> for String {
    fn from(variable: KeyVariable) -> Self {
        variable.0
    }
}

impl fmt::Display for KeyVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_no_name_of_a_variable() {
        for name in ["OPENAI_API_KEY", "_k", "a1"] {
            assert_eq!(name.parse::<KeyVariable>().unwrap().as_str(), name);
        }
        for key in ["sk-ant-secret", "", "1A", "A B", "A=B", "$KEY", "ÄKEY", "A\0", "A."] {
            let error = key.parse::<KeyVariable>().unwrap_err();
            assert_eq!(error, NoVariable, "{key}");
        }
        let error = serde_json::from_str::<KeyVariable>("\"sk-ant-secret\"").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
