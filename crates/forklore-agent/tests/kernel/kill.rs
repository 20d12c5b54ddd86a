//! Tests that another process can continue a session whose process was killed during a turn.
//!
//! The killed process is this test program itself, started for the test `worker`. It runs a turn
//! over a store on disk and prints a line for each notification. It stops at the notification with
//! the requested number.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forklore_agent::model::{EndReason, StreamEvent};
use forklore_agent::notify::{Notification, Sink};
use forklore_agent::{Kernel, Status};
use forklore_core::{ErrorKind, SessionId};
use forklore_engine::{Clock, Engine, Fork, SystemClock};
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::clock::StoreClock;
use jiff::{SignedDuration, Timestamp};

use crate::scripted::{Act, Scripted, calls, end, says};
use crate::world::{World, equipment, new_session};

const STORE: &str = "FORKLORE_AGENT_TEST_STORE";
const POINT: &str = "FORKLORE_AGENT_TEST_POINT";

/// A clock that is 20 s fast. By its time, the lease of a killed process has expired.
struct Later;

impl Clock for Later {
    fn now(&self) -> Timestamp {
        SystemClock.now() + SignedDuration::from_secs(20)
    }
    fn random(&self) -> [u8; 10] {
        SystemClock.random()
    }
}

fn engine(store: &Path) -> Engine {
    Engine::new(Arc::new(SqliteStore::open(store, Options::default()).unwrap()))
}

/// Returns an engine over a store. The clocks of both are 20 s fast.
fn later(store: &Path) -> Engine {
    let store = SqliteStore::open(store, Options::default()).unwrap();
    let store = store.with_clock(StoreClock::new(|| Later.now()));
    Engine::new(Arc::new(store)).with_clock(Arc::new(Later))
}

fn id() -> SessionId {
    "killed".parse().unwrap()
}

/// A sink that stops the process at the notification with the number `at`.
struct Stands {
    at: usize,
    delivered: AtomicUsize,
}

impl Sink for Stands {
    fn take(&self, notification: &Arc<Notification>) {
        let number = self.delivered.fetch_add(1, Ordering::SeqCst) + 1;
        println!("told {number} {}", notification.name());
        if number == self.at {
            loop {
                std::thread::park();
            }
        }
    }
}

/// Runs a turn with reasoning, two calls and an answer. If the environment variables are not set,
/// this is a normal test of the turn.
#[tokio::test]
async fn worker() {
    let dir = tempfile::tempdir().unwrap();
    let store = std::env::var_os(STORE).map_or_else(|| dir.path().join("store.db"), Into::into);
    let at = std::env::var(POINT).map_or(usize::MAX, |point| point.parse().unwrap());
    let stands = Arc::new(Stands { at, delivered: AtomicUsize::new(0) });
    let kernel = Kernel::builder(engine(&store)).sink(stands).application("worker").build();
    let mut first = vec![Act::Say(StreamEvent::Thought { text: "hm".into(), opaque: None })];
    first.extend(calls(&[("a", "echo", "1"), ("b", "slow", "2")]));
    let last = vec![
        Act::Say(StreamEvent::Text("all ".into())),
        Act::Say(StreamEvent::Text("done".into())),
        end(EndReason::Done),
    ];
    let mut new = new_session();
    new.id = Some(id());
    let session = kernel.create(new, equipment(&Scripted::new(vec![first, last])));
    let turn = session.execute("go").await.unwrap();
    assert_eq!((turn.status, turn.text.as_str()), (Status::Success, "all done"));
}

fn start(store: &Path, at: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["kill::worker", "--exact", "--nocapture"])
        .env(STORE, store)
        .env(POINT, at.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the process stops at its notification. Returns `false` if the process ended instead.
fn stands(child: &mut Child, at: usize) -> bool {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let wanted = format!("told {at} ");
    lines.map_while(Result::ok).any(|line| line.contains(&wanted))
}

#[tokio::test]
async fn kill_at_every_point_of_a_turn() {
    let mut points = 0;
    for at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store.db");
        let mut child = start(&store, at);
        let stood = stands(&mut child, at);
        child.kill().unwrap();
        child.wait().unwrap();
        if !stood {
            break;
        }
        points += 1;
        goes_on(&store, at).await;
    }
    // The process was killed once at every notification of the turn.
    assert_eq!(points, 26);
}

async fn goes_on(store: &Path, at: usize) {
    // On Linux, the kernel detects that the process is gone. On other systems the lease must
    // expire.
    let found = cfg!(target_os = "linux");
    let engine = if found { engine(store) } else { later(store) };
    let world = World::over(engine);
    let engine = world.kernel.engine();
    assert_eq!(engine.verify(None).unwrap().problems, [], "killed at {at}");
    let before = world.events(&id());
    let model = Scripted::new(vec![says("on it goes"), says("and on")]);
    let session = world.kernel.open(&id(), equipment(&model)).await.unwrap();
    let broken_off = engine.interrupted_turn(&id()).unwrap().is_some();
    let turn = if broken_off { session.resume().await } else { session.execute("more").await };
    let turn = turn.unwrap();
    assert_eq!(
        (turn.status, turn.text.as_str()),
        (Status::Success, "on it goes"),
        "killed at {at}"
    );
    session.execute("again").await.unwrap();
    let after = world.events(&id());
    assert_eq!(after[..before.len()], before, "killed at {at}");
    let seen = engine.inspect(&id()).unwrap();
    assert!(seen.balanced, "killed at {at}: {seen:?}");
    let request = &model.requests()[1].messages;
    assert_eq!(*request, seen.messages[..request.len()], "killed at {at}");
}

#[tokio::test]
async fn kill_or_not_two_processes_never_run_one_session() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store.db");
    let mut child = start(&store, 3);
    assert!(stands(&mut child, 3));
    let world = World::over(engine(&store));
    let model = Scripted::new(vec![says("mine")]);
    let second = world.kernel.open(&id(), equipment(&model)).await.unwrap();
    let error = second.execute("me too").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    let owner = format!("held by worker (process {}, ", child.id());
    assert!(error.to_string().contains(&owner), "{error}");
    let fork = Fork::of(id()).at("index:1".parse().unwrap());
    let fork = second.fork(fork).await.unwrap().child;
    assert_eq!(fork.resume().await.unwrap().text, "mine");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("orchestrator:complete"), "{rest}");
}
