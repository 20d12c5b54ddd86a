//! Cases: the store treats untrusted names and texts as data, whatever they contain.

use forklore_core::Data;
use forklore_core::workspace::Workspace;

use crate::events::{Draft, turns, user};
use crate::scene::{LONG, Scene, id, label};
use forklore_store::port::{At, Change, NewSession};

const TEXTS: [&str; 8] = [
    "'; DROP TABLE session; --",
    "\" OR \"\"=\"",
    "%s%n$(rm -rf /)`id`",
    "line\nbreak\ttab\r\n",
    "\u{202e}txt.exe\u{2066}\u{200b}",
    "\u{1b}[31mred\u{1b}]0;title\u{7}",
    "../../etc/passwd",
    "née e\u{301} \u{1f469}\u{200d}\u{1f4bb} \u{2028}",
];

pub(super) fn strange_ids_are_just_ids(scene: &Scene<'_>) {
    let longest = "x".repeat(235);
    let wide = "界".repeat(78);
    let ids = [
        "CON", "nul", "aux.txt", "a.", "a..b", "_", "0", "null", "true", "1e3", "rowid", &longest,
        &wide,
    ];
    for session in ids {
        scene.root(session, vec![user(session)]);
    }
    for (number, session) in ids.iter().enumerate() {
        assert_eq!(scene.texts(session), [*session]);
        scene.fork(session, &format!("fork-{number}"), 1, vec![]);
        assert_eq!(scene.header(&format!("fork-{number}")).root_id, id(session));
    }
}

pub(super) fn ids_that_look_alike_stay_apart(scene: &Scene<'_>) {
    let ids = ["a-1", "a.1", "a_1", "а-1", "a１", "01", "1", "a", "ä", "æ", "ae"];
    for session in ids {
        scene.root(session, vec![user(session)]);
    }
    for session in ids {
        assert_eq!(scene.texts(session), [session]);
    }
}

pub(super) fn event_ids_are_stored_as_they_are(scene: &Scene<'_>) {
    let longest = "e".repeat(512);
    let ids = ["'; --", "a b", "%", "msg_01:é", "0", "last", &longest];
    scene.root("a", ids.iter().map(|id| user("x").id(id)).collect());
    let log = scene.log("a");
    assert_eq!(log.iter().map(|stored| stored.event.id.as_str()).collect::<Vec<_>>(), ids);
    for (seq, id) in (0..).zip(ids) {
        let found = scene.page("a", At::Id(id.parse().unwrap()), 9).events;
        assert_eq!(found.iter().map(|stored| stored.seq).collect::<Vec<_>>(), [seq]);
    }
}

pub(super) fn header_texts_are_stored_as_they_are(scene: &Scene<'_>) {
    for (number, text) in TEXTS.iter().enumerate() {
        let session = format!("s{number}");
        let new = NewSession {
            title: Some((*text).to_owned()),
            principal: Some((*text).to_owned()),
            permissions: Some([(*text).to_owned()].into()),
            workspace: Workspace::new(text),
            metadata: Some(Data::of(text).unwrap()),
            source: Some((*text).to_owned()),
            ..scene.draft(&session, vec![])
        };
        let header = scene.store().create(new).unwrap();
        assert_eq!(header.title.as_deref(), Some(*text));
        assert_eq!(scene.header(&session), header);
        let filter = forklore_store::port::Filter {
            workspace: Some(Workspace::new(text)),
            ..Default::default()
        };
        assert_eq!(scene.store().sessions(&filter, None, 0).unwrap().all().unwrap(), [header]);
    }
}

pub(super) fn owners_of_leases_are_stored_as_they_are(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    for text in TEXTS {
        let lease = scene.hold("a", text, LONG).unwrap().header.lease;
        assert_eq!(lease.map(|lease| lease.owner).as_deref(), Some(text));
        scene.change("a", &Change::Release { owner: text.into() });
    }
}

pub(super) fn labels_may_be_in_any_script(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let longest = "é".repeat(32);
    for (number, name) in ["試し", "Ωmega.2", "naïve", "DROP", &longest].iter().enumerate() {
        let session = format!("b{number}");
        scene.fork("a", &session, 1, vec![]);
        scene.change(&session, &Change::Label(label(name)));
        assert_eq!(scene.header(&session).label, label(name));
    }
}

pub(super) fn types_and_dialects_are_stored_as_they_are(scene: &Scene<'_>) {
    let longest = "t".repeat(64);
    let kinds = ["x.y-z_9", "select", "tool_use", &longest];
    scene.root("a", kinds.iter().map(|kind| Draft::new(kind, "{}").dialect("pi'--")).collect());
    let log = scene.log("a");
    assert_eq!(log.iter().map(|stored| stored.event.kind.as_str()).collect::<Vec<_>>(), kinds);
    assert!(log.iter().all(|stored| stored.event.dialect.as_deref() == Some("pi'--")));
}
