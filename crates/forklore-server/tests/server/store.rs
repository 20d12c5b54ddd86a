//! What a token may do with the store itself.

use forklore::Engine;
use forklore::remote::{Address, HttpStore};
use forklore_api::{Create, Delete, DeleteMode, Gc, NewEvent, Redact, Scope};
use forklore_core::ErrorKind;
use forklore_core::workspace::Workspace;
use forklore_server::TokenFile;
use jiff::Timestamp;

use crate::Running;

fn open(url: &str, token: &str) -> Engine {
    let address: Address = url.parse().unwrap();
    let store = HttpStore::open(address.with_token(token).unwrap()).unwrap();
    Engine::new(std::sync::Arc::new(store))
}

/// Does each thing that erases. Returns the kinds of the errors.
fn erase_everything(engine: &Engine) -> Vec<Option<ErrorKind>> {
    let of = |name: &str| name.parse().unwrap();
    let delete =
        Delete { session: of("gone"), mode: DeleteMode::Refuse, dry_run: false, erase: true };
    let redact =
        Redact { events: vec!["plan:0".to_owned()], reason: "x".to_owned(), ..Redact::default() };
    [
        engine.delete(&delete).err(),
        engine.redact(&redact).err(),
        engine.collect(&Gc::all()).err(),
        engine.gc().err(),
        engine.pack(std::time::Duration::ZERO).err(),
    ]
    .map(|failed| failed.map(|error| error.kind()))
    .to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn erasing_through_the_store_needs_an_administrator() {
    let server = Running::start().await;
    let file = TokenFile::at(server.state().join("tokens.json"));
    let (_, writer) = file.add("w", Scope::Write, Timestamp::now(), None).unwrap();
    let (url, admin) = (server.url.clone(), server.token.clone());
    let tried = tokio::task::spawn_blocking(move || {
        let (writing, all) = (open(&url, &writer), open(&url, &admin));
        for name in ["plan", "gone", "trash"] {
            let id = Some(name.parse().unwrap());
            let created =
                writing.create(&Create { id, ..Create::in_workspace(Workspace::new("/w")) });
            let event = NewEvent::user("one").unwrap();
            writing.append(&created.unwrap().id, &event.into()).unwrap();
        }
        // Whoever may write may delete into the trash.
        let trash = Delete {
            session: "trash".parse().unwrap(),
            mode: DeleteMode::Refuse,
            dry_run: false,
            erase: false,
        };
        writing.delete(&trash).unwrap();
        let refused = erase_everything(&writing);
        let left = writing.show(&"gone".parse().unwrap()).is_ok();
        (refused, left, erase_everything(&all))
    });
    let (refused, left, done) = tried.await.unwrap();
    assert_eq!(refused, [Some(ErrorKind::PermissionDenied); 5]);
    assert!(left);
    assert_eq!(done, [None; 5]);
    let log = std::fs::read_to_string(server.state().join("audit.jsonl")).unwrap();
    let refused = log
        .lines()
        .filter(|line| line.contains("\"w\"") && line.contains("\"status\":403"))
        .count();
    assert!(refused >= 5, "{log}");
}
