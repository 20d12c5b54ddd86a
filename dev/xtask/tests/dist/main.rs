//! Tests what `cargo xtask dist` puts into its packages. `cargo xtask dist --try`, which
//! `cargo xtask soak` runs, installs them in a bare Debian.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the output of a command that must succeed.
fn output(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Returns the program as the tests of this run built it, or else builds it.
fn forklore() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("forklore");
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        output(Command::new(cargo).args(["build", "--locked", "-p", "forklore-cli"]));
    }
    program
}

/// Creates a folder with a small program to package, a script that calls the real one.
fn with_a_program() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("forklore");
    fs::write(&script, format!("#!/bin/sh\nexec '{}' \"$@\"\n", forklore().display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    (folder, script)
}

/// Packages the program, and returns the paths of the archive, the Debian package and the checksums.
fn packaged(program: &Path, out: &Path, time: &str) -> [PathBuf; 3] {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["dist", "--only-program", "--program"]).arg(program).arg("--out").arg(out);
    let printed = output(command.env("SOURCE_DATE_EPOCH", time));
    let files: Vec<_> = printed.lines().map(PathBuf::from).collect();
    let [archive, package] = files.try_into().unwrap();
    [archive, package, out.join("SHA256SUMS")]
}

/// Returns the lines of a listing as `PERMISSIONS OWNER NAME`, without folders.
fn entries(listing: &str) -> BTreeSet<String> {
    let files = listing.lines().filter(|line| !line.starts_with('d'));
    let entry = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[3..5], ["2026-01-02", "03:04"], "{line}");
        format!("{} {} {}", words[0], words[1], words[5])
    };
    files.map(entry).collect()
}

/// 2026-01-02 03:04:05 UTC.
const TIME: &str = "1767323045";

fn pages(folder: &Path) -> Vec<String> {
    output(Command::new(forklore()).args(["--quiet", "man", "--out"]).arg(folder));
    let pages = fs::read_dir(folder).unwrap();
    pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_archive_has_the_program_its_pages_completions_and_licences() {
    let (folder, program) = with_a_program();
    let [archive, _, sums] = packaged(&program, &folder.path().join("out"), TIME);
    let list = ["--list", "--verbose", "--numeric-owner", "--file"];
    let listing = output(Command::new("tar").env("TZ", "UTC").args(list).arg(&archive));
    let name = archive.file_name().unwrap().to_str().unwrap().strip_suffix(".tar.gz").unwrap();
    assert!(name.starts_with(&format!("forklore-{VERSION}-")), "{name}");
    let texts =
        ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "LICENSES-OF-CRATES.txt", "README.md"];
    let texts = texts.map(str::to_owned);
    let scripts =
        ["_forklore", "forklore", "forklore.fish"].map(|name| format!("completions/{name}"));
    let pages =
        pages(&folder.path().join("man1")).into_iter().map(|page| format!("man/man1/{page}"));
    let files = texts.into_iter().chain(scripts).chain(pages);
    let mut expected: BTreeSet<_> =
        files.map(|file| format!("-rw-r--r-- 0/0 {name}/{file}")).collect();
    expected.insert(format!("-rwxr-xr-x 0/0 {name}/forklore"));
    assert_eq!(entries(&listing), expected);

    let checked = output(
        Command::new("sha256sum").arg("--check").arg(&sums).current_dir(folder.path().join("out")),
    );
    assert_eq!(checked.lines().filter(|line| line.ends_with(": OK")).count(), 2, "{checked}");
}

#[test]
fn the_debian_package_installs_them_where_debian_looks() {
    let (folder, program) = with_a_program();
    let [_, package, _] = packaged(&program, &folder.path().join("out"), TIME);
    let listing = output(Command::new("dpkg-deb").env("TZ", "UTC").arg("--contents").arg(&package));
    let files = [
        "bash-completion/completions/forklore",
        "doc/forklore/CHANGELOG.md",
        "doc/forklore/LICENSE-APACHE",
        "doc/forklore/LICENSE-MIT",
        "doc/forklore/LICENSES-OF-CRATES.txt",
        "doc/forklore/README.md",
        "doc/forklore/copyright",
        "fish/vendor_completions.d/forklore.fish",
        "zsh/vendor-completions/_forklore",
    ];
    let files = files.iter().map(|file| format!("share/{file}"));
    let units = ["system", "user"].map(|kind| format!("lib/systemd/{kind}/forklore.service"));
    let pages = pages(&folder.path().join("man1")).into_iter();
    let pages = pages.map(|page| format!("share/man/man1/{page}.gz"));
    let mut expected: BTreeSet<_> = files
        .chain(units)
        .chain(pages)
        .map(|file| format!("-rw-r--r-- root/root ./usr/{file}"))
        .collect();
    expected.insert("-rwxr-xr-x root/root ./usr/bin/forklore".to_owned());
    assert_eq!(entries(&listing), expected);

    let fields = ["Package", "Version", "Depends", "Recommends"];
    let printed = output(Command::new("dpkg-deb").arg("--field").arg(&package).args(fields));
    let expected = format!(
        "Package: forklore\nVersion: {VERSION}-1\nDepends: libc6\nRecommends: ca-certificates\n"
    );
    assert_eq!(printed, expected);
}

#[test]
fn packages_of_one_program_are_equal() {
    let (folder, program) = with_a_program();
    let first = packaged(&program, &folder.path().join("first"), TIME);
    // Another user, at another time.
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let second = packaged(&program, &folder.path().join("second"), TIME);
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.file_name(), second.file_name());
        assert!(fs::read(first).unwrap() == fs::read(second).unwrap(), "{}", first.display());
    }
    let third = packaged(&program, &folder.path().join("third"), "0");
    assert!(fs::read(&first[0]).unwrap() != fs::read(&third[0]).unwrap());
}
