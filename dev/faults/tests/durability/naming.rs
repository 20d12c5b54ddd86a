//! Tests that one process can import files that reference attachments while another process
//! collects unreferenced attachments.

use std::path::Path;

use forklore_faults::kind::Kind;
use forklore_faults::naming::file;
use forklore_faults::process::{Process, Task};
use forklore_faults::soak::times;
use forklore_faults::test_folder::TestFolder;

use crate::world::for_each_store;

const FILES: u64 = 12;

for_each_store!(a_collection_takes_nothing_that_an_import_is_about_to_name);

fn a_collection_takes_nothing_that_an_import_is_about_to_name(kind: Kind) {
    let location = TestFolder::in_memory(kind);
    let opened = location.open();
    let files = times(FILES);
    let retain = |number: u64| {
        let bytes = format!("attachment {number}");
        // The pin is dropped at once, as if its owner was killed before it wrote the reference.
        opened.engine.put_attachment(&mut bytes.as_bytes(), 100).unwrap().id
    };
    for number in 0..files {
        let text = format!(
            r#"{{"role":"user","content":"look at {number}","seen":"{}"}}"#,
            retain(number)
        );
        std::fs::write(file(location.path(), number), text + "\n").unwrap();
    }
    let task = Task {
        work: "name attachments".into(),
        kind,
        store: location.store_dir(),
        name: "import".into(),
        seed: 0,
        calls: files,
        file: Some(location.path().to_owned()),
    };
    let program = Path::new(env!("CARGO_BIN_EXE_forklore-faults"));
    let mut process = Process::start(program, &task);
    assert_eq!(process.received::<String>().as_deref(), Some("ready"));
    opened.engine.gc().unwrap();
    for number in 0..files {
        let id = retain(number);
        process.go();
        let mut waited = 0;
        while process.received::<String>().expect("a process at work") == "about to write" {
            assert_eq!(opened.engine.gc().unwrap().attachments, 0, "of file {number}");
            waited += 1;
            process.go();
        }
        assert_eq!((waited > 0, opened.engine.gc().unwrap().attachments), (true, 0));
        let mut bytes = Vec::new();
        opened.engine.read_attachment(&id, &mut bytes).unwrap();
        assert_eq!(bytes, format!("attachment {number}").as_bytes());
    }
    process.go();
    assert!(process.ended::<String>().0.success());
    assert_eq!(opened.engine.verify(None).unwrap().problems, []);
}
