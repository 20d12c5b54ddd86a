//! Adds remotes to the text of a configuration file and removes them. Everything else in the text
//! stays as it is, comments too.

use toml_edit::{DocumentMut, Item, Table, TomlError, value};

/// The table of the configuration that names other stores.
const TABLE: &str = "remotes";

/// Returns the text with the remote `name`, whose store is at `url`. Replaces the URL of a remote
/// that exists.
///
/// # Errors
/// Returns an error if the text is not TOML.
pub fn with_remote(text: &str, name: &str, url: &str) -> Result<String, TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let remotes = document.entry(TABLE).or_insert_with(|| Item::Table(Table::new()));
    if let Some(remotes) = remotes.as_table_like_mut() {
        match remotes.get_mut(name).and_then(Item::as_value_mut) {
            Some(there) => {
                // A comment behind the value stays.
                let decor = there.decor().clone();
                *there = url.into();
                *there.decor_mut() = decor;
            }
            None => {
                remotes.insert(name, value(url));
            }
        }
    }
    Ok(document.to_string())
}

/// Returns the text without the remote `name`, or `None` if it has no such remote.
///
/// # Errors
/// Returns an error if the text is not TOML.
pub fn without_remote(text: &str, name: &str) -> Result<Option<String>, TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let remotes = document.get_mut(TABLE).and_then(Item::as_table_like_mut);
    let removed = remotes.and_then(|remotes| remotes.remove(name));
    Ok(removed.map(|_| document.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_remote_changes_in_the_text() {
        let text = "# mine\nsystem = 'Be brief.'  # so\n\n[remotes]\nteam = 'files:/a'  # ours\n";
        let changed = with_remote(text, "team", "files:/b").unwrap();
        assert_eq!(changed, text.replace("'files:/a'", "\"files:/b\""));
        let two = with_remote(&changed, "usb", "sqlite:/c").unwrap();
        assert_eq!(two, format!("{changed}usb = \"sqlite:/c\"\n"));
        assert_eq!(without_remote(&two, "usb").unwrap(), Some(changed));
        assert_eq!(without_remote(text, "usb").unwrap(), None);
        let first = with_remote("", "team", "files:/a").unwrap();
        assert_eq!(first, "[remotes]\nteam = \"files:/a\"\n");
        assert!(with_remote("[", "team", "files:/a").is_err());
    }
}
