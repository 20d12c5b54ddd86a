//! Recognizes values that may be secrets, so that they are not shown.
//!
//! A configuration names the environment variables that contain keys, and should never contain a
//! key itself. But people paste keys where they do not belong, so a value that looks like a key is
//! hidden.

use serde_json::Value;

/// Beginnings of keys and tokens that providers give out.
const BEGINNINGS: [&str; 14] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "hf_",
];
/// Parts of the names of options and parameters that take a secret.
const NAMES: [&str; 6] = ["token", "password", "passwd", "secret", "api-key", "api_key"];
/// The minimum length, in bytes, of a run of letters and digits that may be a key.
const LONG: usize = 24;

/// Checks whether a value, or a part of it, may be a secret.
pub(super) fn may_be_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => text.split_whitespace().any(is_suspicious),
        Value::Array(items) => {
            let names_one = |item: &Value| item.as_str().is_some_and(names_a_secret);
            items.iter().any(|item| names_one(item) || may_be_secret(item))
        }
        Value::Object(fields) => fields.values().any(may_be_secret),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Checks whether a text is an option that takes a secret, such as `--token`.
fn names_a_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.starts_with('-') && NAMES.iter().any(|name| text.contains(name))
}

fn is_suspicious(word: &str) -> bool {
    let address = word.split_once("://").map(|(_, rest)| rest);
    if address.is_some_and(|rest| rest.contains(['@', '?', '#'])) {
        return true;
    }
    let mut parts = word.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
    parts.any(|part| {
        BEGINNINGS
            .iter()
            .any(|beginning| part.strip_prefix(beginning).is_some_and(|rest| rest.len() >= 6))
            || part.split(['-', '_']).any(is_random)
    })
}

/// Checks whether a text of letters and digits is long and mixed, as keys are.
fn is_random(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.len() >= LONG && digits >= 3 && digits < text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_looks_like_a_key_is_recognized_and_names_are_not() {
        let secrets = [
            json!("sk-ant-0123456789"),
            json!("Bearer ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            json!("https://me:word@host/v1"),
            json!("https://host/v1?key=1"),
            json!(["--token", "abc"]),
            json!(["--api-key=abc"]),
            json!({"a": ["7f3a9c1b2d4e5f60718293a4b5c6d7e8"]}),
        ];
        for secret in secrets {
            assert!(may_be_secret(&secret), "{secret}");
        }
        let names = [
            json!("claude-sonnet-4-5-20250929"),
            json!("http://127.0.0.1:8080/v1"),
            json!("/home/me/project"),
            json!("MY_KEY"),
            json!("Answer briefly, and ask before you delete."),
            json!(["/home/me", "--root"]),
            json!(300),
        ];
        for name in names {
            assert!(!may_be_secret(&name), "{name}");
        }
    }
}
