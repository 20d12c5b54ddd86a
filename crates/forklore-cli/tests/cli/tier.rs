//! Tests of `tier`, and of searches, on a real PostgreSQL.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use forklore_pgserver::Tenant;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

pub(crate) fn tenant() -> Tenant {
    Tenant::fresh().unwrap_or_else(|none| panic!("{none}"))
}

/// Returns the exit code and the message of a command that must fail.
fn refused(url: &str, words: &[&str]) -> (i32, String) {
    let (code, error) = Sandbox::new().error(&[&["--store", url, "tier", "init"], words].concat());
    (code, error["message"].as_str().unwrap().to_owned())
}

#[test]
fn a_database_is_prepared_before_the_first_session() {
    let (sandbox, tenant) = (Sandbox::new(), tenant());
    let url = tenant.url();
    let mut answer = sandbox.json(&["--store", &url, "tier", "init"]);
    let before = answer["before"].take();
    assert!(before == Value::Null || before == json!(2), "{before}");
    assert_eq!(
        answer,
        json!({
            "ok": true, "store": url, "tenant": tenant.name(), "version": 2, "before": null,
            "partitions": 0, "distributed": false, "tenant_login": null,
        })
    );
    let again = sandbox.ok(&["--store", &url, "tier", "init"]);
    assert!(again.starts_with("The tables are there"), "{again}");
    assert_eq!(sandbox.json(&["--store", &url, "list", "--all"])["sessions"], json!([]));
}

#[test]
fn a_login_of_a_tenant_uses_its_store_and_no_other() {
    let (sandbox, tenant, other) = (Sandbox::new(), tenant(), tenant());
    let login = format!("l_{}", tenant.name());
    tenant.execute(&format!("CREATE ROLE {login} LOGIN")).unwrap();
    let answer =
        sandbox.json(&["--store", &tenant.url(), "tier", "init", "--tenant-login", &login]);
    assert_eq!(answer["tenant_login"], json!(login));
    let by = |tenant: &Tenant| tenant.url().replace("//postgres@", &format!("//{login}@"));
    sandbox.ok(&["--store", &by(&tenant), "new", "--id", "mine"]);
    sandbox.ok(&["--store", &by(&tenant), "append", "mine", "--text", "hello"]);
    sandbox.ok(&["--store", &by(&tenant), "fork", "mine", "--label", "other"]);
    let listed = sandbox.json(&["--store", &by(&tenant), "list", "--all"]);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    let (code, error) = sandbox.error(&["--store", &by(&other), "list", "--all"]);
    assert_eq!((code, &error["kind"]), (3, &json!("permission_denied")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&format!("tenant={}", tenant.name())), "{message}");
    let dropped = "BEGIN; LOCK TABLE forklore.login IN SHARE ROW EXCLUSIVE MODE;
        DROP OWNED BY {login}; COMMIT; DROP ROLE {login}";
    tenant.execute(&dropped.replace("{login}", &login)).unwrap();
}

#[test]
fn what_cannot_be_prepared_is_refused_with_the_reason() {
    let tenant = tenant();
    let url = tenant.url();
    Sandbox::new().ok(&["--store", &url, "tier", "init"]);
    let (code, message) = refused(&url, &["--distributed"]);
    assert_eq!(code, 5);
    assert!(message.contains("has no extension citus"), "{message}");
    let (code, message) = refused(&url, &["--partitions", "4"]);
    assert_eq!(code, 2);
    assert!(message.contains("have no partitions"), "{message}");
    let (code, message) = refused(&url, &["--tenant-login", "no_such_login"]);
    assert_eq!(code, 2);
    assert!(message.contains("createuser --pwprompt no_such_login"), "{message}");
    let (code, message) = refused("sqlite:a.db", &[]);
    assert_eq!(code, 2);
    assert!(message.contains("is no PostgreSQL database"), "{message}");
    for both in [["--partitions", "4"], ["--tenant-login", "ann"]] {
        assert_eq!(refused(&url, &["--distributed", both[0], both[1]]).0, 2);
    }
}

/// Returns the folders in the cache of the program.
fn cached(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.path().join("home/.cache/forklore");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_search_has_an_index_on_its_machine_that_follows_the_store() {
    let (here, there, tenant) = (Sandbox::new(), Sandbox::new(), tenant());
    let url = tenant.url();
    let found = |sandbox: &Sandbox, url: &str, word: &str| {
        let answer = sandbox.json(&["--store", url, "search", word, "--all"]);
        answer["hits"].as_array().unwrap().len()
    };
    here.ok(&["--store", &url, "new", "--id", "a"]);
    here.ok(&["--store", &url, "append", "a", "--text", "the quick fox"]);
    assert_eq!((found(&here, &url, "fox"), found(&there, &url, "fox")), (1, 1));
    let folders = cached(&here);
    let [folder] = folders.as_slice() else { panic!("{folders:?}") };
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(folder.join("search.db").exists());

    // What others write is found, and what they delete is not.
    there.ok(&["--store", &url, "append", "a", "--text", "the lazy dog"]);
    assert_eq!((found(&here, &url, "dog"), found(&here, &url, "fox")), (1, 1));
    there.ok(&["--store", &url, "delete", "a", "--erase", "--yes"]);
    assert_eq!((found(&here, &url, "dog"), found(&here, &url, "fox")), (0, 0));

    here.ok(&["--store", &url, "gc", "--yes"]);
    assert_eq!(cached(&here), [""; 0].map(PathBuf::from));
    let without = Sandbox::new();
    let refusing = if url.contains('?') { format!("{url}&cache=no") } else { url + "?cache=no" };
    assert_eq!(found(&without, &refusing, "fox"), 0);
    assert_eq!(cached(&without), [""; 0].map(PathBuf::from));
}

#[test]
fn the_state_of_a_store_is_shown_with_its_counts() {
    let (sandbox, tenant) = (Sandbox::new(), tenant());
    let url = tenant.url();
    sandbox.ok(&["--store", &url, "new", "--id", "one"]);
    sandbox.ok(&["--store", &url, "append", "one", "--text", "hello"]);
    sandbox.ok(&["--store", &url, "append", "one", "--text", "again"]);
    sandbox.ok(&["--store", &url, "fork", "one", "--id", "two"]);
    sandbox.ok(&["--store", &url, "new", "--id", "gone"]);
    sandbox.ok(&["--store", &url, "delete", "gone"]);
    let stats = sandbox.json(&["--store", &url, "stats"]);
    let mut status = sandbox.json(&["--store", &url, "tier", "status"]);
    assert_eq!((&status["sessions"], &status["events"]), (&json!(2), &stats["own_events"]));
    let shown = |status: &Value, name: &str| status[name].as_f64().unwrap();
    // Both clocks are those of this machine.
    assert!(
        shown(&status, "clock_difference_seconds").abs() <= shown(&status, "round_trip_seconds")
    );
    assert!(shown(&status, "connections") >= 1.0);
    assert!(shown(&status, "feed_delay_seconds") >= 0.0);
    let tables = status["tables"].take();
    let mut names: Vec<_> =
        tables.as_array().unwrap().iter().map(|table| table["table"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "attachment",
            "attachment_part",
            "attachment_pin",
            "attachment_upload",
            "event",
            "layout",
            "login",
            "migration",
            "name",
            "operation",
            "session",
            "source",
            "source_key",
            "source_record",
            "source_step",
            "store",
        ]
    );
    assert!(tables.as_array().unwrap().iter().all(|table| table["bytes"].as_u64() > Some(0)));
    for varying in [
        "time",
        "server_version",
        "clock_difference_seconds",
        "round_trip_seconds",
        "connections",
        "feed_delay_seconds",
        "running",
    ] {
        assert_ne!(status[varying].take(), Value::Null, "{varying}");
    }
    assert_eq!(
        status,
        json!({
            "ok": true, "store": url, "tenant": tenant.name(), "server_version": null,
            "tables_version": 2, "program_version": 2, "time": null,
            "clock_difference_seconds": null, "round_trip_seconds": null, "standby": false,
            "replay_delay_seconds": null, "sees_statistics": true, "replicas": [], "sessions": 2,
            "events": stats["own_events"], "leases": [], "tables": null, "connections": null,
            "max_connections": 300, "feed_delay_seconds": null, "running": null,
            "statements": null,
        })
    );
    let page = sandbox.ok(&["--store", &url, "tier", "status"]);
    assert!(page.contains("accepts writes") && page.contains("version 2"), "{page}");
}

#[test]
fn a_login_of_a_tenant_sees_its_own_state_and_hears_what_it_may_not_see() {
    let (sandbox, tenant) = (Sandbox::new(), tenant());
    let login = format!("l_{}", tenant.name());
    tenant.execute(&format!("CREATE ROLE {login} LOGIN")).unwrap();
    sandbox.ok(&["--store", &tenant.url(), "tier", "init", "--tenant-login", &login]);
    let url = tenant.url().replace("//postgres@", &format!("//{login}@"));
    sandbox.ok(&["--store", &url, "new", "--id", "mine"]);
    let status = sandbox.json(&["--store", &url, "tier", "status"]);
    assert_eq!(
        [&status["sees_statistics"], &status["sessions"], &status["feed_delay_seconds"]],
        [&json!(false), &json!(1), &Value::Null]
    );
    assert_eq!([&status["running"], &status["replicas"]], [&json!([]), &json!([])]);
    let page = sandbox.ok(&["--store", &url, "tier", "status"]);
    assert!(page.contains("lacks the role pg_read_all_stats"), "{page}");
    let dropped = "BEGIN; LOCK TABLE forklore.login IN SHARE ROW EXCLUSIVE MODE;
        DROP OWNED BY {login}; COMMIT; DROP ROLE {login}";
    tenant.execute(&dropped.replace("{login}", &login)).unwrap();
}

#[test]
fn the_state_is_shown_without_tables_and_for_no_other_store() {
    let (sandbox, tenant) = (Sandbox::new(), tenant());
    let name = tenant.name();
    tenant.execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).unwrap();
    let empty = tenant.url().replace("/postgres?", &format!("/{name}?"));
    let status = sandbox.json(&["--store", &empty, "tier", "status"]);
    assert_eq!([&status["tables_version"], &status["sessions"]], [&Value::Null, &Value::Null]);
    assert_eq!(status["tables"], json!([]));
    tenant.execute(&format!("DROP DATABASE {name}")).unwrap();
    let (code, error) = sandbox.error(&["--store", &empty, "tier", "status"]);
    assert_eq!(code, 2, "{error}");
    assert!(error["message"].as_str().unwrap().contains("has no database for"), "{error}");
    let (code, error) = sandbox.error(&["--store", "sqlite:a.db", "tier", "status"]);
    assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("is no PostgreSQL database, and `tier status`"), "{message}");
}

/// A command says which server it waits for, long before its deadline.
#[test]
fn a_server_that_does_not_answer_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://ann:secret@{}/team", listener.local_addr().unwrap());
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["--store", &url, "list", "--all"]);
    let mut running = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(running.stderr.take().unwrap()).read_line(&mut line).unwrap();
    running.kill().unwrap();
    running.wait().unwrap();
    let shown = url.replace(":secret", "");
    assert_eq!(line, format!("waiting for {shown}; Ctrl-C ends this\n"));
}
