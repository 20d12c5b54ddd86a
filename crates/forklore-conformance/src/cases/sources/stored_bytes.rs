//! Cases: an erasure erases the stored bytes of imported files, and the trash retains them.

use forklore_store::port::{Children, Deletion};
use forklore_store::sources::{FindSource, LineEnd, SourceSpan};
use jiff::Timestamp;

use super::{create, import, new, sidecar, step};
use crate::scene::{Scene, id};

pub(crate) fn a_delete_erases_stored_bytes(scene: &Scene<'_>) {
    let store = scene.store();
    let mut first = step(new(), "/f", 10, vec![create("s"), create("t")]);
    let raw = SourceSpan::Raw { session: 0, position: 0, bytes: b"raw".to_vec() };
    let events = SourceSpan::Events { session: 0, from: 0, count: 2, end: LineEnd::Lf };
    let spread = SourceSpan::Spread {
        session: 1,
        position: 0,
        margin: b"  ".to_vec(),
        indent: b"\t".to_vec(),
        end: LineEnd::CrLf,
    };
    first.ranges.extend([raw, spread.clone(), events.clone()]);
    let source = import(store, first).unwrap();
    store.remove(&[id("t")], Children::Refuse, Timestamp::UNIX_EPOCH).unwrap();
    let left = vec![SourceSpan::Gone(4), SourceSpan::Gone(3), spread, events];
    assert_eq!(store.source_spans(source, 0).unwrap(), Some(left));
}

pub(crate) fn the_trash_retains_stored_bytes(scene: &Scene<'_>) {
    let store = scene.store();
    let file = import(store, step(new(), "/f", 10, vec![create("s"), create("t")])).unwrap();
    let sidecar_file = import(store, sidecar("/f.d/a", "/f")).unwrap();
    let found = store.sources(&FindSource::Session(id("t"))).unwrap();
    let delete =
        |deletion| store.delete(&[id("t")], Children::Refuse, deletion, scene.clock.now()).unwrap();
    let spans =
        || [file, sidecar_file].map(|source| store.source_spans(source, 0).unwrap().unwrap());
    delete(Deletion::Trash);
    scene.collect();
    let stored = vec![SourceSpan::Other(b"kept".to_vec())];
    assert_eq!(spans(), [stored.clone(), stored.clone()]);
    assert!(import(store, sidecar("/f.d/b", "/f")).is_err(), "a session is in the trash");
    scene.undelete("t", "main").unwrap();
    assert_eq!(store.sources(&FindSource::Session(id("t"))).unwrap(), found);
    import(store, sidecar("/f.d/b", "/f")).unwrap();
    delete(Deletion::Trash);
    assert_eq!(spans(), [stored.clone(), stored]);
    delete(Deletion::Erase);
    assert_eq!(spans(), [vec![SourceSpan::Gone(4)], vec![SourceSpan::Gone(4)]]);
}
