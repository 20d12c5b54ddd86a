//! What a server was given in secret, and may say where others read it.

use std::env;

/// Shorter values are words, and no secrets.
const SHORTEST: usize = 8;

/// `text` with the names of variables in place of their values.
pub(crate) fn hidden<'n>(text: &str, variables: impl IntoIterator<Item = &'n str>) -> String {
    let mut text = text.to_owned();
    for name in variables {
        if let Ok(value) = env::var(name)
            && value.trim().len() >= SHORTEST
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
        let said = format!("cannot reach postgres://u:{path}@h, nor {path}");
        assert_eq!(hidden(&said, ["PATH"]), "cannot reach postgres://u:[PATH]@h, nor [PATH]");
        assert_eq!(hidden(&said, ["FORKLORE_NO_SUCH_SECRET"]), said);
    }
}
