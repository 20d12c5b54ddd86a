//! Exports forks to ak-coder, Amplifier and Pixir, which must see whose forks they are.

use std::fs;
use std::path::Path;

use forklore_core::{Selector, SessionId};
use forklore_engine::{Bring, Fork, NewEvent, Summarize};

use super::installed::Installed;
use super::{akcoder_reader, amplifier_reader, pixir_reader};
use crate::files::testdata;
use crate::scene::Scene;

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

fn fork(scene: &Scene, of: &SessionId, at: Selector) -> SessionId {
    scene.engine.fork(&Fork::of(of.clone()).at(at)).unwrap().child_session_id
}

/// Copies the files of a folder, and those in its folders.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn forks_of_forks_belong_to_the_root_of_pixirs_cache() {
    const ROOT: &str = "20260302T090000-a1b2c3";
    const FORK: &str = "20260302T093000-d4e5f6";
    let (scene, installed) = (Scene::new(), Installed::new());
    copy(&testdata().join("pixir/.pixir"), &installed.workspace().join(".pixir"));
    let sessions = installed.workspace().join(".pixir/sessions");
    scene.import(&sessions);

    // The part that Pixir's own fork replayed, and its summary and messages.
    let own = pixir_reader::load(&sessions.join(format!("{FORK}.ndjson")));
    assert_eq!(pixir_reader::fork_root(&own), ROOT);
    let path = installed.write(&scene, &fork(&scene, &id(FORK), Selector::End), "pixir", None);
    let events = pixir_reader::load(&path);
    let lineage = pixir_reader::lineage(&events).unwrap();
    assert_eq!(
        (&lineage["parent_session_id"], &lineage["forked_to_seq"]),
        (&FORK.into(), &11.into())
    );
    assert_eq!((&lineage["from_seq"], &lineage["replay_event_count"]), (&1.into(), &11.into()));
    assert_eq!((events.len(), pixir_reader::fork_root(&events)), (12, ROOT.into()));

    // What is exported can be exported again: the parent is then the export, although the records
    // were first written to the root. The root remains, and so do the resources.
    scene.import(&path);
    let child = fork(&scene, &id(&events[0].session_id), Selector::Turn(1));
    let path = installed.write(&scene, &child, "pixir", None);
    let nested = pixir_reader::load(&path);
    let lineage = pixir_reader::lineage(&nested).unwrap();
    assert_eq!(lineage["parent_session_id"], events[0].session_id);
    assert_eq!(pixir_reader::fork_root(&nested), ROOT);
    assert_eq!(pixir_reader::forks(&sessions, &events[0].session_id), [&*nested[0].session_id]);
    assert_eq!(pixir_reader::forks(&sessions, FORK), [&*events[0].session_id]);
    assert_eq!(pixir_reader::forks(&sessions, ROOT), [FORK]);
}

#[test]
fn a_fork_names_the_last_event_that_pixir_replays() {
    const ROOT: &str = "20260302T090000-a1b2c3";
    let scene = Scene::new();
    scene.import(&testdata().join("pixir/.pixir"));
    // The usage (6) and the failure (11) of the root belong to the root.
    for (cut, to, count) in [(5, 5, 6), (6, 5, 6), (7, 7, 7), (11, 10, 10)] {
        let installed = Installed::new();
        let at = Some(Selector::Seq(cut));
        let events = pixir_reader::load(&installed.write(&scene, &id(ROOT), "pixir", at));
        let lineage = pixir_reader::lineage(&events).unwrap();
        let named = (lineage["forked_to_seq"].as_u64(), lineage["replay_event_count"].as_u64());
        assert_eq!((named, events.len()), ((Some(to), Some(count)), 1 + count as usize), "{cut}");
        let workspace = installed.workspace();
        assert_eq!(lineage["child_workspace"], workspace.to_str().unwrap());
    }
}

#[test]
fn the_summary_of_a_fork_is_pixirs_own() {
    const ROOT: &str = "20260302T090000-a1b2c3";
    let (scene, installed) = (Scene::new(), Installed::new());
    scene.import(&testdata().join("pixir/.pixir"));
    // A cut behind a call, which gets a result first.
    let fork = Fork::of(id(ROOT)).at(Selector::Seq(9));
    let fork = Fork { summarize: Some(Summarize::Deterministic), ..fork };
    let child = scene.engine.fork(&fork).unwrap().child_session_id;
    scene.engine.append(&child, &NewEvent::user("go on").unwrap().into()).unwrap();
    let events = pixir_reader::load(&installed.write(&scene, &child, "pixir", None));
    let [.., call, result, summary, question] = &events[..] else { panic!("{events:?}") };
    let kinds = [call, result, summary, question].map(|event| &*event.r#type);
    assert_eq!(kinds, ["tool_call", "tool_result", "branch_summary", "user_message"]);
    let summary = summary.value();
    assert_eq!(
        (&summary["parent_session_id"], &summary["forked_to_seq"]),
        (&ROOT.into(), &9.into())
    );
    assert_eq!(summary["range"], serde_json::json!({"from_seq": 0, "to_seq": 9}));
    assert_eq!(summary["files_touched"], serde_json::json!(["basket.ex"]));
    assert!(summary["summary"].as_str().unwrap().contains("Run the tests."), "{summary}");

    // What was brought from another branch is what a user could have typed.
    scene.engine.bring(&Bring::new(child, id(ROOT))).unwrap();
    let events = pixir_reader::load(&installed.write(&scene, &id(ROOT), "pixir", None));
    assert_eq!(events.last().unwrap().r#type, "user_message");
}

#[test]
fn forks_for_amplifier_have_their_ancestors() {
    const ROOT: &str = "1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b";
    const FORK: &str = "7d1f0a52-6a0e-4c0b-9a57-2f5f5b1f9c11";
    let (scene, installed) = (Scene::new(), Installed::new());
    let (home, workspace) = (installed.home(), installed.workspace());
    let sessions = amplifier_reader::sessions(&home, &workspace);
    copy(&testdata().join("amplifier/projects/-home-dev-shop/sessions"), &sessions);
    scene.import(&sessions);
    for (parent, ancestors) in [(ROOT, &[ROOT][..]), (FORK, &[FORK, ROOT])] {
        let child = fork(&scene, &id(parent), Selector::End);
        let path = installed.write(&scene, &child, "amplifier", None);
        let new = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        assert!(amplifier_reader::list(&sessions).contains(&new.to_owned()));
        let session = amplifier_reader::load(&sessions, new, &workspace);
        assert_eq!(amplifier_reader::ancestors(&sessions, &session), ancestors, "{parent}");
        assert_eq!(session.metadata["bundle"], "bundle:foundation");
        assert_eq!(session.metadata["model"], "claude-sonnet-4-5");
    }
}

#[test]
fn forks_for_ak_coder_are_named_after_their_originals() {
    const FORK: &str = "fork-session-1772442000000-1772442060000";
    // A fork that says nothing which its original does not.
    const NESTED: &str = "fork-fork-session-1772442000000-1772442060000-1772442120000";
    let scene = Scene::new();
    scene.import(&testdata().join("ak-coder/history"));
    for original in ["session-1772442000000", FORK, NESTED, "pipe-1772442180000"] {
        let installed = Installed::new();
        let history = akcoder_reader::history(&installed.home(), &installed.workspace());
        let whole = fork(&scene, &id(original), Selector::End);
        installed.write(&scene, &whole, "ak-coder", None);
        let [name] = &akcoder_reader::list(&history)[..] else { panic!("{history:?}") };
        let millis = name.strip_prefix(&format!("fork-{original}-")).unwrap();
        assert!(millis.len() == 13 && millis.bytes().all(|byte| byte.is_ascii_digit()), "{name}");
        assert!(!akcoder_reader::load(&history, name).is_empty());
    }
}
