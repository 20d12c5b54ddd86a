//! Writes the commands that the program suggests. Errors of the libraries contain no commands; this
//! module adds the commands.

pub(crate) mod next;

use forklore::api::{Fork, Forked, Summarize};
use forklore::core::SessionId;
use forklore_sanitize::shell::quoted;

/// The formatter of the commands that one run of the program suggests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// The store named on the command line, if any. Suggested commands repeat it, because otherwise
    /// they would use another store.
    store: Option<String>,
}

impl Hints {
    /// Creates the formatter of suggested commands for one run. `store` is the value of `--store`
    /// on the command line, if any.
    pub(crate) fn of(store: Option<String>) -> Self {
        Self { store }
    }

    /// Adds `--store` to a command, so that the command uses the same store. `text` is a command,
    /// or a sentence that ends with a command after `: `. Returns any other text unchanged.
    pub(crate) fn typed(&self, text: &str) -> String {
        let Some(store) = &self.store else { return text.to_owned() };
        let (before, command) = match text.rsplit_once(": forklore ") {
            Some((sentence, command)) => (format!("{sentence}: "), command),
            None => match text.strip_prefix("forklore ") {
                Some(command) => (String::new(), command),
                None => return text.to_owned(),
            },
        };
        let is_about_itself = command.ends_with("--help") || command.starts_with("--store ");
        if is_about_itself {
            return text.to_owned();
        }
        format!("{before}forklore --store {} {command}", quoted(store))
    }

    /// Returns the command that continues a session.
    pub(crate) fn resume(&self, session: &SessionId) -> String {
        self.typed(&format!("forklore resume {session}"))
    }

    /// Returns the `forklore fork` command that creates exactly the child that a dry run planned.
    /// `session` are the words that name the parent.
    pub(crate) fn apply(&self, session: &[String], request: &Fork, planned: &Forked) -> String {
        let mut words = vec!["forklore".to_owned(), "fork".into()];
        words.extend_from_slice(session);
        let mut option = |name: &str, value: &str| {
            words.push(format!("--{name}"));
            words.push(quoted(value));
        };
        // If open tool calls moved the cut, name the requested cut: the real fork moves it again.
        option("at", &planned.requested.as_ref().unwrap_or(&planned.cut).selector().to_string());
        option("id", planned.child_session_id.as_str());
        option("label", planned.label.as_str());
        option("kind", planned.kind.as_str());
        option("strategy", planned.strategy.as_str());
        option("tool-calls", request.tool_calls.as_str());
        if let Some(principal) = &request.principal {
            option("principal", principal);
        }
        if let Some(permissions) = &request.permissions {
            let names: Vec<_> = permissions.iter().map(String::as_str).collect();
            option("permissions", &names.join(","));
        }
        if let Some(title) = &request.title {
            option("title", title);
        }
        if let Some(workspace) = &request.workspace {
            option("into-workspace", workspace.as_str());
        }
        if let Some(metadata) = &request.metadata {
            option("metadata", metadata.get());
        }
        match &request.summarize {
            Some(Summarize::Deterministic) => words.push("--summarize=deterministic".into()),
            Some(Summarize::ByModel { .. } | Summarize::Fallback { .. }) => {
                words.push("--summarize=model".into());
            }
            None => {}
        }
        self.typed(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_store_that_the_user_named() {
        let hints = Hints::of(Some("files:my dir".to_owned()));
        assert_eq!(
            hints.typed("forklore fork s1 --at start"),
            "forklore --store 'files:my dir' fork s1 --at start"
        );
        assert_eq!(
            hints.typed("open the store again, then: forklore verify"),
            "open the store again, then: forklore --store 'files:my dir' verify"
        );
        for as_it_is in
            ["choose another id", "forklore fork --help", "forklore --store sqlite:a.db verify"]
        {
            assert_eq!(hints.typed(as_it_is), as_it_is);
        }
        assert_eq!(Hints::default().typed("forklore verify"), "forklore verify");
    }
}
