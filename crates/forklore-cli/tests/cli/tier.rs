//! Tests of `tier init` on a real PostgreSQL.

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
