//! Tests of references, with which people name sessions.

use forklore_core::ErrorKind;
use forklore_core::workspace::Workspace;
use forklore_engine::{Create, Fork, Scope};

use crate::world::{World, id, on_every_store, refusal};

on_every_store!(
    hostile_references_are_refused_and_not_repeated,
    references_are_tried_in_order,
    names_of_other_folders_are_found_where_they_are_unique,
    titles_name_sessions,
    a_label_needs_no_sign,
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
        "a\u{200b}b c",
        "p\\..\\q; DROP TABLE session;--",
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

fn names_of_other_folders_are_found_where_they_are_unique(world: &World) {
    let elsewhere = scope("/elsewhere");
    let from = |reference: &str| world.engine.resolve(reference, &elsewhere);
    let refused = |reference: &str| {
        let error = from(reference).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let named = |one: &serde_json::Value| one["session_id"].as_str().unwrap().to_owned();
        let details = error.details();
        let found = details["elsewhere"].as_array().into_iter().flatten();
        (error.to_string(), found.map(named).collect::<Vec<_>>())
    };
    let nowhere = "no session fits last: this workspace has no session yet";
    assert_eq!(refused("last"), (nowhere.to_owned(), Vec::new()));
    world.session("aaaa-1111", "u1");
    world.fork("aaaa-1111", "", "cccc-3333");
    world.engine.label(&id("cccc-3333"), &"idea".parse().unwrap()).unwrap();
    assert_eq!(from("@idea").unwrap().id, id("cccc-3333"));
    assert_eq!(from("idea").unwrap().id, id("cccc-3333"));
    assert_eq!(from("@idea@main").unwrap().id, id("aaaa-1111"));
    world.pass(5);
    world.write("cccc-3333", "a1");
    let text = "no session of this folder fits last, but cccc-3333 of /demo does".to_owned();
    assert_eq!(refused("last"), (text, vec!["cccc-3333".to_owned()]));
    world.pass(5);
    let strange = Workspace::new("/tmp/\u{1b}[31m\nrm -rf x");
    let root = world.engine.create(&Create::in_workspace(strange)).unwrap().id;
    let fork = Fork { at: Some("start".parse().unwrap()), ..Fork::of(root) };
    let fork = world.engine.fork(&fork).unwrap().child_session_id;
    world.engine.label(&fork, &"idea".parse().unwrap()).unwrap();
    for reference in ["@idea", "idea"] {
        let (report, tries) = refused(reference);
        let folders = "but sessions of /demo, /tmp/\u{1b}[31m\nrm -rf x do";
        assert!(report.ends_with(folders), "{report:?}");
        assert_eq!(tries, [fork.to_string(), "cccc-3333".to_owned()]);
    }
    // A fork with a folder of its own belongs to the project of its root.
    let own = world.engine.create(&Create::in_workspace(Workspace::new("/elsewhere"))).unwrap().id;
    let (at, workspace) = (Some("start".parse().unwrap()), Some(Workspace::new("/trees/idea")));
    let fork = Fork { at, workspace, label: Some("idea".parse().unwrap()), ..Fork::of(own) };
    let fork = world.engine.fork(&fork).unwrap().child_session_id;
    assert_eq!(
        ["@idea", "idea"].map(|reference| from(reference).unwrap().id),
        [(); 2].map(|()| fork.clone())
    );
    // A search in all workspaces reports that several sessions match.
    let all = world.engine.resolve("@idea", &Scope::default()).unwrap_err();
    assert_eq!(all.kind(), ErrorKind::InvalidArgs);
    assert_eq!(refused("@none").1, Vec::<String>::new());
}

fn titles_name_sessions(world: &World) {
    let title = |session: &str, title: &str| {
        let renamed = world.engine.rename(&id(session), Some(title)).unwrap();
        assert_eq!(renamed.title.as_deref(), Some(title.trim()).filter(|title| !title.is_empty()));
    };
    for session in ["aaaa-1111", "bbbb-2222", "cccc-3333"] {
        world.session(session, "u1");
    }
    title("aaaa-1111", "  Fix the parser ");
    title("bbbb-2222", "Fix the parser of dates");
    title("cccc-3333", "mail to a@b.org");
    let here = scope("/demo");
    let found = |reference: &str| world.engine.resolve(reference, &here).map(|found| found.id);
    assert_eq!(found("fix the Parser").unwrap(), id("aaaa-1111"), "a whole title is preferred");
    assert_eq!(found("fix the parser of").unwrap(), id("bbbb-2222"));
    assert_eq!(found("mail to a@b.org").unwrap(), id("cccc-3333"));
    assert_eq!(found("mail").unwrap(), id("cccc-3333"));
    assert_eq!(refusal(found("fix").map(drop)).0, ErrorKind::InvalidArgs);
    assert_eq!(refusal(found("ma").map(drop)).0, ErrorKind::NotFound);
    assert_eq!(refusal(found("the parser").map(drop)).0, ErrorKind::NotFound);
    let elsewhere = world.engine.resolve("mail to", &scope("/elsewhere")).unwrap();
    assert_eq!(elsewhere.id, id("cccc-3333"));
    title("cccc-3333", " ");
    assert_eq!(refusal(found("mail to").map(drop)).0, ErrorKind::NotFound);
    let long = "x".repeat(501);
    let refused = world.engine.rename(&id("cccc-3333"), Some(&long));
    assert_eq!(refusal(refused.map(drop)).0, ErrorKind::InvalidArgs);
    let fork = Fork { title: Some(long), ..Fork::of(id("aaaa-1111")) };
    assert_eq!(refusal(world.engine.fork(&fork).map(drop)).0, ErrorKind::InvalidArgs);
    assert_eq!(refusal(world.engine.rename(&id("none"), None).map(drop)).0, ErrorKind::NotFound);
}

fn a_label_needs_no_sign(world: &World) {
    world.session("aaaa-1111", "u1");
    world.fork("aaaa-1111", "", "plan-b-session");
    world.fork("aaaa-1111", "", "cccc-3333");
    let here = scope("/demo");
    let found = |reference: &str| world.engine.resolve(reference, &here).map(|found| found.id);
    world.engine.label(&id("cccc-3333"), &"idea".parse().unwrap()).unwrap();
    assert_eq!(found("idea").unwrap(), id("cccc-3333"));
    assert_eq!(found("main").unwrap(), id("aaaa-1111"));
    // What begins an id and is the label of another session names neither.
    world.engine.label(&id("cccc-3333"), &"plan-b".parse().unwrap()).unwrap();
    assert_eq!(refusal(found("plan-b").map(drop)).0, ErrorKind::InvalidArgs);
    assert_eq!(found("@plan-b").unwrap(), id("cccc-3333"));
    // A root's label can change, and then another session may be `main`.
    let header = world.engine.label(&id("aaaa-1111"), &"trunk".parse().unwrap()).unwrap();
    assert_eq!((header.label.as_str(), found("trunk").unwrap()), ("trunk", id("aaaa-1111")));
    world.engine.label(&id("cccc-3333"), &"main".parse().unwrap()).unwrap();
    assert_eq!(found("trunk@main").unwrap(), id("cccc-3333"));
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
