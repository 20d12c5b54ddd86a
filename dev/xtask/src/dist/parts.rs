//! What every package contains: the program, and the texts that the program itself writes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Failure, output, program, root, run};

/// The version of all crates.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The shells with completion, and the name of the file that each of them loads.
pub(crate) const SHELLS: [(&str, &str); 3] =
    [("bash", "forklore"), ("zsh", "_forklore"), ("fish", "forklore.fish")];

/// zsh loads the file when it first completes the command, and then calls what it defines only if
/// the file does so.
const ZSH: &str = "\nif [[ $funcstack[1] == _forklore ]]; then\n    \
                   _clap_dynamic_completer_forklore \"$@\"\nfi\n";

/// The texts of the repository that go with the program.
pub(crate) const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// The licences of forklore itself.
pub(crate) const LICENCES_OF_FORKLORE: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// The name of the file with the licences of the crates in the program.
pub(crate) const LICENCES: &str = "LICENSES-OF-CRATES.txt";

/// The files that packages share, and when they were made.
pub(crate) struct Parts {
    /// The program, without symbols.
    pub(crate) program: PathBuf,
    /// The folder of the manual pages.
    pub(crate) pages: PathBuf,
    /// The folder of the scripts for completion.
    pub(crate) completions: PathBuf,
    /// The file with the licences of the crates in the program.
    pub(crate) licences: PathBuf,
    /// The time of all files, in seconds since 1970.
    pub(crate) time: String,
}

impl Parts {
    /// Copies the program into `folder`, strips it, and has it write its manual pages and completions.
    pub(crate) fn collect(built: &Path, folder: &Path, time: &str) -> Result<Self, Failure> {
        let parts = Self {
            program: folder.join("forklore"),
            pages: folder.join("man1"),
            completions: folder.join("completions"),
            licences: folder.join(LICENCES),
            time: time.to_owned(),
        };
        make(&parts.completions)?;
        copy(built, &parts.program)?;
        if parts.is_binary()? {
            run(program("strip").arg("--strip-unneeded").arg(&parts.program))?;
        }
        output(program(&parts.program).args(["man", "--out"]).arg(&parts.pages))?;
        for (shell, name) in SHELLS {
            let mut script = output(program(&parts.program).args(["completions", shell]))?;
            if shell == "zsh" {
                script.push_str(ZSH);
            }
            put(&parts.completions.join(name), &script)?;
        }
        Ok(parts)
    }

    /// Checks whether the program is a binary. A script, which tests package, has no symbols and
    /// needs no libraries.
    pub(crate) fn is_binary(&self) -> Result<bool, Failure> {
        let bytes = fs::read(&self.program).map_err(failed(&self.program))?;
        Ok(bytes.starts_with(b"\x7fELF"))
    }
}

/// Copies the texts of the repository into a folder.
pub(crate) fn copy_texts(folder: &Path) -> Result<(), Failure> {
    make(folder)?;
    TEXTS.iter().try_for_each(|name| copy(&root().join(name), &folder.join(name)))
}

/// Copies all files of a folder into another one.
pub(crate) fn copy_all(from: &Path, to: &Path) -> Result<(), Failure> {
    make(to)?;
    for file in fs::read_dir(from).map_err(failed(from))? {
        let file = file.map_err(failed(from))?;
        copy(&file.path(), &to.join(file.file_name()))?;
    }
    Ok(())
}

/// Copies a file with its permissions, into a folder that need not exist.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    make(&to.with_file_name(""))?;
    fs::copy(from, to).map(drop).map_err(failed(from))
}

pub(crate) fn put(path: &Path, text: &str) -> Result<(), Failure> {
    make(&path.with_file_name(""))?;
    fs::write(path, text).map_err(failed(path))
}

/// Creates an empty folder. Removes what is in it.
pub(crate) fn empty(folder: &Path) -> Result<(), Failure> {
    remove(folder)?;
    make(folder)
}

/// Removes a folder, if it exists.
pub(crate) fn remove(folder: &Path) -> Result<(), Failure> {
    if folder.exists() { fs::remove_dir_all(folder).map_err(failed(folder)) } else { Ok(()) }
}

fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(failed(folder))
}

pub(crate) fn failed(path: &Path) -> impl Fn(std::io::Error) -> Failure {
    move |source| Failure::Folder { path: path.to_path_buf(), source }
}
