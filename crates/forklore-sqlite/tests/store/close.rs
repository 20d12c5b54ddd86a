//! What a closed store leaves to those who open it next.

use forklore_store::conformance::Scene;
use forklore_store::conformance::events::turns;

use crate::place::{Place, handle};

#[test]
fn nothing_is_left_to_write_back() {
    let place = Place::new();
    let store = place.open();
    let make = || handle(&store);
    // Connections that read are there too, and must not be the last to close.
    Scene::new(&make).root("a", turns(3));
    let wal = place.file().with_file_name("store.db-wal");
    assert!(wal.metadata().unwrap().len() > 0);
    drop(store);
    assert!(!wal.exists());
}
