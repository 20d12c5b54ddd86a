//! Adds an entry to a configuration in TOML, with all comments and all other entries as they were.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::agent::Server;

/// The table of the servers.
const TABLE: &str = "mcp_servers";

/// Returns `text` with the entry.
///
/// # Errors
/// If the text is not TOML, or has something else where the servers are.
pub(super) fn with(text: &str, name: &str, server: &Server) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| format!("it is no TOML: {error}"))?;
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let tables = document.entry(TABLE).or_insert(Item::Table(implicit));
    let tables = tables.as_table_like_mut().ok_or_else(|| format!("{TABLE} is no table"))?;
    let entry = tables.entry(name).or_insert(Item::Table(Table::new()));
    let entry = entry.as_table_like_mut().ok_or_else(|| format!("{TABLE}.{name} is no table"))?;
    let words: Array = server.words.iter().collect();
    let is = |item: Option<&Item>, new: &Item| {
        item.is_some_and(|item| item.to_string().trim() == new.to_string().trim())
    };
    for (key, new) in [("command", value(&server.program)), ("args", value(words))] {
        if !is(entry.get(key), &new) {
            entry.insert(key, new);
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_stays() {
        let server = Server { program: "/bin/forklore".into(), words: vec!["mcp".into()] };
        let before = "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = 'other'\n";
        let after = with(before, "forklore", &server).unwrap();
        let entry = "\n[mcp_servers.forklore]\ncommand = \"/bin/forklore\"\nargs = [\"mcp\"]\n";
        assert_eq!(after, format!("{before}{entry}"));
        assert_eq!(with(&after, "forklore", &server).unwrap(), after);
        // A setting of the user in the entry stays too.
        let mine = after.clone() + "enabled = false\n";
        assert_eq!(with(&mine, "forklore", &server).unwrap(), mine);
        for bad in ["x = ", "mcp_servers = 3", "[mcp_servers]\nforklore = 3"] {
            assert!(with(bad, "forklore", &server).is_err(), "{bad}");
        }
    }
}
