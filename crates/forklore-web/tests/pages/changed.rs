//! Labels and titles, deleting with the plan shown first, and bringing back.

use axum::http::{StatusCode, header};

use crate::parsed::elements;
use crate::world::{Answer, family};

fn located(answer: &Answer) -> &str {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    answer.header(header::LOCATION)
}

#[test]
fn a_session_gets_another_label_and_title() {
    let world = family();
    let form = "label=plan-x&title=%3Cb%3EA+plan%3C/b%3E";
    assert_eq!(located(&world.post("/s/plan-b/name", form)), "/s/plan-b");
    let header = world.engine.show(&"plan-b".parse().unwrap()).unwrap();
    assert_eq!((header.label.as_str(), header.title.as_deref()), ("plan-x", Some("<b>A plan</b>")));
    let page = world.page("/s/plan-b/change");
    assert!(!page.contains("<b>"), "{page}");
    let values: Vec<_> =
        elements(&page).iter().filter_map(|it| it.get("value").map(str::to_owned)).collect();
    assert!(values.contains(&"<b>A plan</b>".to_owned()), "{values:?}");
    // A label that is in use, or is none, changes nothing.
    assert_eq!(world.post("/s/plan-b/name", "label=plan-c").status, StatusCode::CONFLICT);
    assert_eq!(world.post("/s/plan-b/name", "label=%3Cb%3E").status, StatusCode::BAD_REQUEST);
    assert_eq!(world.engine.show(&"plan-b".parse().unwrap()).unwrap().label.as_str(), "plan-x");
}

#[test]
fn a_delete_says_first_what_it_deletes_and_can_be_undone() {
    let world = family();
    let plan = world.page("/s/plan-b/change");
    assert!(plan.contains("This would delete 2 sessions"), "{plan}");
    assert!(plan.contains("This would delete 1 session<"), "{plan}");
    // Nothing is deleted yet, and never without a word on the forks.
    assert_eq!(world.post("/s/plan-b/delete", "").status, StatusCode::CONFLICT);
    assert_eq!(world.post("/s/plan-b/delete", "mode=all").status, StatusCode::BAD_REQUEST);
    assert_eq!(world.get("/s/plan-b").status, StatusCode::OK);
    let deleted = world.post("/s/plan-b/delete", "mode=cascade");
    assert_eq!(located(&deleted), "/?deleted=plan-b");
    for gone in ["/s/plan-b", "/s/plan-c"] {
        assert_eq!(world.get(gone).status, StatusCode::NOT_FOUND);
    }
    assert!(world.page("/?deleted=plan-b").contains("Bring it back"));
    assert_eq!(located(&world.post("/s/plan-b/undelete", "")), "/s/plan-b");
    for back in ["/s/plan-b", "/s/plan-c"] {
        assert_eq!(world.get(back).status, StatusCode::OK);
    }
    assert!(!world.page("/?deleted=plan-b").contains("Bring it back"));
}

#[test]
fn a_session_without_forks_is_deleted_alone() {
    let world = family();
    assert!(world.page("/s/plan-c/change").contains("This would delete 1 session<"));
    located(&world.post("/s/plan-c/delete", "mode=refuse"));
    assert_eq!(world.get("/s/plan-c").status, StatusCode::NOT_FOUND);
}

#[test]
fn a_fork_may_have_a_folder_of_its_own() {
    let world = family();
    let form = "id=tree&label=tree&workspace=%2Fwork%2Fit%27s+%3Cb%3E";
    let page = world.page(located(&world.post("/s/main/fork", form)));
    let codes: Vec<_> = elements(&page)
        .into_iter()
        .filter(|it| matches!(it.get("id"), Some("worktree" | "command")))
        .map(|it| it.text)
        .collect();
    let worktree = r"git -C /work/demo worktree add '/work/it'\''s <b>'";
    assert_eq!(codes, [worktree, "forklore resume tree"]);
    assert!(page.contains("&lt;b&gt;") && !page.contains("s <b>"));
}
