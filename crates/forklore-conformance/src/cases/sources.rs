//! Cases: the store records the sources of imported sessions, in the same transaction as the events
//! from them.

mod latest;
mod stored_bytes;

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use forklore_core::Usage;
use forklore_core::header::CopyOf;
use forklore_core::workspace::Workspace;
use forklore_core::{Data, Effect, Event, EventType, Label, SessionKind};
use jiff::Timestamp;

pub(super) use latest::the_latest_source_comes_first;
pub(super) use stored_bytes::{a_delete_erases_stored_bytes, the_trash_retains_stored_bytes};

use crate::scene::{Scene, id};
use forklore_store::error::{Error, Result};
use forklore_store::port::{
    Append, At, Change, Children, Direction, NewSession, Query, Since, Store, Write,
};
use forklore_store::sources::{
    FindSource, LineEnd, Patch, Progress, RecordLocation, SeenFile, Source, SourceId,
    SourceSession, SourceSpan, SourceStep, Target,
};

fn event(name: &str) -> Event {
    Event {
        id: name.parse().unwrap(),
        ts: Timestamp::UNIX_EPOCH,
        kind: EventType::USER_MESSAGE,
        class: EventType::USER_MESSAGE.class(),
        dialect: Some("test".into()),
        effect: Effect { starts_turn: true, calls: Vec::new() },
        data: Data::parse(&format!("{{\"content\":\"{name}\"}}")).unwrap(),
    }
}

pub(super) fn create(name: &str) -> Write {
    Write::Create(Box::new(NewSession {
        id: id(name),
        kind: SessionKind::Root,
        label: Label::main(),
        title: None,
        workspace: Workspace::new("/w"),
        principal: None,
        permissions: None,
        metadata: None,
        config: None,
        dialect: Some("test".into()),
        source: Some("/f".into()),
        copy_of: None,
        created: Timestamp::UNIX_EPOCH,
        from: None,
        events: Vec::new(),
        usage: Usage::default(),
    }))
}

pub(super) fn append(session: &str, expect: i64, events: &[&str]) -> Write {
    let append = Append {
        events: events.iter().map(|name| event(name)).collect(),
        expect: Some(expect),
        owner: None,
        usage: Usage::default(),
        now: Timestamp::UNIX_EPOCH,
    };
    Write::Append { session: id(session), append }
}

pub(super) fn new() -> Target {
    Target::New { dialect: "test".into(), revision: 0, first_line: 7, latest: None }
}

/// An import step for a test: its writes, and what it records about the imported file.
pub(super) struct Step {
    pub(super) writes: Vec<Write>,
    pub(super) of: SourceStep,
}

impl Deref for Step {
    type Target = SourceStep;

    fn deref(&self) -> &SourceStep {
        &self.of
    }
}

impl DerefMut for Step {
    fn deref_mut(&mut self) -> &mut SourceStep {
        &mut self.of
    }
}

pub(super) fn import(store: &dyn Store, step: Step) -> Result<SourceId> {
    store.import(step.writes, step.of)
}

pub(super) fn step(target: Target, path: &str, offset: u64, writes: Vec<Write>) -> Step {
    let of = SourceStep {
        target,
        native_id: "native".into(),
        seen: SeenFile { path: path.into(), size: offset, modified: -5 },
        ranges: vec![SourceSpan::Other(b"kept".to_vec())],
        locations: Vec::new(),
        names: Vec::new(),
        sidecar_of: None,
        read: Progress { offset, sha256: [9; 32], state: format!("at {offset}") },
        last: true,
    };
    Step { writes, of }
}

fn change(session: &str, change: Change) -> Write {
    Write::Change { session: id(session), change }
}

fn ids(store: &dyn Store, session: &str) -> Vec<String> {
    let query = Query { at: At::Seq(0), direction: Direction::Forward, limit: 100, bare: true };
    let page = store.read(&id(session), &query).unwrap();
    page.events.iter().map(|stored| stored.event.id.to_string()).collect()
}

pub(super) fn a_step_writes_everything(scene: &Scene<'_>) {
    let store = scene.store();
    let mut first = step(new(), "/f", 10, vec![create("s"), append("s", -1, &["a", "b"])]);
    let events = SourceSpan::Events { session: 0, from: 0, count: 2, end: LineEnd::Lf };
    first.ranges.push(events.clone());
    let source = import(store, first).unwrap();
    let mut second = step(
        Target::State { id: source, offset: 10 },
        "/g",
        20,
        vec![
            append("s", 1, &["c"]),
            create("t"),
            change("s", Change::Leaf(Some(id("t")))),
            change("s", Change::Title(Some("named".into()))),
        ],
    );
    second.ranges = vec![SourceSpan::Gone(3)];
    assert_eq!(import(store, second).unwrap(), source);
    assert_eq!(ids(store, "s"), ["a", "b", "c"]);
    let header = store.header(&id("s")).unwrap();
    assert_eq!((header.leaf, header.title.as_deref()), (Some(id("t")), Some("named")));
    let found = store.sources(&FindSource::Session(id("t"))).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].sessions,
        [SourceSession { id: id("s"), events: 3 }, SourceSession { id: id("t"), events: 0 },]
    );
    let seen = |path: &str, size| SeenFile { path: path.into(), size, modified: -5 };
    assert_eq!(found[0].paths, [seen("/f", 10), seen("/g", 20)]);
    assert_eq!(found[0].read.state, "at 20");
    found_and_read_back(store, source, &found, events);
}

fn found_and_read_back(store: &dyn Store, source: SourceId, found: &[Source], events: SourceSpan) {
    for by in [FindSource::Path("/f".into()), FindSource::FirstLine(7)] {
        assert_eq!(store.sources(&by).unwrap(), *found);
    }
    assert_eq!(store.sources(&FindSource::Path("/other".into())).unwrap(), []);
    let spans = SourceSpan::Other(b"kept".to_vec());
    assert_eq!(store.source_spans(source, 0).unwrap(), Some(vec![spans, events]));
    assert_eq!(store.source_spans(source, 1).unwrap(), Some(vec![SourceSpan::Gone(3)]));
    assert_eq!(store.source_spans(source, 2).unwrap(), None);
}

pub(super) fn a_refused_step_leaves_nothing(scene: &Scene<'_>) {
    let store = scene.store();
    let source = import(store, step(new(), "/f", 10, vec![create("s")])).unwrap();
    let before = store.sources(&FindSource::Path("/f".into())).unwrap();
    let mut bad = step(
        Target::State { id: source, offset: 10 },
        "/f",
        20,
        vec![
            append("s", -1, &["a"]),
            change("s", Change::Title(Some("named".into()))),
            create("t"),
            append("s", 7, &["b"]),
        ],
    );
    bad.locations = vec![(1, RecordLocation::own(0, 0))];
    let refused = import(store, bad).unwrap_err();
    assert!(matches!(refused, Error::Conflict { head: 0, expected: 7, .. }), "{refused:?}");
    assert_eq!(store.sources(&FindSource::Path("/f".into())).unwrap(), before);
    assert_eq!(ids(store, "s"), [""; 0]);
    assert_eq!(store.header(&id("s")).unwrap().title, None);
    assert!(matches!(store.header(&id("t")), Err(Error::NotFound(_))));
    assert_eq!(store.locate_record(source, 1).unwrap(), None);
    let stale = step(Target::State { id: source, offset: 10 }, "/f", 20, vec![create("S")]);
    assert!(matches!(import(store, stale), Err(Error::IdInUse(_))));
}

pub(super) fn what_a_step_writes_is_in_the_feed(scene: &Scene<'_>) {
    let store = scene.store();
    let changes = |since: &Since| store.changes(since, 0, Duration::ZERO).unwrap();
    let since = Since::Mark(changes(&Since::Now).mark);
    let writes = vec![create("a"), create("b"), append("a", -1, &["e1", "e2"])];
    let source = import(store, step(new(), "/f", 30, writes)).unwrap();
    let found = changes(&since);
    // Both changes are from one commit, so their order is not defined.
    let made: BTreeSet<_> = found
        .sessions
        .iter()
        .map(|one| (one.session.as_str(), one.head_seq, one.created))
        .collect();
    assert_eq!(made, BTreeSet::from([("a", 1, true), ("b", -1, true)]));
    let grown = Target::State { id: source, offset: 30 };
    let writes = vec![append("a", 1, &["e3"]), change("b", Change::Leaf(Some(id("a"))))];
    import(store, step(grown, "/f", 60, writes)).unwrap();
    let found = changes(&Since::Mark(found.mark)).sessions;
    let written: BTreeSet<_> =
        found.iter().map(|one| (one.session.as_str(), one.appended, one.changed)).collect();
    assert_eq!(written, BTreeSet::from([("a", true, false), ("b", false, true)]));
}

pub(super) fn a_stale_step_is_refused(scene: &Scene<'_>) {
    let store = scene.store();
    let source = import(store, step(new(), "/f", 10, vec![create("s")])).unwrap();
    let stale = |target: Target| {
        let refused = import(store, step(target, "/f", 20, vec![create("t")]));
        assert!(matches!(refused, Err(Error::Stale { .. })), "{refused:?}");
    };
    stale(new());
    stale(Target::State { id: source, offset: 9 });
    stale(Target::State { id: SourceId(source.0 + 1), offset: 0 });
    assert!(matches!(store.header(&id("t")), Err(Error::NotFound(_))));
    let next =
        Target::New { dialect: "test".into(), revision: 1, first_line: 8, latest: Some(source) };
    let second = import(store, step(next, "/f", 5, vec![create("t")])).unwrap();
    let found = store.sources(&FindSource::Path("/f".into())).unwrap();
    let order: Vec<_> = found.iter().map(|source| (source.id, source.revision)).collect();
    assert_eq!(order, [(second, 1), (source, 0)]);
}

pub(super) fn the_later_record_counts(scene: &Scene<'_>) {
    let store = scene.store();
    let location = |position| RecordLocation::own(3, position);
    let mut first = step(new(), "/f", 10, vec![create("s")]);
    first.locations = vec![(u64::MAX, location(0)), (0, location(1)), (u64::MAX, location(2))];
    let source = import(store, first).unwrap();
    assert_eq!(store.locate_record(source, u64::MAX).unwrap(), Some(location(2)));
    assert_eq!(store.locate_record(source, 0).unwrap(), Some(location(1)));
    assert_eq!(store.locate_record(source, 1).unwrap(), None);
    let mut second = step(Target::State { id: source, offset: 10 }, "/f", 20, Vec::new());
    second.locations = vec![(0, location(9))];
    import(store, second).unwrap();
    assert_eq!(store.locate_record(source, 0).unwrap(), Some(location(9)));
    assert_eq!(store.locate_record(source, u64::MAX).unwrap(), Some(location(2)));
    assert_eq!(store.locate_record(SourceId(source.0 + 1), 0).unwrap(), None);
}

pub(super) fn records_of_many_steps_are_found(scene: &Scene<'_>) {
    let store = scene.store();
    // Most keys are spread evenly, as hashes are. Every third key is in a cluster, which an
    // interpolation search could miss.
    let key = |n: u64| {
        if n.is_multiple_of(3) { n } else { n.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    };
    let mut source = import(store, step(new(), "/f", 1, vec![create("s")])).unwrap();
    let mut n = 0;
    for (at, len) in [(1, 1_u64), (2, 700), (3, 3_000), (4, 900), (5, 300), (6, 2_000)] {
        let mut next = step(Target::State { id: source, offset: at }, "/f", at + 1, Vec::new());
        let locations = (n..n + len).map(|n| (key(n), RecordLocation::own(1, n)));
        next.locations = locations.collect();
        n += len;
        source = import(store, next).unwrap();
    }
    for at in 0..n {
        let location = RecordLocation::own(1, at);
        assert_eq!(store.locate_record(source, key(at)).unwrap(), Some(location), "{at}");
    }
    assert_eq!(store.locate_record(source, key(n + 1)).unwrap(), None);
}

pub(super) fn a_source_is_found_by_its_names(scene: &Scene<'_>) {
    let store = scene.store();
    let mut first = step(new(), "/f", 10, vec![create("s")]);
    first.names = vec![u64::MAX, 5];
    let source = import(store, first).unwrap();
    let mut second = step(Target::State { id: source, offset: 10 }, "/f", 20, Vec::new());
    second.names = vec![5, 6];
    import(store, second).unwrap();
    let mut other = step(new(), "/g", 10, vec![create("t")]);
    other.names = vec![6];
    let other = import(store, other).unwrap();
    let by = |name| {
        let found = store.sources(&FindSource::Name(name)).unwrap();
        found.into_iter().map(|source| (source.id, source.names)).collect::<Vec<_>>()
    };
    let names = vec![5, 6, u64::MAX];
    assert_eq!(by(u64::MAX), [(source, names.clone())]);
    assert_eq!(by(6), [(other, vec![6]), (source, names)]);
    assert_eq!(by(7), []);
}

pub(super) fn a_copy_is_linked(scene: &Scene<'_>) {
    let store = scene.store();
    import(store, step(new(), "/f", 10, vec![create("s")])).unwrap();
    let copy_of = CopyOf { session_id: id("t"), index: 3 };
    let link = change("s", Change::CopyOf(Some(copy_of.clone())));
    let mut second = step(new(), "/g", 10, vec![create("t"), link]);
    let location = RecordLocation { session: 0, position: 7, inherited: true };
    second.locations = vec![(1, location)];
    let inherited = SourceSpan::Inherited { session: 0, seq: 1, count: 2, end: LineEnd::Lf };
    let patched = SourceSpan::Patched {
        session: 0,
        seq: 3,
        at: 2,
        removed: 1,
        inserted: b"xy".to_vec(),
        end: LineEnd::None,
    };
    let patch = |at, inserted: &[u8]| Patch { at, removed: 1, inserted: inserted.to_vec() };
    let patches = vec![patch(2, b"xyz"), patch(9, b"")];
    let often = SourceSpan::PatchedOften { session: 0, seq: 4, patches, end: LineEnd::CrLf };
    second.ranges = vec![inherited.clone(), patched.clone(), often.clone()];
    let source = import(store, second).unwrap();
    assert_eq!(store.header(&id("s")).unwrap().copy_of, Some(copy_of));
    assert_eq!(store.locate_record(source, 1).unwrap(), Some(location));
    assert_eq!(
        store.source_spans(source, 0).unwrap(),
        Some(vec![inherited.clone(), patched, often])
    );
    store.remove(&[id("t")], Children::Refuse, Timestamp::UNIX_EPOCH).unwrap();
    // `Gone` counts only the bytes that the span itself stored, not those of the event's payload.
    let gone = vec![inherited, SourceSpan::Gone(2), SourceSpan::Gone(3)];
    assert_eq!(store.source_spans(source, 0).unwrap(), Some(gone.clone()));
    scene.collect();
    assert_eq!(store.source_spans(source, 0).unwrap(), Some(gone));
}

fn sidecar(path: &str, of: &str) -> Step {
    let mut sidecar = step(new(), path, 4, Vec::new());
    sidecar.sidecar_of = Some(of.into());
    sidecar
}

fn sidecars_of(store: &dyn Store, of: &str) -> Vec<SourceId> {
    let found = store.sources(&FindSource::SidecarsOf(of.into())).unwrap();
    found.into_iter().map(|source| source.id).collect()
}

pub(super) fn a_sidecar_is_found(scene: &Scene<'_>) {
    let store = scene.store();
    import(store, step(new(), "/f", 10, vec![create("s")])).unwrap();
    import(store, step(new(), "/g", 10, vec![create("t")])).unwrap();
    let a = import(store, sidecar("/f.d/a", "/f")).unwrap();
    let b = import(store, sidecar("/f.d/b", "/f")).unwrap();
    let c = import(store, sidecar("/g.d/c", "/g")).unwrap();
    let mut grown = sidecar("/f.d/a", "/f");
    grown.target = Target::State { id: a, offset: 4 };
    import(store, grown).unwrap();
    assert_eq!(sidecars_of(store, "/f"), [b, a]);
    assert_eq!(sidecars_of(store, "/g"), [c]);
    assert_eq!(sidecars_of(store, "/f.d/a"), []);
    let next = Target::New { dialect: "test".into(), revision: 1, first_line: 7, latest: Some(a) };
    let mut anew = sidecar("/f.d/a", "/f");
    anew.target = next;
    let anew = import(store, anew).unwrap();
    assert_eq!(sidecars_of(store, "/f"), [anew, b, a]);
    let latest = store.sources(&FindSource::Latest("/f.d/a".into())).unwrap();
    assert_eq!(latest.iter().map(|source| source.id).collect::<Vec<_>>(), [anew]);
    assert_eq!(store.sources(&FindSource::Latest("/f.d".into())).unwrap(), []);
}

pub(super) fn a_delete_erases_sidecars(scene: &Scene<'_>) {
    let store = scene.store();
    import(store, step(new(), "/f", 10, vec![create("s"), create("t")])).unwrap();
    import(store, step(new(), "/g", 10, vec![create("u")])).unwrap();
    let gone = import(store, sidecar("/f.d/a", "/f")).unwrap();
    let stays = import(store, sidecar("/g.d/a", "/g")).unwrap();
    // The file gets a second path, and a sidecar of that path is imported too.
    let first = store.sources(&FindSource::Session(id("s"))).unwrap().remove(0).id;
    let state = Target::State { id: first, offset: 10 };
    import(store, step(state, "/h", 20, Vec::new())).unwrap();
    let there = import(store, sidecar("/h.d/a", "/h")).unwrap();
    store.remove(&[id("t")], Children::Refuse, Timestamp::UNIX_EPOCH).unwrap();
    for source in [gone, there] {
        assert_eq!(store.source_spans(source, 0).unwrap(), Some(vec![SourceSpan::Gone(4)]));
    }
    let spans = Some(vec![SourceSpan::Other(b"kept".to_vec())]);
    assert_eq!(store.source_spans(stays, 0).unwrap(), spans);
}

pub(super) fn no_sidecar_is_stored_for_a_deleted_session(scene: &Scene<'_>) {
    let store = scene.store();
    let refused = |step: Step| {
        let refused = import(store, step);
        assert!(matches!(refused, Err(Error::Stale { .. })), "{refused:?}");
    };
    refused(sidecar("/f.d/a", "/f"));
    let first = import(store, step(new(), "/f", 10, vec![create("s"), create("t")])).unwrap();
    import(store, sidecar("/f.d/a", "/f")).unwrap();
    // A source without a session cannot have sidecars.
    refused(sidecar("/f.d/a.d/b", "/f.d/a"));
    store.remove(&[id("t")], Children::Refuse, Timestamp::UNIX_EPOCH).unwrap();
    refused(sidecar("/f.d/b", "/f"));
    assert_eq!(store.sources(&FindSource::Path("/f.d/b".into())).unwrap(), []);
    let next =
        Target::New { dialect: "test".into(), revision: 1, first_line: 8, latest: Some(first) };
    import(store, step(next, "/f", 5, vec![create("v")])).unwrap();
    import(store, sidecar("/f.d/b", "/f")).unwrap();
}

/// Closes and reopens the store if its data persists across reopening. Does nothing otherwise.
pub(super) fn reopen_durable(scene: &mut Scene<'_>) {
    if scene.store().capabilities().durable {
        scene.reopen();
    }
}

/// Returns byte ranges of an imported file. Their bytes are events of a session that was imported
/// from an earlier version of the file; `session` is its id. There are two ranges for each kind of
/// line end.
fn shared_spans(session: &str) -> Vec<SourceSpan> {
    let ends = [LineEnd::None, LineEnd::Lf, LineEnd::CrLf];
    let spans = (0..).zip(ends).flat_map(|(seq, end)| {
        let session = id(session);
        let shared = SourceSpan::Shared { session: session.clone(), seq, count: seq + 1, end };
        let (margin, indent) = (b"  ".to_vec(), b"\t".to_vec());
        [shared, SourceSpan::SharedSpread { session, seq, margin, indent, end }]
    });
    spans.collect()
}

/// Imports a file as the session `s`, and then a rewritten version of that file as the session `t`.
/// `ranges` describes the bytes of the rewritten version. Returns the source ids of the first and
/// of the rewritten version (each imported version is a source).
fn import_revision(store: &dyn Store, ranges: Vec<SourceSpan>) -> (SourceId, SourceId) {
    let writes = vec![create("s"), append("s", -1, &["a", "b", "c"])];
    let first = import(store, step(new(), "/f", 10, writes)).unwrap();
    let target =
        Target::New { dialect: "test".into(), revision: 1, first_line: 7, latest: Some(first) };
    let mut revision = step(target, "/f", 20, vec![create("t")]);
    revision.ranges = ranges;
    (first, import(store, revision).unwrap())
}

pub(super) fn spans_of_an_earlier_revision_come_back(scene: &mut Scene<'_>) {
    let (mut one, mut two) = (shared_spans("s"), shared_spans("s"));
    one.push(SourceSpan::Other(b"\n".to_vec()));
    // The store records the session id in a span unchanged, even if no such session exists.
    two.extend(shared_spans("another.Session-1"));
    let (_, source) = import_revision(scene.store(), one.clone());
    let mut next = step(Target::State { id: source, offset: 20 }, "/f", 30, Vec::new());
    next.ranges.clone_from(&two);
    import(scene.store(), next).unwrap();
    for _ in 0..2 {
        let steps = [0, 1, 2].map(|step| scene.store().source_spans(source, step).unwrap());
        assert_eq!(steps, [Some(one.clone()), Some(two.clone()), None]);
        scene.assert_sound();
        reopen_durable(scene);
    }
}

pub(super) fn a_delete_leaves_spans_that_refer_to_the_session(scene: &mut Scene<'_>) {
    let shared = shared_spans("s");
    let retained = SourceSpan::Other(b"own".to_vec());
    let (first, revision) = import_revision(scene.store(), [&shared[..], &[retained]].concat());
    let remove = |store: &dyn Store, session: &str| {
        store.remove(&[id(session)], Children::Refuse, Timestamp::UNIX_EPOCH).unwrap();
    };
    remove(scene.store(), "s");
    let spans = |scene: &Scene<'_>, source| scene.store().source_spans(source, 0).unwrap().unwrap();
    // The source spans contain no bytes of the deleted session. They show how many bytes are gone.
    assert_eq!(spans(scene, first), [SourceSpan::Gone(4)]);
    assert_eq!(spans(scene, revision)[..shared.len()], shared);
    remove(scene.store(), "t");
    let left = [&shared[..], &[SourceSpan::Gone(3)]].concat();
    assert_eq!(spans(scene, revision), left);
    scene.collect();
    assert_eq!(spans(scene, revision), left);
    reopen_durable(scene);
    let both = [first, revision].map(|source| spans(scene, source));
    assert_eq!(both, [vec![SourceSpan::Gone(4)], left]);
    scene.assert_sound();
}
