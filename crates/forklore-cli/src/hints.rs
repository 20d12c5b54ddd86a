//! Writes the commands that the program suggests. Errors of the libraries contain no commands; this
//! module adds the commands.

pub(crate) mod next;

use std::path::Path;

use forklore::api::{Fork, Forked, Summarize};
use forklore::core::SessionId;
use forklore_host::Setting;
use forklore_sanitize::shell::quoted;

/// The commands that read the configuration, so that `-c` changes what they do.
const CONFIGURED: [&str; 7] = ["chat", "resume", "explore", "bring", "inspect", "stats", "doctor"];
/// The option with which `fork` reads the configuration too.
const BY_MODEL: &str = "--summarize=model";

/// The formatter of the commands that one run of the program suggests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// The store named on the command line, if any. Suggested commands repeat it, because otherwise
    /// they would use another store.
    store: Option<String>,
    /// The settings of the command line. Suggested commands that read the configuration repeat
    /// them, except those whose value may be secret.
    settings: Vec<Setting>,
}

impl Hints {
    /// Creates the formatter of suggested commands for one run. `store` is the value of `--store`
    /// on the command line, if any.
    pub(crate) fn of(store: Option<String>) -> Self {
        let store = store.map(|url| forklore::without_password(&url));
        Self { store, settings: Vec::new() }
    }

    /// Makes the formatter repeat the settings of `-c`.
    pub(crate) fn set(&mut self, settings: &[Setting]) {
        settings.clone_into(&mut self.settings);
    }

    /// Adds `--store` and `-c` to a command, so that the command uses the same store and settings. A
    /// comment names the settings that are left out because their values may be secret. `text` is a
    /// command, or a sentence that ends with a command after `: `. Returns any other text unchanged.
    pub(crate) fn typed(&self, text: &str) -> String {
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
        let mut words = vec![format!("{before}forklore")];
        words.extend(self.store.iter().map(|store| format!("--store {}", quoted(store))));
        let (settings, left_out) = self.settings_of(command);
        words.extend(settings.iter().map(|setting| format!("-c {}", quoted(setting))));
        words.push(command.to_owned());
        if !left_out.is_empty() {
            words
                .push(format!(" # and -c {}, left out as it may be secret", left_out.join(" -c ")));
        }
        words.join(" ")
    }

    /// Returns the settings to repeat in a command, and the keys of those that it leaves out.
    fn settings_of(&self, command: &str) -> (Vec<&str>, Vec<String>) {
        let verb = command.split(' ').next().unwrap_or_default();
        if !CONFIGURED.contains(&verb) && !command.split(' ').any(|word| word == BY_MODEL) {
            return (Vec::new(), Vec::new());
        }
        let repeated: Vec<_> = self.settings.iter().filter_map(Setting::repeated).collect();
        let secret = self.settings.iter().filter(|setting| setting.repeated().is_none());
        (repeated, secret.map(Setting::to_string).collect())
    }

    /// Returns the command that continues a session.
    pub(crate) fn resume(&self, session: &SessionId) -> String {
        self.typed(&format!("forklore resume {session}"))
    }

    /// Returns the `forklore fork` command that creates exactly the child that a dry run planned.
    /// `session` are the words that name the parent.
    /// `worktree` is the folder of the fork, if it gets one of its own.
    pub(crate) fn apply(
        &self,
        session: &[String],
        request: &Fork,
        planned: &Forked,
        worktree: Option<Option<&Path>>,
    ) -> String {
        let mut words = vec!["forklore".to_owned(), "fork".into()];
        words.extend_from_slice(session);
        let mut option = |name: &str, value: &str| {
            words.push(format!("--{name}"));
            words.push(quoted(value));
        };
        // If open tool calls moved the cut, name the requested cut: the real fork moves it again. A
        // worktree without a named cut has the present files.
        if worktree.is_none() || request.at.is_some() {
            option(
                "at",
                &planned.requested.as_ref().unwrap_or(&planned.cut).selector().to_string(),
            );
        }
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
        match worktree {
            Some(Some(folder)) => {
                words.push(format!("--worktree={}", quoted(&folder.to_string_lossy())));
            }
            Some(None) => words.push("--worktree".into()),
            None => {}
        }
        match &request.summarize {
            Some(Summarize::Deterministic) => words.push("--summarize=deterministic".into()),
            Some(Summarize::ByModel { .. } | Summarize::Fallback { .. }) => {
                words.push(BY_MODEL.into());
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

    #[test]
    fn commands_repeat_the_settings_that_they_read_and_no_secret() {
        let mut hints = Hints::of(None);
        let settings = [
            "models.local.model=other",
            "system=Be brief.",
            "models.local.base_url=http://user:hunter2@example.org",
            "tools.t.args=[\"--password\", \"hunter2\"]",
            "delegate.depth=1",
        ];
        hints.set(&settings.map(|setting| setting.parse().unwrap()));
        assert_eq!(
            hints.typed("forklore resume s1"),
            "forklore -c models.local.model=other -c 'system=Be brief.' -c delegate.depth=1 resume s1  \
             # and -c models.local.base_url -c tools.t.args, left out as it may be secret"
        );
        assert_eq!(hints.typed("forklore undelete s1"), "forklore undelete s1");
    }
}
