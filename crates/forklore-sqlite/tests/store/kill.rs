//! Processes killed in the middle of their work: what was told is there, nothing is half there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use forklore_model::Strategy;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::conformance::Scene;
use forklore_store::conformance::events::{turns, user};
use forklore_store::port::{Children, Store, Upkeep};

use crate::child::{Process, tell};
use crate::place::{Place, handle};

const KILLS: u64 = 300;
/// More than a copy writes in one transaction.
const PREFIX: usize = 600;

/// Works until it is killed, and tells of each step when it is done.
pub(crate) fn work(file: &Path, round: &str) {
    let store = Arc::new(SqliteStore::open(file, Options::default()).unwrap());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    for step in 0.. {
        let text = format!("{round}.{step}");
        scene.append("log", vec![user(&text), user(&format!("{text}+"))]);
        tell(&format!("append {text}"));
        let child = format!("child-{round}-{step}");
        let strategy = if step % 3 == 2 { Strategy::ReplayV1 } else { Strategy::ShareV1 };
        let kept = if strategy == Strategy::ReplayV1 { 2 * PREFIX as u64 } else { 5 };
        let new = scene.child_draft("trunk", &child, kept, strategy, turns(1));
        scene.store().create(new).unwrap();
        tell(&format!("fork {child}"));
        if step % 2 == 0 {
            store.remove(&[child.parse().unwrap()], Children::Keep, scene.clock.now()).unwrap();
            tell(&format!("delete {child}"));
        }
    }
}

/// A small generator of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn nothing_told_is_lost_and_nothing_is_half_there() {
    let place = Place::new();
    let store = place.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("log", vec![]);
    scene.root("trunk", turns(PREFIX));
    let seed = std::env::var("FORKLORE_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut numbers = Numbers(seed);
    let mut told = BTreeSet::new();
    for round in 0..KILLS {
        let mut process = Process::start(&format!("kill {round}"), &place.file());
        let steps = 1 + numbers.below(12);
        for _ in 0..steps {
            told.insert(process.heard().expect("a process that works"));
        }
        // Anywhere in the step that follows.
        std::thread::sleep(std::time::Duration::from_micros(numbers.below(3_000)));
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        // Told before the kill, though read after it.
        told.extend(std::iter::from_fn(|| process.heard()));
    }
    assert_appends(&scene, &told, seed);
    assert_children(&scene, &place, &told);
    scene.assert_sound();
    // Copies that were being made are seen by nobody, and erased once they are old.
    let sqlite = place.sqlite();
    sqlite.execute("UPDATE private_segment SET heartbeat = 1 WHERE heartbeat > 1", []).unwrap();
    store.gc(scene.clock.now()).unwrap();
    let left = "SELECT count(*) FROM event WHERE k >> 32 NOT IN
        (SELECT sid FROM session UNION SELECT id FROM private_segment WHERE heartbeat IS NULL)";
    let left: i64 = sqlite.query_row(left, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
    scene.assert_sound();
}

fn assert_appends(scene: &Scene<'_>, told: &BTreeSet<String>, seed: u64) {
    let texts = scene.texts("log");
    let pairs: Vec<_> = texts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    for (first, second) in &pairs {
        assert_eq!(format!("{first}+"), *second, "half a batch");
    }
    let there: BTreeSet<_> = pairs.iter().map(|pair| format!("append {}", pair.0)).collect();
    assert_eq!(there.len(), pairs.len(), "an append stands twice");
    let appends = told.iter().filter(|line| line.starts_with("append "));
    let lost: Vec<_> = appends.filter(|line| !there.contains(*line)).collect();
    assert!(lost.is_empty(), "FORKLORE_SEED={seed}: {lost:?}");
}

fn assert_children(scene: &Scene<'_>, place: &Place, told: &BTreeSet<String>) {
    let sqlite = place.sqlite();
    let mut names =
        sqlite.prepare("SELECT id, deleted IS NULL FROM session WHERE parent NOT NULL").unwrap();
    let there: BTreeMap<String, bool> = names
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for line in told {
        match line.split_once(' ').unwrap() {
            ("fork", child) => assert!(there.contains_key(child), "lost {child}"),
            ("delete", child) => assert_eq!(there.get(child), Some(&false), "{child} came back"),
            _ => {}
        }
    }
    let trunk = scene.log("trunk");
    for (child, _) in there.iter().filter(|(_, living)| **living) {
        let header = scene.header(child);
        let log = scene.log(child);
        let kept = usize::try_from(header.inherited.kept).unwrap();
        assert_eq!(log.len(), kept + 3, "half a fork");
        for (inherited, original) in log[1..=kept].iter().zip(&trunk) {
            assert_eq!((&inherited.origin, &inherited.event), (&original.origin, &original.event));
        }
    }
}
