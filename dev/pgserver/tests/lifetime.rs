//! Tests that servers end with their last user, and that nothing of them remains.
#![allow(clippy::unwrap_used, reason = "a broken expectation ends the test")]

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::thread::{current, sleep};
use std::time::Duration;

use forklore_pgserver::{Target, Tenant};

const TARGETS: [Target; 3] = [Target::Direct, Target::Pooled, Target::Newest];

/// Set in the process that uses the servers.
const IS_USER: &str = "FORKLORE_LIFETIME_USER";

/// Returns how many folders of servers there are: files that other programs create do not count.
fn folders() -> usize {
    let names = fs::read_dir(env::temp_dir()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("forklore-pgserver-")).count()
}

/// Runs the current test once more, in a process that uses the servers and has a temporary directory
/// of its own. Waits until nothing remains in that directory.
fn use_servers(configure: impl FnOnce(&mut Command) -> &mut Command) {
    let temporary = tempfile::tempdir().unwrap();
    // The servers may run as another user.
    fs::set_permissions(temporary.path(), Permissions::from_mode(0o755)).unwrap();
    let mut user = Command::new(env::current_exe().unwrap());
    user.args([current().name().unwrap(), "--exact"]).env_remove(forklore_pgserver::URL);
    user.env("TMPDIR", temporary.path()).env(IS_USER, "1");
    let user = configure(&mut user).output().unwrap();
    assert!(user.status.success(), "{}", String::from_utf8_lossy(&user.stdout));
    // Nextest ends the test if something remains.
    while fs::read_dir(temporary.path()).unwrap().next().is_some() {
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_remains_of_servers_whose_users_have_ended() {
    if env::var_os(IS_USER).is_some() {
        let tenants = TARGETS.map(|target| Tenant::on(target).unwrap());
        tenants.iter().for_each(|tenant| tenant.execute("SELECT 1").unwrap());
        assert_eq!(folders(), 2);
        return;
    }
    use_servers(|user| user);
}

#[test]
fn nothing_remains_of_a_server_that_cannot_be_started() {
    if env::var_os(IS_USER).is_some() {
        let refused = Tenant::on(Target::Newest).unwrap_err().to_string();
        assert!(refused.starts_with("initdb failed"), "{refused}");
        return;
    }
    let programs = tempfile::tempdir().unwrap();
    fs::set_permissions(programs.path(), Permissions::from_mode(0o755)).unwrap();
    for (name, status) in [("postgres", 0), ("initdb", 1)] {
        let program = programs.path().join(name);
        fs::write(&program, format!("#!/bin/sh\nexit {status}\n")).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    use_servers(|user| user.env(forklore_pgserver::NEWEST, programs.path()));
}
