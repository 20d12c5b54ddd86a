//! Redaction of secrets that a server was given and may print.

use std::env;

/// Minimum length of a redacted value, in bytes. Shorter values may be ordinary words.
const MIN_SECRET_LENGTH: usize = 8;

/// Replaces the values of these environment variables in `text` by the variables' names.
pub(crate) fn redact_values<'n>(
    text: &str,
    variables: impl IntoIterator<Item = &'n str>,
) -> String {
    let mut text = text.to_owned();
    for name in variables {
        if let Ok(value) = env::var(name)
            && value.trim().len() >= MIN_SECRET_LENGTH
        {
            text = text.replace(value.trim(), &format!("[{name}]"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_named_and_not_repeated() {
        let path = env::var("PATH").unwrap();
        let text = format!("cannot reach postgres://u:{path}@h, nor {path}");
        assert_eq!(
            redact_values(&text, ["PATH"]),
            "cannot reach postgres://u:[PATH]@h, nor [PATH]"
        );
        assert_eq!(redact_values(&text, ["FORKLORE_NO_SUCH_SECRET"]), text);
    }
}
