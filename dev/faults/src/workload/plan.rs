//! The steps of the main workload: every operation of the store port, with records of all sizes.
//! Some steps depend on the effect of earlier steps.

use std::sync::Arc;

use forklore_conformance::events::{
    Draft, asks, assistant, compaction, permission, result, rich, system, turns, usage, user,
};
use forklore_conformance::scene::{id, label};
use forklore_conformance::{Handle, Scene};
use forklore_core::header::Strategy;
use forklore_core::workspace::Workspace;
use forklore_core::{Label, Redaction, SessionId};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{
    Append, Change, Children, Deletion, EventRedaction, NewOperation, NewSession, OperationId,
    OperationKind, Redactions, Removal, Store as _, Transaction, Write,
};
use forklore_store::sources::{
    LineEnd, Progress, RecordLocation, SeenFile, SourceId, SourceSpan, SourceStep, Target,
};

use super::{FILE, Step};
use crate::soak::{Chance, seed};

/// Returns the steps of the main workload for the test round `round`. Executes each step on the
/// store `reference`, because later steps depend on what earlier steps stored.
pub(super) fn steps(reference: &Arc<MemoryStore>, round: u64) -> Vec<Step> {
    let factory = || Handle::shared(reference.clone());
    let sizes = (round > 0).then(|| Chance::new(seed(), round));
    let mut plan = Plan { scene: Scene::new(&factory), reference, steps: Vec::new(), sizes };
    grow(&mut plan);
    fork(&mut plan);
    import(&mut plan);
    clear(&mut plan);
    together(&mut plan);
    redact(&mut plan);
    plan.steps
}

struct Plan<'a> {
    scene: Scene<'a>,
    reference: &'a Arc<MemoryStore>,
    steps: Vec<Step>,
    /// The generator of random text lengths. `None` in round 0, in which texts have fixed lengths.
    sizes: Option<Chance>,
}

impl Plan<'_> {
    fn add(&mut self, step: Step) {
        let outcome = step.take(&**self.reference);
        outcome.unwrap_or_else(|error| panic!("{step:?}: {error}"));
        self.steps.push(step);
    }

    fn root(&mut self, name: &str, events: Vec<Draft>) {
        let new = self.scene.draft(name, events);
        let workspace = Workspace::new(&format!("/home/me/{name}"));
        self.add(Step::Create(Box::new(NewSession { workspace, ..new })));
    }

    fn child(
        &mut self,
        parent: &str,
        name: &str,
        inheritable: u64,
        strategy: Strategy,
        tail: Vec<Draft>,
    ) {
        let new = self.scene.child_draft(parent, name, inheritable, strategy, tail);
        self.add(Step::Create(Box::new(new)));
    }

    fn append(&mut self, name: &str, drafts: Vec<Draft>) {
        let append = self.scene.appending(drafts);
        let expect = Some(self.scene.header(name).head_seq());
        self.add(Step::Append(id(name), Append { expect, ..append }));
    }

    fn change(&mut self, name: &str, change: Change) {
        self.add(Step::Change(id(name), change));
    }

    /// Adds a step whose writes the store records as an operation.
    fn record(&mut self, operation: NewOperation, writes: Vec<Write>) {
        let operation = Some(Box::new(operation));
        let transaction = Transaction { writes, operation, ..Transaction::default() };
        self.add(Step::Commit(Box::new(transaction)));
    }

    fn change_recorded(&mut self, kind: OperationKind, name: &str, change: Change) {
        self.record(NewOperation::of(kind), vec![Write::Change { session: id(name), change }]);
    }

    /// Returns the number of the latest operation.
    fn latest(&self) -> Option<OperationId> {
        let page = self.reference.operations(None, 1).expect("a log of operations");
        page.found.first().map(|operation| operation.id)
    }

    fn remove(&mut self, names: &[&str]) {
        let ids: Vec<SessionId> = names.iter().map(|name| id(name)).collect();
        self.add(Step::Remove(ids, self.scene.clock.now()));
    }

    fn trash(&mut self, names: &[&str]) {
        let sessions = names.iter().map(|name| id(name)).collect();
        let (children, deletion) = (Children::Retain, Deletion::Trash);
        let removal = Removal { sessions, children, deletion, now: self.scene.clock.now() };
        self.record(NewOperation::of(OperationKind::Delete), vec![Write::Remove(removal)]);
    }

    /// Returns a text of `bytes` bytes. If the field `sizes` is set, the length is random instead,
    /// below twice `bytes`.
    fn long(&mut self, bytes: u64) -> String {
        let bytes = self.sizes.as_mut().map_or(bytes, |sizes| sizes.below(2 * bytes));
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        "the quick brown fox jumps over the lazy dog. ".chars().cycle().take(bytes).collect()
    }

    fn read(&mut self, name: &str) {
        self.add(Step::Read(id(name)));
    }
}

/// Adds steps that create root sessions and append batches of several sizes.
fn grow(plan: &mut Plan<'_>) {
    plan.root("alpha", rich());
    plan.append("alpha", vec![user("one"), assistant("two")]);
    let text = plan.long(20_000);
    plan.append("alpha", vec![user(&text), assistant("short"), usage(700, 30)]);
    plan.append("alpha", turns(40));
    plan.read("alpha");
    plan.root("omega", Vec::new());
    let text = plan.long(90_000);
    plan.append("omega", vec![system("terse"), user(&text)]);
    plan.append("omega", vec![asks(&[("c1", "ls"), ("c2", "cat")]), permission("c1")]);
    let text = plan.long(3_000);
    plan.append("omega", vec![result("c1", &text), result("c2", "")]);
}

/// Adds steps that create forks of roots and of forks, and that change the headers of these forks.
/// Some forks share the events of their parent, some copy them.
fn fork(plan: &mut Plan<'_>) {
    plan.child("alpha", "beta", 5, Strategy::ShareV1, vec![user("plan B?")]);
    plan.append("beta", turns(3));
    plan.child("alpha", "gamma", 12, Strategy::ReplayV1, vec![]);
    plan.append("gamma", vec![compaction(0, 4), user("and now?")]);
    plan.child("beta", "delta", 8, Strategy::ShareV1, vec![]);
    let text = plan.long(9_000);
    plan.append("delta", vec![user(&text)]);
    plan.change_recorded(OperationKind::Label, "delta", Change::Label(label("try-delta")));
    let title = Change::Title(Some("a title\nof two lines".into()));
    plan.change_recorded(OperationKind::Rename, "gamma", title);
    let owner = "runtime-1".to_owned();
    let lasts = jiff::SignedDuration::from_secs(60);
    plan.change("beta", Change::Hold { owner: owner.clone(), lasts });
    plan.read("delta");
    plan.change("beta", Change::Release { owner });
    plan.change_recorded(OperationKind::Detach, "beta", Change::Detach);
    plan.append("alpha", turns(2));
    plan.child("alpha", "epsilon", 30, Strategy::ShareV1, vec![user("from far behind")]);
}

/// Adds two steps that import a session file. The first imports its beginning and the second the
/// rest.
fn import(plan: &mut Plan<'_>) {
    let target = Target::New { dialect: "test".into(), revision: 0, first_line: 7, latest: None };
    let draft = plan.scene.draft("native", Vec::new());
    let native = NewSession { dialect: Some("test".into()), source: Some(FILE.into()), ..draft };
    let first = plan.scene.appending(turns(4));
    let writes = vec![
        Write::Create(Box::new(native)),
        Write::Append { session: id("native"), append: Append { expect: Some(-1), ..first } },
    ];
    let ranges = vec![SourceSpan::Other(b"{\"v\":1}\n".to_vec()), events(0, 8)];
    let operation = NewOperation::of(OperationKind::Import);
    plan.add(read_on(target, writes, ranges, 600, operation.clone()));
    let continues = plan.latest();
    let target = Target::State { id: SourceId(0), offset: 600 };
    let text = plan.long(5_000);
    let more = plan.scene.appending(vec![user("imported"), assistant(&text)]);
    let branch = plan.scene.child_draft("native", "native-2", 6, Strategy::ShareV1, turns(1));
    let branch = NewSession { label: "native-2".parse::<Label>().expect("a label"), ..branch };
    let writes = vec![
        Write::Append { session: id("native"), append: Append { expect: Some(7), ..more } },
        Write::Create(Box::new(branch)),
        Write::Change { session: id("native"), change: Change::Leaf(Some(id("native-2"))) },
        Write::Change { session: id("native"), change: Change::Title(Some("imported".into())) },
    ];
    plan.add(read_on(
        target,
        writes,
        vec![events(8, 2), SourceSpan::Other(b"junk".to_vec())],
        6_000,
        NewOperation { continues, ..operation },
    ));
    plan.append("native-2", turns(1));
}

fn events(from: u64, count: u64) -> SourceSpan {
    SourceSpan::Events { session: 0, from, count, end: LineEnd::Lf }
}

fn read_on(
    target: Target,
    writes: Vec<Write>,
    ranges: Vec<SourceSpan>,
    offset: u64,
    operation: NewOperation,
) -> Step {
    let last = operation.continues.is_some();
    let step = SourceStep {
        target,
        native_id: "native".into(),
        seen: SeenFile { path: FILE.into(), size: offset, modified: 5 },
        ranges,
        locations: vec![(offset, RecordLocation::own(0, offset / 100))],
        names: vec![offset],
        sidecar_of: None,
        read: Progress { offset, sha256: [9; 32], state: format!("at {offset}") },
        last,
    };
    let source = Some(Box::new(step));
    let operation = Some(Box::new(operation));
    Step::Commit(Box::new(Transaction { writes, source, operation, ..Transaction::default() }))
}

/// Adds a step that writes to sessions of several families in one transaction. A family consists of
/// all sessions with one root.
fn together(plan: &mut Plan<'_>) {
    let copy = plan.scene.child_draft("delta", "eta", 4, Strategy::ReplayV1, turns(1));
    let theta = plan.scene.draft("theta", turns(2));
    let more = plan.scene.appending(turns(1));
    let append = Append { expect: Some(plan.scene.header("epsilon").head_seq()), ..more };
    let change = Change::Title(Some("together".into()));
    let now = plan.scene.clock.now();
    let writes = vec![
        Write::Create(Box::new(theta)),
        Write::Create(Box::new(copy)),
        Write::Append { session: id("epsilon"), append },
        Write::Change { session: id("theta"), change },
        Write::Remove(Removal {
            sessions: vec![id("zeta")],
            children: Children::Refuse,
            deletion: Deletion::Erase,
            now,
        }),
    ];
    plan.add(Step::Commit(Box::new(writes.into())));
    plan.append("eta", turns(1));
}

/// Adds a step that redacts events of living sessions and of an erased one, with copies of them, and
/// steps that use the sessions afterwards.
fn redact(plan: &mut Plan<'_>) {
    let positions = [("epsilon", 3), ("epsilon", 8), ("delta", 4), ("gamma", 2), ("eta", 5)];
    let redaction = |(session, seq): (&str, usize)| {
        let entry = plan.scene.log(session).swap_remove(seq);
        let (bytes, at) = (entry.event.data.get().len() as u64, plan.scene.clock.now());
        let redaction = Redaction { bytes, reason: "a secret".into(), at, by: None };
        let data = redaction.payload_of(&entry.event);
        EventRedaction { origin: entry.origin, event_id: entry.event.id, data }
    };
    let mut events: Vec<_> = positions.map(redaction).into();
    events.sort_by(|one, other| one.origin.cmp(&other.origin));
    events.dedup_by(|one, other| one.origin == other.origin);
    let titles = vec![id("gamma"), id("theta")];
    let redactions = Redactions { events, titles, sources: Vec::new() };
    let write = Write::Redact(Box::new(redactions));
    plan.record(NewOperation::of(OperationKind::Redact), vec![write]);
    plan.append("delta", turns(1));
    plan.read("epsilon");
    plan.add(Step::Collect);
    plan.append("gamma", turns(1));
}

/// Adds steps that delete sessions, and steps that use the sessions that remain.
fn clear(plan: &mut Plan<'_>) {
    plan.remove(&["omega"]);
    plan.remove(&["alpha"]);
    plan.append("epsilon", turns(1));
    plan.add(Step::Collect);
    plan.append("delta", turns(1));
    let label = plan.scene.header("beta").label;
    plan.trash(&["native", "beta"]);
    let undo = NewOperation { undoes: plan.latest(), ..NewOperation::of(OperationKind::Undo) };
    let change = Change::Undelete(label);
    plan.record(undo, vec![Write::Change { session: id("beta"), change }]);
    plan.trash(&["beta"]);
    plan.remove(&["native", "beta"]);
    plan.child("delta", "zeta", 4, Strategy::ShareV1, turns(1));
    plan.read("epsilon");
    plan.add(Step::Collect);
    let text = plan.long(40_000);
    plan.append("zeta", vec![user(&text), assistant("done")]);
}
