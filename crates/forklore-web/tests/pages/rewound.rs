//! Tests of the files of a session: which changed at a turn, and the way back to them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use forklore_engine::Engine;
use forklore_sqlite::{Options, SqliteStore};
use forklore_web::{Files, Pages};
use forklore_workspace::WorkspaceFiles;
use tempfile::TempDir;

use crate::parsed::{elements, nodes, outline};
use crate::world::{Answer, World};

/// What the server and its caller may do.
#[derive(Clone, Copy)]
struct May {
    chat: bool,
    write: bool,
}

const ALL: May = May { chat: true, write: true };

/// A session with a folder, in a store on the disk.
struct Scene {
    world: World,
    files: WorkspaceFiles,
    folder: TempDir,
}

impl Scene {
    fn new(may: May) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db"), Options::default()).unwrap();
        let open = || WorkspaceFiles::open(&folder.path().join("snapshots"), Vec::new());
        let files = Files::new(open());
        let pages = |pages| Pages { files: Some(files), has_chat: may.chat, ..pages };
        let world = World::with(Engine::new(Arc::new(store)), pages, may.write);
        let files = open();
        let scene = Self { world, files, folder };
        let project = scene.project();
        scene.world.create_in("main", Some("Plan"), project.to_str().unwrap());
        scene
    }

    /// Two turns: the first one changes a file and adds one, the second one removes one.
    fn with_turns(may: May) -> Self {
        let scene = Self::new(may);
        scene.write("a.txt", "one\n");
        scene.write("same.txt", "same\n");
        scene.turn("first", |scene| {
            scene.write("a.txt", "two\n");
            scene.write("b.txt", "new\n");
        });
        scene.turn("second", |scene| fs::remove_file(scene.project().join("a.txt")).unwrap());
        scene
    }

    fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project")
    }

    fn write(&self, path: impl AsRef<OsStr>, text: impl AsRef<[u8]>) {
        fs::write(self.project().join(path.as_ref()), text).unwrap();
    }

    /// Returns the names and contents of the files.
    fn state(&self) -> Vec<(String, String)> {
        let files = fs::read_dir(self.project()).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> = files
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                (name, fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    /// Appends a turn that changes files, with snapshots before and after.
    fn turn(&self, text: &str, change: impl FnOnce(&Self)) {
        self.record();
        self.world.user("main", text);
        change(self);
        self.world.says("main", &serde_json::json!([{"type": "text", "text": "Done."}]));
        self.record();
    }

    fn record(&self) {
        let header = self.world.engine.show(&"main".parse().unwrap()).unwrap();
        self.files.snapshot(&self.world.engine, &header, &self.project()).unwrap();
    }

    /// Returns a page without what differs in each run.
    fn outline(&self, page: &str) -> String {
        outline(page).replace(self.project().to_str().unwrap(), "/project")
    }
}

fn located(answer: &Answer) -> String {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    answer.header(header::LOCATION).to_owned()
}

fn file(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

/// Returns the texts and addresses of the links that say how files changed.
fn badges(page: &str) -> Vec<(String, String)> {
    let badges = elements(page).into_iter().filter(|it| it.get("class") == Some("badge"));
    badges.map(|it| (it.text.clone(), it.get("href").unwrap_or_default().to_owned())).collect()
}

/// The form that goes back to the end of the first turn.
const TO_FIRST: &str = "at=turn%3A1&scope=both&id=form-1";

#[test]
fn an_entry_says_how_many_files_changed() {
    let scene = Scene::with_turns(ALL);
    let page = scene.world.page("/s/main");
    let texts: Vec<_> = badges(&page);
    assert_eq!(
        texts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(),
        ["2 files changed", "1 file changed"]
    );
    let shown = scene.world.page(&texts[0].1);
    insta::assert_snapshot!("files", scene.outline(&shown));
    // A page that begins later knows the state before it.
    let last = scene.world.engine.show(&"main".parse().unwrap()).unwrap().head_seq();
    let later = scene.world.page(&format!("/s/main?from={}", last - 2));
    assert_eq!(
        badges(&later).iter().map(|it| it.0.as_str()).collect::<Vec<_>>(),
        ["1 file changed"]
    );
}

#[test]
fn the_folder_is_compared_with_a_recorded_state() {
    let scene = Scene::with_turns(ALL);
    let address = badges(&scene.world.page("/s/main"))[0].1.clone();
    let at = address.rsplit('=').next().unwrap();
    scene.write("b.txt", "newer\n");
    let now = scene.world.post("/s/main/files", &format!("at={at}"));
    assert_eq!(now.status, StatusCode::OK, "{}", now.text());
    let lines: Vec<_> = elements(&now.text())
        .into_iter()
        .filter(|it| it.name == "ins" || it.name == "del")
        .map(|it| it.text)
        .collect();
    assert_eq!(lines, ["-two", "-new", "+newer"]);
    // Only where files may be changed, and only by whoever may write.
    let reader = Scene::with_turns(May { chat: true, write: false });
    assert_eq!(reader.world.post("/s/main/files", "").status, StatusCode::FORBIDDEN);
    let page = reader.world.page("/s/main/files");
    assert!(page.contains("a.txt") && !page.contains("<del>"), "{page}");
    let shown = Scene::with_turns(May { chat: false, write: true });
    assert_eq!(shown.world.post("/s/main/files", "").status, StatusCode::FORBIDDEN);
    assert!(shown.world.page("/s/main/files").contains("<del>"));
}

#[test]
fn a_rewind_shows_first_what_changes_and_is_undone_and_redone() {
    let scene = Scene::with_turns(ALL);
    scene.write("mine.txt", "mine\n");
    let before = scene.state();
    let second_prompt = elements(&scene.world.page("/s/main"))
        .into_iter()
        .filter(|it| it.get("data-dialog") == Some("rewind"))
        .filter_map(|it| it.get("href").map(str::to_owned))
        .nth(2)
        .unwrap();
    insta::assert_snapshot!("rewind", scene.outline(&scene.world.page(&second_prompt)));
    let plan = scene.world.post("/s/main/rewind/plan", TO_FIRST).text();
    insta::assert_snapshot!("rewind_planned", scene.outline(&without_id(&plan)));
    let part = scene.world.post("/fragments/rewind/main", TO_FIRST).text();
    assert!(without_id(&plan).contains(&without_id(&part)), "{part}");
    assert_eq!(scene.state(), before);

    let done = located(&scene.world.post("/s/main/rewind", TO_FIRST));
    let then = [file("a.txt", "two\n"), file("b.txt", "new\n"), file("same.txt", "same\n")];
    assert_eq!(scene.state(), then);
    // A form that is sent twice does it once.
    assert_eq!(located(&scene.world.post("/s/main/rewind", TO_FIRST)), done);
    let header = scene.world.engine.show(&"main".parse().unwrap()).unwrap();
    assert_eq!(header.counts.turns, 2);
    let fork = done.split(['/', '?']).nth(2).unwrap().to_owned();
    let header = scene.world.engine.show(&fork.parse().unwrap()).unwrap();
    assert_eq!(header.cut.unwrap().turn, Some(1));
    let page = scene.world.page(&done);
    assert!(page.contains("Rewound.") && page.contains("1 file written"), "{page}");
    assert!(page.contains("1 file removed"), "{page}");

    let undone = scene.world.post(&format!("/s/{fork}/rewind/undo"), "number=1");
    assert_eq!(located(&undone), "/s/main?at=end&undone=2");
    assert_eq!(scene.state(), before);
    assert_eq!(scene.world.get(&format!("/s/{fork}")).status, StatusCode::NOT_FOUND);
    assert!(scene.world.page("/s/main?at=end&undone=2").contains("Redo"));
    let again = scene.world.post("/s/main/rewind/undo", "number=1");
    assert_eq!(located(&again), "/s/main?at=end&undone=2");
    assert_eq!(scene.state(), before);
    let redone = scene.world.post("/s/main/rewind/undo", "number=2");
    assert_eq!(located(&redone), format!("/s/{fork}?at=end&undone=3"));
    assert_eq!(scene.state(), then);
}

/// Removes the id of the form, which is new on each page.
fn without_id(page: &str) -> String {
    let Some((head, rest)) = page.split_once("name=\"id\" value=\"") else {
        return page.to_owned();
    };
    let (_, tail) = rest.split_once('"').unwrap();
    format!("{head}name=\"id\" value=\"\"{tail}")
}

#[test]
fn files_or_conversation_go_back_alone() {
    let scene = Scene::with_turns(ALL);
    let before = scene.state();
    let done = located(&scene.world.post("/s/main/rewind", "at=turn%3A1&scope=files&id=f"));
    assert_eq!(done, "/s/main?at=end&rewound=1");
    assert_ne!(scene.state(), before);
    located(&scene.world.post("/s/main/rewind/undo", "number=1"));
    let done = located(&scene.world.post("/s/main/rewind", "at=turn%3A1&scope=conversation&id=c"));
    assert!(!done.starts_with("/s/main"), "{done}");
    assert_eq!(scene.state(), before);
    // What the form says must make sense.
    for form in ["", "at=turn%3A1", "at=x&scope=both", "at=turn%3A1&scope=all"] {
        assert_eq!(scene.world.post("/s/main/rewind", form).status, StatusCode::BAD_REQUEST);
        assert_eq!(scene.world.post("/s/main/rewind/plan", form).status, StatusCode::BAD_REQUEST);
    }
    let missing = scene.world.post("/s/main/rewind/plan", "at=start&scope=files").text();
    assert!(missing.contains("would be"), "{missing}");
    assert_eq!(scene.state(), before);
}

#[test]
fn a_state_that_nobody_recorded_is_no_way_back() {
    let scene = Scene::new(ALL);
    scene.world.user("main", "hello");
    let plan = scene.world.post("/s/main/rewind/plan", "at=end&scope=both");
    assert!(plan.text().contains("No files were recorded there"), "{}", plan.text());
    assert_eq!(scene.world.post("/s/main/rewind", "at=end&scope=both").status, 404);
    assert_eq!(scene.world.get("/s/main/files").status, StatusCode::NOT_FOUND);
    assert_eq!(scene.world.get("/s/none/files").status, StatusCode::NOT_FOUND);
    assert_eq!(scene.world.get("/s/main/files?at=x").status, StatusCode::BAD_REQUEST);
    assert!(badges(&scene.world.page("/s/main")).is_empty());
}

#[test]
fn without_chat_or_rights_the_command_is_shown_and_nothing_changes() {
    for may in [May { chat: false, write: true }, May { chat: true, write: false }] {
        let scene = Scene::with_turns(may);
        let before = scene.state();
        let plan = scene.world.post("/s/main/rewind/plan", TO_FIRST).text();
        let code: Vec<_> = elements(&plan)
            .into_iter()
            .filter(|it| it.get("id").is_some_and(|id| id.starts_with("rewind-turn")))
            .map(|it| it.text)
            .collect();
        assert_eq!(code, ["forklore rewind main --at turn:1"]);
        for (address, form) in [("/s/main/rewind", TO_FIRST), ("/s/main/rewind/undo", "number=1")] {
            assert_eq!(scene.world.post(address, form).status, StatusCode::FORBIDDEN, "{address}");
        }
        assert_eq!(scene.state(), before);
        let alone = "at=turn%3A1&scope=conversation&id=alone";
        let done = scene.world.post("/s/main/rewind", alone);
        match may.write {
            true => assert_eq!(located(&done), "/s/alone?at=end&rewound=0"),
            false => assert_eq!(done.status, StatusCode::FORBIDDEN),
        }
        if may.write {
            assert!(scene.world.page("/s/alone?at=end&rewound=0").contains("/s/alone/delete"));
        }
    }
}

#[test]
fn a_folder_that_is_gone_is_not_made() {
    let scene = Scene::with_turns(ALL);
    fs::remove_dir_all(scene.project()).unwrap();
    let plan = scene.world.post("/s/main/rewind/plan", TO_FIRST).text();
    assert!(plan.contains("is not on the machine of this server"), "{plan}");
    assert_eq!(scene.world.post("/s/main/rewind", TO_FIRST).status, StatusCode::FORBIDDEN);
    assert!(!scene.project().exists());
    assert!(scene.world.page("/s/main/files").contains("a.txt"));
}

#[test]
fn hard_links_are_left_alone_and_named_before() {
    let scene = Scene::with_turns(ALL);
    fs::hard_link(scene.project().join("b.txt"), scene.folder.path().join("other")).unwrap();
    scene.write("b.txt", "linked\n");
    let plan = scene.world.post("/s/main/rewind/plan", TO_FIRST).text();
    assert!(plan.contains("1 file would be left alone") && plan.contains("hard link"), "{plan}");
    let done = located(&scene.world.post("/s/main/rewind", TO_FIRST));
    let page = scene.world.page(&done);
    assert!(page.contains("1 file left alone") && page.contains("1 file written"), "{page}");
}

#[test]
fn names_and_lines_of_files_stay_text() {
    let scene = Scene::new(ALL);
    scene.write("plain", "x\n");
    let name = OsStr::from_bytes(b"<img src=x onerror=alert(1)>\xff\x1b[2J\"'");
    scene.turn("first", |scene| scene.write(name, "<script>alert(1)</script>\n</pre><b>\n"));
    for page in [
        scene.world.page("/s/main/files"),
        scene.world.post("/s/main/files", "at=0").text(),
        scene.world.post("/s/main/rewind/plan", "at=start&scope=files").text(),
    ] {
        let found = elements(&page);
        let own = |name: &str| found.iter().filter(|it| it.name == name).count();
        assert_eq!((own("img"), own("b")), (0, 0), "{page}");
        assert!(found.iter().all(|it| it.name != "script" || it.text.is_empty()), "{page}");
        assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;\u{fffd}"), "{page}");
        assert!(!page.contains('\u{1b}'));
    }
}

#[test]
fn what_is_too_much_is_left_out_and_counted() {
    let scene = Scene::new(ALL);
    scene.write("plain", "x\n");
    scene.turn("first", |scene| {
        for number in 0..300 {
            scene.write(format!("f{number:03}"), "line\n".repeat(20));
        }
        scene.write("a-long", "line\n".repeat(5_000));
        scene.write("a-wide", format!("{}\n", "x".repeat(400_000)));
        scene.write("a-binary", [0_u8; 100]);
    });
    let page = scene.world.page("/s/main/files");
    assert!(page.len() < 300_000, "{}", page.len());
    for part in ["303 files", "203 more files left out", "801 more lines", "more</ins>", "(binary)"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(nodes(&page) < 3_000, "{}", nodes(&page));
}

#[test]
fn a_fork_gets_a_folder_with_the_files_of_its_position() {
    let scene = Scene::with_turns(ALL);
    let box_of = |page: String| page.contains("name=\"worktree\"");
    assert!(box_of(scene.world.page("/s/main/fork")));
    let form = "at=turn%3A1&label=plan-b&agent=forklore&id=new-one&worktree=yes";
    let first = scene.world.post("/s/main/fork", form);
    assert_eq!(located(&first), "/s/new-one?at=end&forked=forklore");
    // A form that is sent twice makes one folder.
    assert_eq!(located(&scene.world.post("/s/main/fork", form)), located(&first));
    let folder = scene.project().with_file_name("project.worktrees").join("plan-b");
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "two\n");
    assert!(!scene.project().join("a.txt").exists());
    assert_eq!(scene.files.worktrees().unwrap().len(), 1);
    let page = scene.world.page(&located(&first));
    assert!(page.contains(folder.to_str().unwrap()), "{page}");
    assert!(!page.contains("worktree add"), "{page}");

    // What cannot be a folder is the mistake of who named it.
    for name in ["/dev/null/x", "C%3A%5Cx", &format!("/{}", "x".repeat(300)), "/a%00b"] {
        let form = format!("at=end&worktree=yes&workspace={name}");
        let refused = scene.world.post("/s/main/fork", &form);
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{name}: {}", refused.text());
    }
    fs::write(scene.project().with_file_name("project.worktrees").join("plan-c"), "").unwrap();
    let form = "at=end&label=plan-c&worktree=yes&id=other";
    located(&scene.world.post("/s/main/fork", form));
    let folder = scene.project().with_file_name("project.worktrees").join("plan-c-2");
    assert!(folder.is_dir());

    for may in [May { chat: false, ..ALL }, May { write: false, ..ALL }] {
        let scene = Scene::with_turns(may);
        assert!(!box_of(scene.world.page("/s/main/fork")));
        let refused = scene.world.post("/s/main/fork", "at=end&id=new-one&worktree=yes");
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        assert!(scene.files.worktrees().unwrap().is_empty());
    }
}
