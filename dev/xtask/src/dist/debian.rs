//! The Debian package, made by dpkg-deb from a tree of the files that it installs.

use std::path::{Path, PathBuf};

use super::parts::{LICENCES, Parts, SHELLS, VERSION, copy, copy_all, copy_texts, put};
use crate::command::{Failure, output, program, root, run};

/// Where Debian's shells look for the completions of packages, in the order of [`SHELLS`].
const COMPLETIONS: [&str; 3] = [
    "usr/share/bash-completion/completions",
    "usr/share/zsh/vendor-completions",
    "usr/share/fish/vendor_completions.d",
];

const CONTROL: &str = include_str!("../../../../packaging/debian/control");

/// Writes the package into `out`, and returns its name.
pub(super) fn write(parts: &Parts, work: &Path, out: &Path) -> Result<String, Failure> {
    let tree = work.join("tree");
    install(parts, &tree)?;
    let architecture = output(program("dpkg").arg("--print-architecture"))?.trim().to_owned();
    let values = [
        ("@VERSION@", VERSION.to_owned()),
        ("@ARCHITECTURE@", architecture.clone()),
        ("@SIZE@", size(&tree)?),
        ("@DEPENDS@", libraries(parts, &work.join("libraries"))?),
    ];
    let control =
        values.iter().fold(CONTROL.to_owned(), |text, (name, value)| text.replace(name, value));
    put(&tree.join("DEBIAN").join("control"), &control)?;
    // Whoever builds it may have another umask.
    run(program("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(&tree))?;
    let file = format!("forklore_{VERSION}-1_{architecture}.deb");
    output(
        program("dpkg-deb")
            .args(["--root-owner-group", "-Zxz", "--build"])
            .arg(&tree)
            .arg(out.join(&file))
            .env("SOURCE_DATE_EPOCH", &parts.time)
            // With more threads, the bytes depend on how many there are.
            .env("DPKG_DEB_THREADS_MAX", "1"),
    )?;
    Ok(file)
}

/// Fills the tree with the files that the package installs.
fn install(parts: &Parts, tree: &Path) -> Result<(), Failure> {
    copy(&parts.program, &tree.join("usr/bin/forklore"))?;
    let pages = tree.join("usr/share/man/man1");
    copy_all(&parts.pages, &pages)?;
    run(program("gzip").args(["-9", "--no-name", "--recursive"]).arg(&pages))?;
    for ((_, name), folder) in SHELLS.iter().zip(COMPLETIONS) {
        copy(&parts.completions.join(name), &tree.join(folder).join(name))?;
    }
    let packaging = root().join("packaging");
    for kind in ["system", "user"] {
        let unit = PathBuf::from("systemd").join(kind);
        copy_all(&packaging.join(&unit), &tree.join("usr/lib").join(&unit))?;
    }
    let documents = tree.join("usr/share/doc/forklore");
    copy_texts(&documents)?;
    copy(&parts.licences, &documents.join(LICENCES))?;
    copy(&packaging.join("debian/copyright"), &documents.join("copyright"))
}

/// Returns the size of the installed files in KiB.
fn size(tree: &Path) -> Result<String, Failure> {
    let line = output(program("du").args(["--summarize", "--apparent-size", "-k"]).arg(tree))?;
    Ok(line.split_whitespace().next().unwrap_or("0").to_owned())
}

/// Returns the packages with the libraries that the program loads, in the oldest versions that have
/// the symbols which it uses. A program that is no binary loads none.
fn libraries(parts: &Parts, folder: &Path) -> Result<String, Failure> {
    if !parts.is_binary()? {
        return Ok("libc6".to_owned());
    }
    // dpkg-shlibdeps only runs in the folder of a source package.
    let source = "Source: forklore\n\nPackage: forklore\nArchitecture: any\n";
    put(&folder.join("debian").join("control"), source)?;
    let mut command = program("dpkg-shlibdeps");
    let option = format!("-e{}", parts.program.display());
    let found = output(command.args(["-O", &option]).current_dir(folder)).map_err(|source| {
        let by_hand = "apt-get install dpkg-dev".to_owned();
        Failure::NoTool { tool: "dpkg-shlibdeps", by_hand, source: Box::new(source) }
    })?;
    let depends = found.trim().strip_prefix("shlibs:Depends=").unwrap_or("libc6");
    Ok(depends.to_owned())
}
