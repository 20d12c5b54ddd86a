//! Installs the wheel and the packages for npm in fresh folders without Rust, and uses them there.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::parts::{empty, failed};
use crate::bindings::typescript::Npm;
use crate::command::{Failure, program, run};
use crate::venv;

/// What runs a program of a wheel in a fresh environment, as `uvx` does.
const UV: [&str; 1] = ["uv==0.13.6"];

/// Shows the forks of a store, with the program of a package.
const TREE: [&str; 2] = ["tree", "--all"];

/// What a user of Python types first.
const PYTHON: &str = "
import forklore
with forklore.open('first.db') as store:
    plan = store.new('/work/demo')['session']['id']
    store.append(plan, [forklore.user('plan A or plan B?')])
    store.fork(plan, label='plan-b')
    print(len(store.tree()['trees'][0]['children']), 'fork in Python')
";

/// What a user of Node.js types first.
const NODE: &str = "
import { Store, user } from 'forklore';
const store = await Store.open('second.db');
const plan = (await store.new({ workspace: '/work/demo' })).session.id;
await store.append({ session_id: plan, batch: { events: [user('plan A or plan B?')] } });
await store.fork({ parent_session_id: plan, label: 'plan-b' });
console.log((await store.tree()).trees[0].children.length, 'fork in Node.js');
await store.close();
";

/// Returns the wheel and the packages for npm in a folder.
pub(super) fn packages(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let is_package = |path: &PathBuf| {
        let end = path.extension().and_then(OsStr::to_str);
        path.is_file() && matches!(end, Some("whl" | "tgz"))
    };
    let entries = fs::read_dir(folder).map_err(failed(folder))?;
    let mut found: Vec<_> = entries.flatten().map(|one| one.path()).filter(is_package).collect();
    found.sort();
    Ok(found)
}

/// Removes the packages of an earlier run.
pub(super) fn clear(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(failed(folder))?;
    packages(folder)?.iter().try_for_each(|path| fs::remove_file(path).map_err(failed(path)))
}

/// Installs the packages and uses them as a newcomer does.
pub(super) fn install(packages: &Path, work: &Path) -> Result<(), Failure> {
    let all = self::packages(packages)?;
    let (wheels, tarballs): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|path| path.extension() == Some(OsStr::new("whl")));
    let python = work.join("python");
    empty(&python)?;
    run(program("python3").args(["-m", "venv"]).arg(python.join("venv")))?;
    let bin = python.join("venv").join("bin");
    run(program(bin.join("python"))
        .args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"])
        .args(&wheels))?;
    run(without_rust(&bin.join("python"), &python).args(["-c", PYTHON]))?;
    run(without_rust(&bin.join("forklore"), &python)
        .args(TREE)
        .args(["--store", "sqlite:first.db"]))?;
    let uvx = venv::installed("uv", &UV)?.with_file_name("uvx");
    for wheel in &wheels {
        run(without_rust(&uvx, &python)
            .args(["--quiet", "--offline", "--from"])
            .arg(wheel)
            .arg("forklore")
            .args(TREE)
            .args(["--store", "sqlite:first.db"]))?;
    }
    let folder = work.join("node");
    empty(&folder)?;
    let npm = Npm::installed()?;
    let terse = ["--no-audit", "--no-fund", "--loglevel", "error"];
    run(npm.command(&["install"]).args(terse).args(&tarballs).current_dir(&folder))?;
    run(npm.node().args(["--input-type=module", "-e", NODE]).current_dir(&folder))?;
    let mut shown = npm.command(&["exec", "--offline", "forklore", "--"]);
    run(shown.args(TREE).args(["--store", "sqlite:second.db"]).current_dir(&folder))
}

/// Creates a command with an empty environment, in a folder that is also the home directory.
fn without_rust(name: &Path, folder: &Path) -> Command {
    let mut command = program(name);
    command.env_clear().env("HOME", folder).env("PATH", "/usr/bin:/bin").current_dir(folder);
    command
}
