//! The golden stores, one per format version, with the answers expected from each. Every later
//! version of the program must open them.
//!
//! [`write()`] creates a golden store through the engine's verbs alone, with everything that a
//! store can contain. [`Answers`] contains the answers of the store when it was created. Every
//! later program must give the same answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use forklore::Engine;
use forklore::api::Session;
use forklore::core::workspace::Workspace;
use forklore::core::{Class, Data, Selector, SessionId, SessionKind, Strategy};
use forklore::engine::{
    Batch, Clock, Create, Delete, DeleteMode, Error, Fork, LogRange, NewEvent, Result,
};
use forklore::import::{ImportOptions, Importer};
use forklore::store::port::{Change, Filter};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The time at which tests read the golden stores (stores of each format version, with expected
/// answers): 2027-01-15T09:00:00Z, in seconds since 1970.
const NOW: i64 = 1_800_003_600;

/// A clock that advances one second per call, so that all runs get the same times. It supplies a
/// counter instead of random bytes.
#[derive(Debug)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        let second = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_second(second).unwrap_or_default()
    }

    fn random(&self) -> [u8; 10] {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        random
    }
}

/// All answers of a store about its sessions. The key of each map is the id of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The header of each session as JSON, as returned by [`shown`]. Includes deleted sessions.
    pub headers: BTreeMap<String, Value>,
    /// The log of each session that is not deleted, as the verb `log` prints it: one event per
    /// line.
    pub logs: BTreeMap<String, Vec<String>>,
    /// The content of the file that each imported session was imported from, as the store restores
    /// it. Each byte is one character.
    pub restored: BTreeMap<String, String>,
}

impl Answers {
    /// Collects all answers of the store of `engine` about its sessions.
    ///
    /// # Errors
    /// The first error of the store.
    pub fn of(engine: &Engine) -> Result<Self> {
        let mut answers = Self::default();
        let all = Filter { deleted: true, ..Filter::default() };
        for header in engine.store().sessions(&all, None, 0)?.all()? {
            let id = header.id.to_string();
            answers.headers.insert(id.clone(), shown(engine, &header.id)?);
            if header.deleted.is_some() {
                continue;
            }
            answers.logs.insert(id.clone(), log(engine, &header.id)?);
            if header.dialect.is_some() && header.source.is_some() {
                answers.restored.insert(id, restored(engine, &header.id)?);
            }
        }
        Ok(answers)
    }
}

/// Returns a session's header as JSON, as verbs print it. Adds the other header fields on which
/// verbs depend.
///
/// # Errors
/// The errors of the store.
pub fn shown(engine: &Engine, id: &SessionId) -> Result<Value> {
    let header = engine.store().header(id)?;
    let now = Timestamp::from_second(NOW).unwrap_or_default();
    let running = header.leased_by_other(None, now).is_some();
    // Older versions did not tell when a session was deleted.
    let view = Session { deleted_at: None, ..Session::of(&header, running) };
    let mut view = serde_json::to_value(&view).unwrap_or_default();
    if let Some(view) = view.as_object_mut() {
        // Older versions did not print these here. They are below: in the counts and by themselves.
        view.retain(|field, _| field != "turns" && field != "own_bytes");
    }
    let lease = header.lease.as_ref().map(|lease| json!([lease.owner, lease.began_at]));
    Ok(json!({
        "session": view,
        "counts": header.counts, "inherited": header.inherited, "own_bytes": header.own_bytes,
        "usage": header.usage, "config": header.config, "tool_calls": header.tool_calls,
        "lease": lease,
    }))
}

/// Returns the log of a session as the verb `log` prints it, with one element per line.
///
/// # Errors
/// The errors of the store.
pub fn log(engine: &Engine, id: &SessionId) -> Result<Vec<String>> {
    let mut out = Vec::new();
    engine.log(id, LogRange::default(), &mut out)?;
    Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
}

/// Returns the content of the file that a session was imported from, as the store restores it. Each
/// byte is one character.
///
/// # Errors
/// The errors of the store.
pub fn restored(engine: &Engine, id: &SessionId) -> Result<String> {
    let mut out = Vec::new();
    engine.restore(id, &mut out)?;
    // Each byte becomes one character, so that invalid UTF-8 can be compared too.
    Ok(out.into_iter().map(char::from).collect())
}

/// Returns the directory of the golden stores: one store per format version, with expected answers.
#[must_use]
pub fn folder() -> PathBuf {
    testdata().join("stores")
}

/// Returns the directory of the session files and stores that tests read.
#[must_use]
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// Fills an empty store with every kind of content that a store can contain.
///
/// # Errors
/// The first error of an operation on the store.
pub fn write(engine: &Engine) -> Result<()> {
    let clock = Arc::new(Ticking(AtomicI64::new(NOW - 3_600)));
    let scene = Scene { engine: engine.clone().with_clock(clock) };
    scene.family()?;
    scene.depth()?;
    scene.deletions()?;
    scene.imports()?;
    scene.pack()
}

struct Scene {
    engine: Engine,
}

impl Scene {
    /// Creates a family of sessions: a root with every type of event, and four children. They are a
    /// fork that shares the events of the root, a fork that copies them, a fork that is detached
    /// (no longer needs its parent), and a delegate (the session of a sub-agent).
    fn family(&self) -> Result<()> {
        let root = id("golden-main")?;
        self.engine.create(&Create {
            id: Some(root.clone()),
            title: Some("the \u{202e}golden\u{1b}[31m one".into()),
            principal: Some("did:example:ada".into()),
            permissions: Some(["read", "write"].map(str::to_owned).into()),
            metadata: Some(data(&json!({"colour": "gold", "n": 1.50}))?),
            config: Some(data(&json!({"model": "none"}))?),
            ..Create::in_workspace(Workspace::new("/golden"))
        })?;
        self.write(&root, &every_sort_of_event()?)?;
        let share = self.fork("golden-main", "golden-share", "turn:1", |fork| {
            fork.title = Some("shared".into());
            fork.label = "plan-a".parse().ok();
            fork.permissions = Some(BTreeSet::from(["read".to_owned()]));
        })?;
        self.say(&share, 2)?;
        let copy = self.fork("golden-main", "golden-copy", "turn:2", |fork| {
            fork.strategy = Strategy::ReplayV1;
        })?;
        self.say(&copy, 1)?;
        self.engine.label(&copy, &"plan-b".parse().map_err(|_| word("a label"))?)?;
        let detached = self.fork("golden-main", "golden-detached", "turn:2", |_| {})?;
        self.engine.detach(&detached)?;
        self.say(&detached, 1)?;
        let (owner, lasts) = ("runtime-1".to_owned(), jiff::SignedDuration::from_hours(24));
        self.engine.store().change(&detached, &Change::Hold { owner, lasts })?;
        let delegate = self.fork("golden-main", "golden-delegate", "turn:1", |fork| {
            fork.kind = SessionKind::Delegate;
        })?;
        self.say(&delegate, 1)?;
        let title = Change::Title(Some("named later".into()));
        self.engine.store().change(&delegate, &title)?;
        Ok(())
    }

    /// Creates a chain of 35 forks. The last one inherits from so many sessions that the list of
    /// the inherited ranges fills more than two pages.
    fn depth(&self) -> Result<()> {
        let mut parent = "golden-share".to_owned();
        for depth in 1..=35 {
            let child = format!("golden-deep-{depth}");
            let made = self.fork(&parent, &child, "end", |_| {})?;
            self.say(&made, 1)?;
            parent = child;
        }
        Ok(())
    }

    /// Creates and deletes sessions: some have events that sessions still need, and one has none.
    fn deletions(&self) -> Result<()> {
        for (root, heir) in [("golden-gone", Some("golden-heir")), ("golden-dust", None)] {
            let gone = id(root)?;
            let workspace = Workspace::new("/golden");
            let create = Create { id: Some(gone.clone()), ..Create::in_workspace(workspace) };
            self.engine.create(&create)?;
            self.write(&gone, &every_sort_of_event()?)?;
            if let Some(heir) = heir {
                let heir = self.fork(root, heir, "turn:2", |_| {})?;
                self.say(&heir, 1)?;
                let between = self.fork("golden-heir", "golden-between", "end", |_| {})?;
                self.say(&between, 2)?;
                let last = self.fork("golden-between", "golden-last", "end", |_| {})?;
                self.say(&last, 1)?;
                self.delete(&between)?;
            }
            self.delete(&gone)?;
        }
        Ok(())
    }

    /// Imports files of three formats: one with branches, one with damage, and one plain file.
    /// Appends a turn to a session of the first file.
    fn imports(&self) -> Result<()> {
        let folder = std::env::temp_dir().join("forklore-golden");
        let files =
            ["pi/demo.jsonl", "claude/malformed/interior-garbage.jsonl", "plain/tools.jsonl"];
        for (number, file) in (0_u64..).zip(files) {
            let from = testdata().join(file);
            let to = folder.join(file.replace('/', "-"));
            copy(&from, &to, number).map_err(|error| io(&to, error))?;
            let options = ImportOptions::in_workspace(Workspace::new("/golden"));
            let report = Importer::new(&self.engine).import(
                std::slice::from_ref(&to),
                &options,
                &mut |_| {},
            )?;
            std::fs::remove_file(&to).map_err(|error| io(&to, error))?;
            if let Some(last) = report.sessions.last().filter(|_| number == 0) {
                self.say(&last.session_id, 1)?;
            }
        }
        Ok(())
    }

    /// Appends events, compresses the store (`pack`), and appends more events afterwards. Some of
    /// the latter fill a block, which the store seals, and some remain in an unsealed block.
    fn pack(&self) -> Result<()> {
        let long = id("golden-long")?;
        let workspace = Workspace::new("/golden");
        let create = Create { id: Some(long.clone()), ..Create::in_workspace(workspace) };
        self.engine.create(&create)?;
        self.say(&long, 40)?;
        self.engine.pack(Duration::ZERO)?;
        self.say(&long, 40)?;
        let heir = self.fork("golden-long", "golden-long-heir", "turn:35", |_| {})?;
        self.say(&heir, 1)
    }

    fn fork(
        &self,
        parent: &str,
        child: &str,
        at: &str,
        more: impl FnOnce(&mut Fork),
    ) -> Result<SessionId> {
        let at: Selector = at.parse().map_err(|_| word("a selector"))?;
        let mut fork = Fork { id: Some(id(child)?), ..Fork::of(id(parent)?).at(at) };
        more(&mut fork);
        Ok(self.engine.fork(&fork)?.child_session_id)
    }

    fn write(&self, session: &SessionId, events: &[NewEvent]) -> Result<()> {
        self.engine.append(session, &Batch::from(events.to_vec()))?;
        Ok(())
    }

    /// Appends `turns` turns (a question and its answer), with one append per turn.
    fn say(&self, session: &SessionId, turns: u64) -> Result<()> {
        for turn in 1..=turns {
            let question =
                NewEvent::user(&format!("question {turn} to {session}, \u{e9}\u{1f600}"))?;
            let answered = NewEvent::assistant(&format!("answer {turn}"))?;
            self.write(session, &[question, answered])?;
        }
        Ok(())
    }

    fn delete(&self, session: &SessionId) -> Result<()> {
        let (session, mode) = (session.clone(), DeleteMode::DetachChildren);
        self.engine.delete(&Delete { session, mode, dry_run: false, erase: true })?;
        Ok(())
    }
}

/// Returns the events of three turns, with every type of event. The last turn contains a tool call
/// without a result.
fn every_sort_of_event() -> Result<Vec<NewEvent>> {
    let events = [
        ("system_message", json!({"content": "be brief"})),
        ("user_message", json!({"content": "what is in a.txt?"})),
        ("reasoning", json!({"content": "look first", "model": "none"})),
        ("tool_call", json!({"id": "c1", "name": "read", "arguments": {"path": "a.txt"}})),
        ("permission_decision", json!({"call_id": "c1", "decision": "allow"})),
        ("tool_result", json!({"call_id": "c1", "content": "gold"})),
        ("assistant_message", json!({"content": [{"type": "text", "text": "gold"}]})),
        ("provider_usage", json!({"input": 12, "output": 3, "cached": 4, "cost": 0.25})),
        ("user_message", json!({"content": "a reminder", "injected": true})),
        ("user_message", json!({"content": "and in b.txt?"})),
        ("workflow_event", json!({"name": "step"})),
        ("skill_activation", json!({"name": "reader"})),
        ("assistant_message", json!({"content": "I do not know", "partial": true})),
        ("turn_failed", json!({"error": "overloaded"})),
        ("history_compaction", json!({"from_index": 0, "to_index": 2, "content": "short"})),
        ("subagent_event", json!({"session_id": "golden-delegate", "status": "finished"})),
        ("x.audit", json!({"any": [1.0, 1e2, null]})),
        ("user_message", json!({"content": "go on"})),
        ("tool_call", json!({"id": "c2", "name": "write", "arguments": {}})),
    ];
    let mut made = Vec::new();
    for (kind, payload) in events {
        let kind = kind.parse().map_err(|_| word("a type"))?;
        made.push(NewEvent::new(kind, data(&payload)?));
    }
    let kind = "x.context".parse().map_err(|_| word("a type"))?;
    let own = NewEvent::new(kind, data(&json!({"own": true}))?);
    made.push(NewEvent { class: Some(Class::Context), ..own });
    Ok(made)
}

/// Copies a file and sets the copy's modification time to a fixed time plus `number` seconds.
fn copy(from: &Path, to: &Path, number: u64) -> std::io::Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(to, std::fs::read(from)?)?;
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW.unsigned_abs() - 7_200 + number);
    std::fs::File::options().write(true).open(to)?.set_modified(time)
}

fn id(text: &str) -> Result<SessionId> {
    text.parse().map_err(|source| Error::Name { what: "session id", source })
}

fn data(value: &Value) -> Result<Data> {
    Data::of(value).map_err(|_| word("a payload"))
}

fn word(what: &'static str) -> Error {
    io(Path::new(what), std::io::ErrorKind::InvalidInput.into())
}

fn io(path: &Path, source: std::io::Error) -> Error {
    Error::Io { doing: format!("making a golden store: {}", path.display()), source }
}
