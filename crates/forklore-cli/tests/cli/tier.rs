//! Tests of `tier init`, and of searches, on a real PostgreSQL.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use forklore_pgserver::Tenant;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn tenant() -> Tenant {
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
