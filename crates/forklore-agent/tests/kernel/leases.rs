//! Tests that one runtime at a time runs a session. A second runtime gets `busy`. A runtime that
//! lost its lease continues in a fork.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forklore_agent::notify::Name;
use forklore_agent::tool::{CallContext, ToolCall, ToolOutcome, ToolSpec, Tools};
use forklore_agent::{AgentSession, Error, Status};
use forklore_core::{Data, ErrorKind, Header, SessionId, SessionKind, Strategy};
use forklore_engine::{Clock, Engine, Fork, SystemClock};
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::clock::StoreClock;
use forklore_store::memory::MemoryStore;
use forklore_store::port::{
    Capabilities, Change, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since,
    Transaction, Verification,
};
use forklore_store::{Result as StoreResult, Store};
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::each_store::on_each_store;
use crate::scripted::{Act, Scripted, calls, says};
use crate::world::{World, data, equipment};

on_each_store!(a_fork_while_a_turn_runs_is_at_the_last_closed_turn);

/// A clock whose time the test sets in seconds.
#[derive(Default)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        start + SignedDuration::from_secs(self.0.load(Ordering::SeqCst))
    }
    fn random(&self) -> [u8; 10] {
        SystemClock.random()
    }
}

/// Two runtimes on one store, and the clock of the store and of both.
type Shared = (World, World, Arc<Hand>);

fn shared() -> Shared {
    shared_in_memory(None)
}

/// Creates two runtimes on a memory store, in which forks are at most this deep.
fn shared_in_memory(depth: Option<u64>) -> Shared {
    let clock = Arc::new(Hand::default());
    let store = MemoryStore::default().with_clock(store_clock(&clock));
    shared_over(Arc::new(store), clock, depth)
}

/// Creates two runtimes on a SQLite store in `dir`, in which forks are at most this deep.
fn shared_on_disk(dir: &TempDir, depth: Option<u64>) -> Shared {
    let clock = Arc::new(Hand::default());
    let store = SqliteStore::open(&dir.path().join("store.db"), Options::default()).unwrap();
    let store = store.with_clock(store_clock(&clock));
    shared_over(Arc::new(store), clock, depth)
}

fn store_clock(clock: &Arc<Hand>) -> StoreClock {
    let at = clock.clone();
    StoreClock::new(move || at.now())
}

fn shared_over(store: Arc<dyn Store>, clock: Arc<Hand>, depth: Option<u64>) -> Shared {
    let engine = Engine::new(store).with_clock(clock.clone()).with_max_fork_depth(depth);
    (World::over(engine.clone()), World::over(engine), clock)
}

/// Creates two tests of each case: with two runtimes on a memory store and on a SQLite store. Forks
/// are at most as deep as the case says.
macro_rules! on_each_shared_store {
    ($($case:ident within $depth:expr),* $(,)?) => {
        mod shared_memory {
            $(#[tokio::test] async fn $case() {
                super::$case(super::shared_in_memory($depth)).await;
            })*
        }
        mod shared_sqlite {
            $(#[tokio::test] async fn $case() {
                let dir = tempfile::tempdir().unwrap();
                super::$case(super::shared_on_disk(&dir, $depth)).await;
            })*
        }
    };
}

on_each_shared_store!(
    a_runtime_that_was_overtaken_goes_on_in_a_fork within None,
    a_turn_that_was_overtaken_at_the_limit_of_depth_goes_on_in_a_copy within Some(0),
    a_lease_that_expired_unnoticed_is_acquired_again within None,
);

/// A store whose feed records how long its readers want to wait. Only a commit wakes a reader.
struct Unhurried {
    inner: MemoryStore,
    waits: Mutex<Vec<Duration>>,
}

impl Store for Unhurried {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn commit(&self, transaction: Transaction) -> StoreResult<Committed> {
        self.inner.commit(transaction)
    }

    fn header(&self, session: &SessionId) -> StoreResult<Header> {
        self.inner.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> StoreResult<Page> {
        self.inner.read(session, query)
    }

    fn sessions(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> StoreResult<Headers> {
        self.inner.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> StoreResult<Changes> {
        if wait.is_zero() {
            return self.inner.changes(since, limit, wait);
        }
        self.waits.lock().unwrap().push(wait);
        self.inner.changes(since, limit, Duration::from_secs(3600))
    }

    fn verify(&self, session: Option<&SessionId>) -> StoreResult<Verification> {
        self.inner.verify(session)
    }
}

fn start(session: &AgentSession) -> tokio::task::JoinHandle<Result<forklore_agent::Turn, Error>> {
    let running = session.clone();
    tokio::spawn(async move { running.execute("go").await })
}

async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_second_runtime_learns_who_has_the_lease() {
    let (one, two, _) = shared();
    let released = Arc::new(Notify::new());
    let model = Scripted::new(vec![vec![Act::WaitFor(released.clone())]]);
    let session = one.root(&model);
    let turn = start(&session);
    until(|| !model.requests().is_empty()).await;
    let second = two.kernel.open(&session.id(), equipment(&Scripted::new(vec![]))).await.unwrap();
    let error = second.execute("me too").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    let text = error.to_string();
    assert!(text.contains("held by test (process "), "{text}");
    assert!(text.ends_with("); if that is gone, it is free in 10 s at the latest"), "{text}");
    assert_eq!(error.details()["free_in_seconds"], 10);
    // Scripts get the name that people read, without the facts that identify the process.
    let owner = error.details()["owner"].as_str().unwrap().to_owned();
    assert!(text.contains(&format!("held by {owner}; ")) && !owner.contains('['), "{owner}");
    assert!(two.ears.names(None).is_empty());
    // The same runtime refuses a second turn too.
    assert!(matches!(session.execute("again").await.unwrap_err(), Error::Running(_)));
    // A fork is always possible. It needs a cut here, because no turn is closed yet.
    assert!(second.fork(Fork::of(session.id())).await.is_err());
    let fork = Fork::of(session.id()).at("index:1".parse().unwrap());
    let fork = second.fork(fork).await.unwrap().child;
    assert_eq!(fork.resume().await.unwrap().status, Status::Success);
    released.notify_one();
    assert!(turn.await.unwrap().is_err(), "the scripted answer broke off");
}

#[tokio::test]
async fn a_second_runtime_may_wait_and_stop_waiting() {
    let (one, two, _) = shared();
    let model = Scripted::new(vec![calls(&[("c", "hang", "1")])]);
    let session = one.root(&model);
    let turn = start(&session);
    until(|| !one.ears.of(Name::ToolPre).is_empty()).await;
    let second = two.kernel.open(&session.id(), equipment(&Scripted::new(vec![]))).await.unwrap();
    second.equip(|equipment| equipment.settings.lease_wait = Duration::from_millis(1));
    assert_eq!(second.execute("me").await.unwrap_err().kind(), ErrorKind::Busy);
    second.equip(|equipment| equipment.settings.lease_wait = Duration::MAX);
    let waiting = start(&second);
    until(|| second.interrupt()).await;
    assert_eq!(waiting.await.unwrap().unwrap_err().kind(), ErrorKind::Busy);
    let waiting = start(&second);
    until(|| second.is_running()).await;
    session.interrupt();
    assert_eq!(turn.await.unwrap().unwrap().status, Status::Cancelled);
    assert_eq!(waiting.await.unwrap().unwrap().text, "done");
}

#[tokio::test]
async fn a_waiting_turn_begins_with_the_commit_that_ends_the_lease() {
    let millis = Duration::from_millis;
    // The wait ends when the lease expires, and at the latest after 1 s. Then the turn checks again
    // whether the owner's process is gone.
    for (lasts, most) in [(400, millis(400)), (10_000, millis(1000))] {
        let clock = Arc::new(Hand::default());
        let at = clock.clone();
        let inner = MemoryStore::default().with_clock(StoreClock::new(move || at.now()));
        let store = Arc::new(Unhurried { inner, waits: Mutex::default() });
        let world = World::over(Engine::new(store.clone()).with_clock(clock));
        let session = world.root(&Scripted::new(vec![says("one"), says("two")]));
        session.execute("first").await.unwrap();
        session.equip(|equipment| equipment.settings.lease_wait = Duration::MAX);
        let owner = || "somebody".to_owned();
        let hold = Change::Hold { owner: owner(), lasts: SignedDuration::from_millis(lasts) };
        store.change(&session.id(), &hold).unwrap();
        let waiting = start(&session);
        until(|| !store.waits.lock().unwrap().is_empty()).await;
        store.change(&session.id(), &Change::Release { owner: owner() }).unwrap();
        assert_eq!(waiting.await.unwrap().unwrap().text, "two");
        let waits = std::mem::take(&mut *store.waits.lock().unwrap());
        assert_eq!(waits.len(), 1, "{waits:?}");
        assert!(waits[0] <= most, "{waits:?}");
    }
}

/// A tool that returns only when the test notifies it.
#[derive(Default)]
struct Gate(Notify);

impl Tools for Gate {
    fn specs(&self) -> Vec<ToolSpec> {
        let parameters = Data::parse("{}").unwrap();
        vec![ToolSpec { name: "gate".into(), description: "gate".into(), parameters }]
    }

    fn call<'a>(&'a self, _: &'a ToolCall, _: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async {
            self.0.notified().await;
            ToolOutcome::text("late")
        })
    }
}

async fn a_fork_while_a_turn_runs_is_at_the_last_closed_turn(world: World) {
    let model = Scripted::new(vec![says("one"), calls(&[("c", "gate", "30")])]);
    let session = world.root(&model);
    let gate = Arc::new(Gate::default());
    session.equip(|config| config.tools = gate.clone());
    session.execute("first").await.unwrap();
    let turn = start(&session);
    until(|| !world.ears.of(Name::ToolPre).is_empty()).await;
    let branched = session.fork(Fork::of(session.id())).await.unwrap();
    assert_eq!(branched.forked.cut.index, 2);
    assert_eq!(branched.forked.adjusted_from.unwrap().index, 5);
    let middle = Fork::of(session.id()).at("end".parse().unwrap());
    let middle = session.fork(middle).await.unwrap();
    assert_eq!((middle.forked.cut.index, middle.forked.synthetic_results), (5, 1));
    gate.0.notify_one();
    assert_eq!(turn.await.unwrap().unwrap().status, Status::Success);
    // Only the parent contains the late result.
    let results = |world: &World, id: &forklore_core::SessionId| {
        let events = world.events(id).into_iter().filter(|(kind, _)| kind == "tool_result");
        events.map(|(_, data)| data["synthetic"] == json!(true)).collect::<Vec<_>>()
    };
    assert_eq!(results(&world, &session.id()), [false]);
    assert_eq!(results(&world, &middle.child.id()), [true]);
    assert_eq!(results(&world, &branched.child.id()), Vec::<bool>::new());
    let parent = world.kernel.engine().inspect(&session.id()).unwrap();
    assert!(parent.balanced);
}

async fn a_runtime_that_was_overtaken_goes_on_in_a_fork((one, two, clock): Shared) {
    let slow = calls(&[("c", "slow", "60")]);
    let model = Scripted::new(vec![slow, says("mine")]);
    let session = one.root(&model);
    let first = session.id();
    let turn = start(&session);
    until(|| !one.ears.of(Name::ToolPre).is_empty()).await;
    let before = one.events(&first);
    // The clock jumps as if the machine had slept. Another runtime takes the session over and
    // finishes its turn.
    clock.0.store(60, Ordering::SeqCst);
    let second = two.kernel.open(&first, equipment(&Scripted::new(vec![says("theirs")]))).await;
    let second = second.unwrap();
    second.execute("me").await.unwrap();

    let turn = turn.await.unwrap().unwrap();
    assert_eq!((turn.status, turn.text.as_str()), (Status::Success, "mine"));
    assert_eq!(turn.moved_from, Some(first.clone()));
    assert_eq!(turn.session_id, session.id());
    assert_ne!(session.id(), first);
    // The fork has everything that the first runtime wrote. The original session has none of what
    // the first runtime wrote after the takeover.
    let mine: Vec<_> = one.events(&session.id()).into_iter().map(|(kind, _)| kind).collect();
    let expected = [
        "session_fork",
        "user_message",
        "assistant_message",
        "tool_call",
        "permission_decision",
        "tool_result",
        "assistant_message",
        "provider_usage",
    ];
    assert_eq!(mine, expected);
    let theirs = one.events(&first);
    assert_eq!(theirs[..before.len()], before);
    assert_eq!(theirs.last().unwrap().0, "provider_usage");
    let notification = one.ears.of(Name::SessionFork);
    assert_eq!((notification.len(), &data(&notification[0])["reason"]), (1, &json!("lease_lost")));
    for id in [&first, &session.id()] {
        let header = one.kernel.engine().show(id).unwrap();
        assert!(header.lease.is_none_or(|lease| lease.expires <= clock.now()), "{id}");
    }
    assert!(one.kernel.engine().inspect(&session.id()).unwrap().balanced);
    assert_eq!(session.execute("and on").await.unwrap().moved_from, None);
}

async fn a_turn_that_was_overtaken_at_the_limit_of_depth_goes_on_in_a_copy(
    (one, two, clock): Shared,
) {
    let model = Scripted::new(vec![calls(&[("c", "slow", "60")]), says("mine")]);
    let session = one.root(&model);
    let first = session.id();
    let turn = start(&session);
    until(|| !one.ears.of(Name::ToolPre).is_empty()).await;
    clock.0.store(60, Ordering::SeqCst);
    let second = two.kernel.open(&first, equipment(&Scripted::new(vec![says("theirs")]))).await;
    second.unwrap().execute("me").await.unwrap();

    let turn = turn.await.unwrap().unwrap();
    assert_eq!((turn.text.as_str(), turn.moved_from), ("mine", Some(first)));
    let copy = one.kernel.engine().show(&session.id()).unwrap();
    assert_eq!(copy.strategy, Some(Strategy::ReplayV1));
    // A fork that somebody asks for is a copy too, and a sub-agent inherits nothing.
    let forked = session.fork(Fork::of(session.id())).await.unwrap().forked;
    assert_eq!(forked.strategy, Strategy::ReplayV1);
    let shared = one.kernel.engine().fork(&Fork::of(session.id())).map(drop);
    assert_eq!(shared.unwrap_err().kind(), ErrorKind::Conflict);
    let delegate = Fork { kind: SessionKind::Delegate, ..Fork::of(session.id()) };
    assert_eq!(one.kernel.engine().fork(&delegate).unwrap().event_count, 0);
}

async fn a_lease_that_expired_unnoticed_is_acquired_again((one, _, clock): Shared) {
    let model = Scripted::new(vec![calls(&[("c", "slow", "30")]), says("done")]);
    let session = one.root(&model);
    let first = session.id();
    let turn = start(&session);
    until(|| !one.ears.of(Name::ToolPre).is_empty()).await;
    clock.0.store(60, Ordering::SeqCst);
    let turn = turn.await.unwrap().unwrap();
    assert_eq!((turn.moved_from, session.id()), (None, first));
}

#[tokio::test]
async fn a_turn_whose_future_is_dropped_lets_go_of_the_session() {
    let (one, _, _) = shared();
    let model = Scripted::new(vec![calls(&[("c", "deaf", "1")]), says("done")]);
    let session = one.root(&model);
    let turn = start(&session);
    until(|| !one.ears.of(Name::ToolPre).is_empty()).await;
    turn.abort();
    assert!(turn.await.unwrap_err().is_cancelled());
    assert!(!session.is_running());
    until(|| one.kernel.engine().show(&session.id()).unwrap().lease.is_none()).await;
    assert_eq!(session.resume().await.unwrap().text, "done");
    let results = one.events(&session.id());
    let result = results.iter().find(|(kind, _)| kind == "tool_result").unwrap();
    assert_eq!(result.1["synthetic"], true);
}

#[tokio::test]
async fn a_lease_is_renewed_while_the_turn_runs() {
    let world = World::new();
    let model = Scripted::new(vec![calls(&[("c", "hang", "1")])]);
    let session = world.root(&model);
    let turn = start(&session);
    until(|| !world.ears.of(Name::ToolPre).is_empty()).await;
    let lease = || world.kernel.engine().show(&session.id()).unwrap().lease.unwrap();
    let first = lease();
    // The lease is renewed although no event is appended.
    until(|| lease().expires > first.expires).await;
    assert_eq!((lease().owner, lease().began_at), (first.owner, first.began_at));
    session.interrupt();
    assert_eq!(turn.await.unwrap().unwrap().status, Status::Cancelled);
}
