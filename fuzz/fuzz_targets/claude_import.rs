//! Fuzzes session files of Claude Code. Any bytes must be imported without a panic, and restored
//! unchanged except for an incomplete last line.
#![no_main]

use std::path::PathBuf;

use forklore::import::{Importer, ImportOptions, ProblemKind};
use forklore::core::workspace::Workspace;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static SESSION_PATH: (tempfile::TempDir, PathBuf) = {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let dir = dir.expect("a folder");
        let path = dir.path().join("session.jsonl");
        (dir, path)
    };
}

fuzz_target!(|bytes: &[u8]| {
    SESSION_PATH.with(|(_, path)| {
        std::fs::write(path, bytes).expect("a file");
        let engine = forklore_fuzz::engine();
        let options = ImportOptions::in_workspace(Workspace::new("/fuzz"));
        let options = ImportOptions { from: Some("claude".into()), ..options };
        let report = Importer::new(&engine).import(&[path.clone()], &options, &mut |_| {}).expect("a report");
        let Some(session) = report.sessions.first() else { return };
        let mut restored = Vec::new();
        engine.restore(&session.session_id, &mut restored).expect("the file");
        let waits = report.problems.iter().find(|one| one.kind == ProblemKind::Incomplete);
        let end = waits.and_then(|waits| waits.offset).map_or(bytes.len() as u64, |end| end);
        assert_eq!(restored, bytes[..usize::try_from(end).expect("a place")]);
        for session in &report.sessions {
            let replayed = engine.replay(&session.session_id, None).expect("a replay");
            assert!(replayed.collect::<Vec<_>>().iter().all(Result::is_ok));
            engine.inspect(&session.session_id).expect("a request");
        }
        assert_eq!(engine.verify(None).expect("a check").problems, []);
    });
});
