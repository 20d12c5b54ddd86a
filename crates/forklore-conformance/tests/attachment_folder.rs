//! Tests of attachments that are stored as files in a directory: changes by other programs, and
//! file permissions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test")]

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use forklore_conformance::race::race;
use forklore_core::{AttachmentId, ErrorKind};
use forklore_store::attachments::{AttachmentFolder, Attachments, Pin, Swept, check};
use tempfile::TempDir;

struct Scratch {
    dir: TempDir,
    folder: AttachmentFolder,
}

fn scratch() -> Scratch {
    let dir = tempfile::tempdir().unwrap();
    let folder = AttachmentFolder::at(dir.path().join("attachments"), false);
    Scratch { dir, folder }
}

impl Scratch {
    fn put(&self, mut bytes: &[u8]) -> Pin {
        self.folder.put(&mut bytes, 1 << 20).unwrap()
    }

    fn file(&self, id: &AttachmentId) -> PathBuf {
        let hex = id.hex();
        self.dir.path().join("attachments").join(&hex[..2]).join(&hex[2..])
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn files_are_their_owners_alone() {
    let scratch = scratch();
    let file = scratch.file(&scratch.put(b"private").id);
    let folder = file.parent().unwrap();
    assert_eq!((mode(&file), mode(folder)), (0o600, 0o700));
    assert_eq!(mode(folder.parent().unwrap()), 0o700);
}

#[test]
fn a_damaged_attachment_is_reported_and_healed_by_the_same_bytes() {
    let scratch = scratch();
    let id = scratch.put(b"sound").id;
    for damage in [&b"SOUND"[..], b"soun", b"sound.", b""] {
        fs::write(scratch.file(&id), damage).unwrap();
        let problem = check(&scratch.folder, &id).unwrap_err();
        assert_eq!(problem.kind(), ErrorKind::Corrupt, "{problem}");
        assert_eq!(scratch.folder.list().unwrap()[0].bytes, damage.len() as u64);
        assert!(scratch.put(b"sound").new);
        assert_eq!(check(&scratch.folder, &id).unwrap(), Some(5));
    }
    let left = fs::read_dir(scratch.folder.path()).unwrap().count();
    assert_eq!(left, 1, "unfinished files are left");
}

#[test]
fn two_who_heal_the_same_one_both_hold_it() {
    let scratch = scratch();
    for _ in 0..30 {
        let id = scratch.put(b"sound").id;
        fs::write(scratch.file(&id), b"?").unwrap();
        let (first, second) = race(|| scratch.put(b"sound"), || scratch.put(b"sound"));
        assert!(first.new != second.new);
        let swept = || scratch.folder.sweep(&scratch.folder.list().unwrap()).unwrap().attachments;
        let (new, other) = if first.new { (first, second) } else { (second, first) };
        drop(new);
        assert_eq!(swept(), 0);
        drop(other);
        assert_eq!(swept(), 1);
    }
}

#[test]
fn what_is_no_file_is_never_followed_or_removed() {
    let scratch = scratch();
    let outside = scratch.dir.path().join("outside");
    fs::write(&outside, b"linked").unwrap();
    let id = scratch.put(b"linked").id;
    let file = scratch.file(&id);
    for make in [
        |file: &Path, outside: &Path| symlink(outside, file).unwrap(),
        |file: &Path, _: &Path| fs::create_dir(file).unwrap(),
        |file: &Path, _: &Path| {
            let made = std::process::Command::new("mkfifo").arg(file).status();
            assert!(made.unwrap().success());
        },
    ] {
        fs::remove_file(&file).or_else(|_| fs::remove_dir(&file)).unwrap();
        make(&file, &outside);
        let kinds = [
            scratch.folder.open(&id).map(|_| ()).unwrap_err().kind(),
            scratch.folder.find(&id).unwrap_err().kind(),
            scratch.folder.pin(&id).unwrap_err().kind(),
            scratch.folder.put(&mut &b"linked"[..], 10).unwrap_err().kind(),
        ];
        assert_eq!(kinds, [ErrorKind::Corrupt; 4]);
        assert_eq!(scratch.folder.list().unwrap(), []);
        assert_eq!(scratch.folder.sweep(&[]).unwrap(), Swept::default());
        assert!(file.symlink_metadata().is_ok());
    }
    assert_eq!(fs::read(&outside).unwrap(), b"linked");
}

#[test]
fn names_of_others_are_left_alone() {
    let scratch = scratch();
    let pin = scratch.put(b"ours");
    let root = scratch.folder.path();
    let folder = scratch.file(&pin.id).parent().unwrap().to_owned();
    for name in ["note.txt", "zz"] {
        fs::write(root.join(name), b"theirs").unwrap();
        fs::write(folder.join(name), b"theirs").unwrap();
    }
    assert_eq!(scratch.folder.list().unwrap().len(), 1);
    scratch.folder.sweep(&scratch.folder.list().unwrap()).unwrap();
    assert_eq!(fs::read(folder.join("note.txt")).unwrap(), b"theirs");
    assert_eq!(fs::read(root.join("zz")).unwrap(), b"theirs");
}

#[test]
fn one_to_read_only_writes_nothing() {
    let scratch = scratch();
    let id = scratch.put(b"there").id;
    let reading = AttachmentFolder::at(scratch.folder.path().to_owned(), true);
    let mut bytes = Vec::new();
    reading.open(&id).unwrap().unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"there");
    let refused = [
        reading.put(&mut &b"more"[..], 10).unwrap_err().kind(),
        reading.pin(&id).unwrap_err().kind(),
        reading.sweep(&reading.list().unwrap()).unwrap_err().kind(),
    ];
    assert_eq!(refused, [ErrorKind::PermissionDenied; 3]);
}

#[test]
fn a_folder_that_everybody_may_write_is_refused() {
    let scratch = scratch();
    let root = scratch.folder.path();
    fs::create_dir(root).unwrap();
    fs::set_permissions(root, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = scratch.folder.put(&mut &b"x"[..], 10).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
    fs::remove_dir(root).unwrap();
    symlink(scratch.dir.path(), root).unwrap();
    let refused = scratch.folder.put(&mut &b"x"[..], 10).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}
