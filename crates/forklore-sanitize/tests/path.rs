//! Tests that containment depends on the resolved path, and not on how the path is written.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use forklore_sanitize::path::{PathError, contained, file_below};

/// Creates the directory `data` with a file, and the sibling directory `data-old`.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("data/deep")).unwrap();
    fs::create_dir(dir.path().join("data-old")).unwrap();
    for file in ["data/deep/a.jsonl", "data-old/b.jsonl"] {
        fs::write(dir.path().join(file), "x").unwrap();
    }
    dir
}

fn is_outside(root: &Path, candidate: impl AsRef<Path>) -> bool {
    matches!(contained(root, candidate.as_ref()), Err(PathError::Outside { .. }))
}

#[test]
fn what_lies_inside_is_resolved() {
    let dir = tree();
    let root = dir.path().join("data");
    let real = root.canonicalize().unwrap();
    let file = real.join("deep/a.jsonl");
    for spelling in ["deep/a.jsonl", "deep/../deep/./a.jsonl", "../data/deep/a.jsonl"] {
        assert_eq!(contained(&root, spelling.as_ref()).unwrap(), file, "{spelling}");
    }
    assert_eq!(contained(&root, &file).unwrap(), file);
    assert_eq!(contained(&root, "".as_ref()).unwrap(), real);
}

#[test]
fn what_lies_elsewhere_is_refused() {
    let dir = tree();
    let root = dir.path().join("data");
    for spelling in ["..", "../data-old/b.jsonl", "deep/../../data-old"] {
        assert!(is_outside(&root, spelling), "{spelling}");
    }
    assert!(is_outside(&root, dir.path().join("data-old/b.jsonl")));
}

#[test]
fn a_missing_path_is_named() {
    let dir = tree();
    let root = dir.path().join("data").canonicalize().unwrap();
    let error = contained(&root, "none.jsonl".as_ref()).unwrap_err();
    let PathError::Unresolved { path, source } = error else { panic!("{error}") };
    assert_eq!(path, root.join("none.jsonl"));
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
}

#[cfg(unix)]
#[test]
fn a_link_counts_as_where_it_leads() {
    use std::os::unix::fs::symlink;
    let dir = tree();
    let root = dir.path().join("data");
    symlink("../data-old/b.jsonl", root.join("file")).unwrap();
    symlink("../data-old", root.join("folder")).unwrap();
    symlink("deep", root.join("inner")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink(&root, dir.path().join("alias")).unwrap();
    assert!(is_outside(&root, "file"));
    assert!(is_outside(&root, "folder/b.jsonl"));
    let file = root.canonicalize().unwrap().join("deep/a.jsonl");
    assert_eq!(contained(&root, "inner/a.jsonl".as_ref()).unwrap(), file);
    assert_eq!(contained(&dir.path().join("alias"), "inner/a.jsonl".as_ref()).unwrap(), file);
    assert!(matches!(contained(&root, "loop".as_ref()), Err(PathError::Unresolved { .. })));
}

#[test]
fn folders_are_made_inside_only() {
    let dir = tree();
    let root = dir.path().join("new");
    let real = dir.path().canonicalize().unwrap().join("new");
    assert_eq!(file_below(&root, "a/b/c.txt".as_ref()).unwrap(), real.join("a/b/c.txt"));
    assert_eq!(file_below(&root, "a/d.txt".as_ref()).unwrap(), real.join("a/d.txt"));
    assert!(real.join("a/b").is_dir() && !real.join("a/b/c.txt").exists());
    for hostile in ["", "..", "../x", "a/../../x", "/etc/x", "a/.."] {
        let refused = file_below(&root, hostile.as_ref());
        assert!(matches!(refused, Err(PathError::Outside { .. })), "{hostile}: {refused:?}");
    }
    fs::write(root.join("file"), "x").unwrap();
    let refused = file_below(&root, "file/x".as_ref()).map(|location| fs::write(location, "y"));
    assert!(!matches!(refused, Ok(Ok(()))), "a file is no folder");
    assert!(file_below(&dir.path().join("no/such"), "x".as_ref()).is_err());
}

#[cfg(unix)]
#[test]
fn a_link_is_no_way_out_for_what_is_made() {
    let dir = tree();
    let root = dir.path().join("data");
    std::os::unix::fs::symlink(dir.path().join("data-old"), root.join("link")).unwrap();
    let refused = file_below(&root, "link/deeper/x".as_ref());
    assert!(matches!(refused, Err(PathError::Outside { .. })), "{refused:?}");
    assert!(!dir.path().join("data-old/deeper").exists());
}
