//! What forklore itself does, none of which is reported.

use super::victim::{ANCHORS, Victim, on_every_store};

on_every_store!(no_command_is_reported, exactly_the_same_is_not_reported);

fn no_command_is_reported(victim: &Victim) {
    victim.seed();
    victim.anchor();
    for line in [
        "append plan --text u6",
        "fork plan --at turn:1 --id early",
        "fork plan --id copy --strategy replay_v1",
        "label branch renamed",
        "rename plan Elsewhere",
        "detach twig",
        "anchor --all --to anchors.jsonl",
        "append copy --text more",
        "delete other",
        "gc",
        "pack",
        "delete branch --detach-children",
        "undelete branch",
        "delete early --erase",
        "gc",
        "op undo",
        "anchor --all --to anchors.jsonl",
        "append plan --text u7",
        "verify",
    ] {
        victim.ok(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(victim.found(&[]), [""; 0], "after {line}");
    }
    let since = ["branch deleted", "early erased", "other deleted", "plan grown"];
    assert_eq!(victim.found(&["--exact"]), since);
}

fn exactly_the_same_is_not_reported(victim: &Victim) {
    victim.seed();
    victim.anchor();
    for line in ["list --all", "log plan", "tree plan", "verify", "gc", "pack", "stats plan"] {
        victim.ok(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(victim.found(&["--exact"]), [""; 0], "after {line}");
    }
    victim.ok(&["rename", "plan", "Elsewhere"]);
    victim.ok(&["delete", "other"]);
    assert_eq!(victim.found(&[]), [""; 0]);
    assert_eq!(victim.found(&["--exact"]), ["other deleted", "plan changed"]);
    std::fs::remove_file(victim.path(ANCHORS)).unwrap();
    victim.anchor();
    assert_eq!(victim.found(&["--exact"]), [""; 0]);
    victim.ok(&["undelete", "other"]);
    assert_eq!(victim.found(&["--exact"]), ["other unanchored"]);
}
