//! Tests of references, with which people name sessions.

use forklore_core::ErrorKind;
use forklore_core::workspace::Workspace;
use forklore_engine::{Create, Fork, Scope};

use crate::world::{World, id, on_every_store, refusal};

on_every_store!(
    hostile_references_are_refused_and_not_repeated,
    references_are_tried_in_order,
    what_is_in_other_folders_is_named,
    an_ambiguous_reference_lists_candidates,
    lists_page_by_cursor,
);

fn scope(path: &str) -> Scope {
    Scope { workspace: Some(Workspace::new(path)) }
}

fn hostile_references_are_refused_and_not_repeated(world: &World) {
    world.session("p", "u1");
    for hostile in [
        "../p",
        "p/../p",
        "p\u{1b}[31m",
        "p\u{202e}",
        "a b",
        "p'; DROP TABLE session;--",
        "@\u{7}",
        "-p",
    ] {
        let error = world.engine.resolve(hostile, &Scope::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgs, "{hostile:?}");
        assert!(!error.to_string().contains(hostile), "{error}");
    }
    assert_eq!(world.shape("p"), "u1");
}

fn references_are_tried_in_order(world: &World) {
    world.session("aaaa-1111", "u1");
    world.pass(5);
    world.session("bbbb-2222", "u1");
    world.fork("aaaa-1111", "", "cccc-3333");
    world.engine.label(&id("cccc-3333"), &"idea".parse().unwrap()).unwrap();
    let found = |reference: &str| world.engine.resolve(reference, &scope("/demo")).unwrap().id;
    assert_eq!(found("aaaa-1111"), id("aaaa-1111"));
    assert_eq!(found("@idea"), id("cccc-3333"));
    assert_eq!(found("2222"), id("bbbb-2222"));
    assert_eq!(found("bbbb"), id("bbbb-2222"));
    assert_eq!(found("cccc@main"), id("aaaa-1111"));
    world.pass(5);
    world.write("aaaa-1111", "a1");
    assert_eq!(found("last"), id("aaaa-1111"));
    assert_eq!(refusal(world.engine.resolve("222", &Scope::default())).0, ErrorKind::NotFound);
    assert_eq!(refusal(world.engine.resolve("@none", &Scope::default())).0, ErrorKind::NotFound);
}

fn what_is_in_other_folders_is_named(world: &World) {
    let from = |reference: &str| {
        let error = world.engine.resolve(reference, &scope("/elsewhere")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let elsewhere = error.details()["elsewhere"].clone();
        let named = |one: &serde_json::Value| one["session_id"].as_str().unwrap().to_owned();
        let named = elsewhere.as_array().into_iter().flatten().map(named).collect::<Vec<_>>();
        (error.to_string(), named)
    };
    let nowhere = "no session fits last: this workspace has no session yet";
    assert_eq!(from("last"), (nowhere.to_owned(), Vec::new()));
    world.session("aaaa-1111", "u1");
    world.fork("aaaa-1111", "", "cccc-3333");
    world.engine.label(&id("cccc-3333"), &"idea".parse().unwrap()).unwrap();
    let shown = "cccc-3333".to_owned();
    let reported =
        "no session of this folder fits the label idea, but cccc-3333 of /demo does".to_owned();
    assert_eq!(from("@idea"), (reported, vec![shown.clone()]));
    assert_eq!(from("@idea@main").1, std::slice::from_ref(&shown));
    world.pass(5);
    world.write("cccc-3333", "a1");
    let text = "no session of this folder fits last, but cccc-3333 of /demo does".to_owned();
    assert_eq!(from("last"), (text, vec![shown.clone()]));
    world.pass(5);
    let strange = Workspace::new("/tmp/\u{1b}[31m\nrm -rf x");
    let root = world.engine.create(&Create::in_workspace(strange)).unwrap().id;
    let fork = Fork { at: Some("start".parse().unwrap()), ..Fork::of(root) };
    let fork = world.engine.fork(&fork).unwrap().child_session_id;
    world.engine.label(&fork, &"idea".parse().unwrap()).unwrap();
    let (report, tries) = from("@idea");
    assert!(report.ends_with("but sessions of /demo, /tmp/\u{1b}[31m\nrm -rf x do"), "{report:?}");
    assert_eq!(tries, [fork.to_string(), shown]);
    // A search in all workspaces reports that several sessions match.
    let all = world.engine.resolve("@idea", &Scope::default()).unwrap_err();
    assert_eq!(all.kind(), ErrorKind::InvalidArgs);
    assert_eq!(from("@none").1, Vec::<String>::new());
}

fn an_ambiguous_reference_lists_candidates(world: &World) {
    for n in 0..12 {
        world.session(&format!("same-{n:02}"), "u1");
    }
    let error = world.engine.resolve("same-", &Scope::default()).unwrap_err();
    assert_eq!(
        (error.kind(), error.details()["count"].as_u64()),
        (ErrorKind::InvalidArgs, Some(12))
    );
    assert_eq!(error.details()["candidates"].as_array().unwrap().len(), 10);
}

fn lists_page_by_cursor(world: &World) {
    for n in 0..7 {
        world.session(&format!("s{n}"), "u1");
        world.pass(u64::from(n % 2 == 0));
    }
    let all = world.engine.list(&forklore_engine::ListRequest::default()).unwrap().sessions;
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let request = forklore_engine::ListRequest { limit: 3, after, ..Default::default() };
        let page = world.engine.list(&request).unwrap();
        paged.extend(page.sessions);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
    assert_eq!(all.len(), 7);
    assert!(all.windows(2).all(|pair| pair[0].updated >= pair[1].updated));
}
