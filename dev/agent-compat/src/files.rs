//! Tests whether the files that real agents change go back together with the conversation: `forklore
//! hooks install` lets each agent record them in its turns, `forklore rewind` and `forklore undo` bring
//! them back and forth, and `forklore hooks remove` leaves the agent's settings as they were.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agent::{Agent, Hooks};
use crate::changes::{COMMIT, COMMITTED, CONFIG, PROMPT, RESULTS};
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::mock::Mock;
use crate::setting::Setting;
use crate::site::Site;
use crate::store::{Store, run};
use crate::tools::{MADE, MAKE};
use crate::{output, theirs};

/// A file that git tracks, which the user changes between two turns.
const NOTES: &str = "notes.txt";
/// What the untracked file has: no text, and no line end of Unix.
const BYTES: &[u8] = b"7\0\xff\r\n";
/// For how long a snapshot is waited for: some agents do not wait for their hooks.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(200);

/// Tests the agents one after the other. Returns whether each of them passed.
pub(crate) fn all(setting: &Setting, agents: &[&'static Agent]) -> Result<bool> {
    let mut is_well = true;
    for agent in agents {
        let mock = Mock::start()?;
        let folder = tempfile::tempdir().map_err(Error::file(std::env::temp_dir()))?;
        let site = Site::new(folder.path(), setting, mock.port)?;
        let store = Store { site: &site, setting };
        let mut test = Test { agent, site: &site, store, printed: String::new() };
        let outcome = test.passes();
        let outcome = outcome.map_err(|why| format!("  {why}; printed:\n{}", test.printed));
        output::rewound(agent, &outcome);
        is_well &= outcome.is_ok();
    }
    Ok(is_well)
}

/// The test of one agent.
struct Test<'a> {
    agent: &'static Agent,
    site: &'a Site,
    store: Store<'a>,
    /// What the programs printed.
    printed: String,
}

impl Test<'_> {
    /// The agent has two turns: in the first, it makes a file; before the second, the user changes one,
    /// and then the agent changes the rest.
    fn passes(&mut self) -> Result<(), String> {
        (self.agent.prepare)(self.site)?;
        let other = (self.agent.theirs)(self.site)?;
        self.begin()?;
        let installed = self.installed(&other)?;
        self.turn(MAKE, false)?;
        let first = self.folder()?;
        self.write(NOTES, b"1\n2\n")?;
        let edited = self.folder()?;
        self.turn(PROMPT, true)?;
        let last = self.folder()?;
        self.is_changed(&edited, &last)?;
        let (before, at_prompt) = match self.agent.hooks {
            Hooks::BeforePrompt => (&edited, &edited),
            Hooks::AfterPrompt => (&first, &edited),
            Hooks::AtEnd => (&first, &first),
        };
        let session = self.session()?;
        let prompt = self.prompt(&session)?;
        self.goes_back(&session, "turn:1", before, &last)?;
        self.goes_back(&session, &prompt, at_prompt, &last)?;
        self.goes_back(&session, "turn:1", before, &last)?;
        let ran = theirs::added(self.site)?;
        if ran != theirs::TURN.repeat(2) {
            return Err(format!("the hooks of somebody else did {ran:?}"));
        }
        self.removed(&other, &installed)
    }

    /// Makes the project: a repository with a file, a configuration, and untracked results.
    fn begin(&mut self) -> Result<(), String> {
        self.write(NOTES, b"1\n")?;
        self.write(CONFIG[0], CONFIG[1].as_bytes())?;
        for words in [
            &["init", "--quiet"][..],
            &["config", "user.name", "User"],
            &["config", "user.email", "user@example.org"],
            &["add", "."],
            &["commit", "--quiet", "-m", "First"],
        ] {
            self.printed += &run(self.site.git(words))?;
        }
        self.write(RESULTS, BYTES)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.site.project.join(name);
        Ok(fs::write(&path, bytes).map_err(Error::file(&path))?)
    }

    fn folder(&self) -> Result<Folder, String> {
        Ok(Folder::read(&self.site.project)?)
    }

    /// Installs the hooks, twice. Returns the file that they are in, and what it was before.
    fn installed(&self, other: &Path) -> Result<Installed, String> {
        let words = ["hooks", "install", self.agent.name, "--yes"];
        let theirs = bytes(other);
        let path = self.answer(&["hooks", "remove", self.agent.name, "--yes"])?;
        let path = PathBuf::from(word(&path, "/path"));
        let before = bytes(&path);
        self.answer(&words)?;
        let after = bytes(&path);
        let again = self.answer(&words)?;
        if after == before || bytes(&path) != after || again.get("existing") != Some(&json!(true)) {
            return Err(format!("the hooks were not installed once: {again}"));
        }
        Ok(Installed { path, before, theirs })
    }

    /// Removes the hooks, and checks that all settings are as they were.
    fn removed(&self, other: &Path, installed: &Installed) -> Result<(), String> {
        self.answer(&["hooks", "remove", self.agent.name, "--yes"])?;
        let Installed { path, before, theirs } = installed;
        for (path, before) in [(path.as_path(), before), (other, theirs)] {
            let now = bytes(path);
            if now != *before {
                let [before, now] =
                    [before, &now].map(|it| it.as_deref().map(String::from_utf8_lossy));
                return Err(format!("{} was {before:?} and is {now:?}", path.display()));
            }
        }
        Ok(())
    }

    /// Has the agent answer a prompt. Then imports its session, and waits until the state of the folder
    /// is recorded.
    fn turn(&mut self, prompt: &str, goes_on: bool) -> Result<(), String> {
        self.printed += &run((self.agent.turn)(self.site, prompt, goes_on))?;
        self.printed += &run(self.store.command(&["import"]))?;
        let session = self.session()?;
        let begun = Instant::now();
        loop {
            let diff = self.store.lines(&["diff", "--files", &session])?;
            let found = diff.first().cloned().unwrap_or_default();
            if found.get("changes") == Some(&json!([])) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                let hooks = self.store.lines(&["hooks", "list"])?;
                return Err(format!("the end of a turn was not recorded: {found}; {hooks:?}"));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Checks that the agent changed everything that it was to change in its second turn.
    fn is_changed(&self, before: &Folder, after: &Folder) -> Result<(), String> {
        let mut expected = before.files.clone();
        let made = expected.get(Path::new(MADE)).cloned();
        let made = made.ok_or("the agent made no file in its first turn")?;
        expected.remove(Path::new(RESULTS));
        expected.insert(COMMITTED.into(), made);
        let changed = expected.get_mut(Path::new(CONFIG[0])).ok_or("no configuration")?;
        changed.1 = CONFIG[2].as_bytes().to_vec();
        after.is(&Folder { git: after.git.clone(), files: expected })?;
        let log = run(self.site.git(&["log", "--format=%s"]))?;
        if log == "Agent\nFirst\n" {
            Ok(())
        } else {
            Err(format!("the agent made no commit: {log}"))
        }
    }

    /// Returns the id of the session with the most turns. A file can have branches: Claude Code sometimes
    /// goes on after a record that is not the last, and Gemini CLI begins a file that it does not use.
    fn session(&self) -> Result<String, String> {
        let tree = self.store.lines(&["tree", "--all", "--flat"])?;
        let turns = |session: &&Value| session.get("turns").and_then(Value::as_u64);
        let session = tree.iter().max_by_key(turns).ok_or("no session was imported")?;
        Ok(word(session, "/session_id"))
    }

    /// Returns the position of the second prompt.
    fn prompt(&self, session: &str) -> Result<String, String> {
        let log = self.store.lines(&["log", session])?;
        let is_it = |event: &&Value| {
            event.get("type") == Some(&json!("user_message")) && event.to_string().contains(PROMPT)
        };
        let prompt = log.iter().find(is_it).and_then(|event| event.get("seq"));
        Ok(format!("seq:{}", prompt.ok_or("the second prompt is not in the log")?))
    }

    /// Rewinds to a position and checks that the files are those of `then`, and that the conversation goes
    /// on without what came later. Undoes that, and checks that everything is as before. The agent's
    /// repository is the same all the time.
    fn goes_back(
        &self,
        session: &str,
        at: &str,
        then: &Folder,
        now: &Folder,
    ) -> Result<(), String> {
        let sessions = self.store.lines(&["tree", "--all", "--flat"])?;
        let rewound = self.answer(&["rewind", session, "--at", at, "--both", "--yes"])?;
        let expected = Folder { git: now.git.clone(), files: then.files.clone() };
        self.folder()?.is(&expected).map_err(|why| format!("after a rewind to {at}: {why}"))?;
        let fork = word(&rewound, "/forked/child_session_id");
        let log = json!(self.store.lines(&["log", &fork])?).to_string();
        if !log.contains(MAKE) || log.contains(COMMIT) {
            return Err(format!("{fork} is no fork at {at}: {log}"));
        }
        self.answer(&["undo", "--yes"])?;
        self.folder()?
            .is(now)
            .map_err(|why| format!("after the undo of a rewind to {at}: {why}"))?;
        let left = self.store.lines(&["tree", "--all", "--flat"])?;
        if left == sessions { Ok(()) } else { Err(format!("the undo left {left:?}")) }
    }

    /// Returns the answer of a command that succeeds.
    fn answer(&self, words: &[&str]) -> Result<Value, String> {
        let lines = self.store.lines(words)?;
        match lines.as_slice() {
            [answer] if answer.get("ok") == Some(&json!(true)) => Ok(answer.clone()),
            _ => Err(format!("{words:?} failed: {lines:?}")),
        }
    }
}

/// The file in which hooks were installed, what it was before, and the file with the hooks of
/// somebody else.
struct Installed {
    path: PathBuf,
    before: Option<Vec<u8>>,
    theirs: Option<Vec<u8>>,
}

/// Returns what a file contains, or `None` if there is none.
fn bytes(path: &Path) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

fn word(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}
