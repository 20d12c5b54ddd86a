//! A case: if several sources match a search, the store returns the latest first.

use forklore_store::sources::{FindSource, SourceId, Target};

use super::{create, import, step};
use crate::scene::{Scene, id};

pub(in crate::cases) fn the_latest_source_comes_first(scene: &Scene<'_>) {
    let store = scene.store();
    let mut made: Vec<SourceId> = Vec::new();
    for (revision, name) in (0..).zip(["a", "b", "c"]) {
        let latest = made.first().copied();
        let target = Target::New { dialect: "test".into(), revision, first_line: 7, latest };
        let mut step = step(target, "/f", 10, vec![create(name)]);
        step.names = vec![5];
        made.insert(0, import(store, step).unwrap());
    }
    let found = |by: &FindSource| -> Vec<_> {
        store.sources(by).unwrap().into_iter().map(|source| source.id).collect()
    };
    for by in [FindSource::Path("/f".into()), FindSource::FirstLine(7), FindSource::Name(5)] {
        assert_eq!(found(&by), made, "{by:?}");
    }
    assert_eq!(found(&FindSource::Latest("/f".into())), made[..1]);
    for (name, source) in ["c", "b", "a"].into_iter().zip(&made) {
        assert_eq!(found(&FindSource::Session(id(name))), [*source], "{name}");
    }
}
