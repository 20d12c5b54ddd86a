//! Redacts secrets that a server received through environment variables and may print.

use std::env;

/// The minimum length of a value that is redacted, in bytes. A shorter value may be an ordinary
/// word.
const MIN_SECRET_LENGTH: usize = 8;

/// Replaces each value of these environment variables in `text` by the name of the variable.
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
