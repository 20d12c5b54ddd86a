//! A store that tests edit behind forklore's back, of each kind.

use std::fs;
use std::path::{Path, PathBuf};

use forklore::{Engine, blocking};
use serde_json::Value;

use crate::sandbox::{Sandbox, copy_folder, ran};

/// Creates one test for each pair of a case and a kind of store.
macro_rules! on_every_store {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(#[test] fn $case() { super::$case(&crate::anchors::victim::Victim::sqlite()); })*
        }
        mod files {
            $(#[test] fn $case() { super::$case(&crate::anchors::victim::Victim::files()); })*
        }
        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[test] fn $case() { super::$case(&crate::anchors::victim::Victim::postgres()); })*
        }
    };
}
pub(super) use on_every_store;

/// The file with anchors, in the sandbox's folder.
pub(super) const ANCHORS: &str = "anchors.jsonl";

enum Kind {
    Sqlite,
    Files,
    #[cfg(feature = "postgres")]
    Postgres(forklore_pgserver::Tenant),
}

/// A store in an environment of its own.
pub(super) struct Victim {
    pub(super) sandbox: Sandbox,
    kind: Kind,
}

impl Victim {
    pub(super) fn sqlite() -> Self {
        Self { sandbox: Sandbox::new(), kind: Kind::Sqlite }
    }

    pub(super) fn files() -> Self {
        Self { sandbox: Sandbox::new(), kind: Kind::Files }
    }

    #[cfg(feature = "postgres")]
    pub(super) fn postgres() -> Self {
        let tenant = forklore_pgserver::Tenant::fresh().unwrap_or_else(|none| panic!("{none}"));
        Self { sandbox: Sandbox::new(), kind: Kind::Postgres(tenant) }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path().join(name)
    }

    pub(super) fn url(&self) -> String {
        match &self.kind {
            Kind::Sqlite => format!("sqlite:{}", self.path("store.db").display()),
            Kind::Files => format!("files:{}", self.path("store").display()),
            #[cfg(feature = "postgres")]
            Kind::Postgres(tenant) => tenant.url(),
        }
    }

    fn on_it<'a>(words: &[&'a str], url: &'a str) -> Vec<&'a str> {
        [&["--store", url], words].concat()
    }

    pub(super) fn ok(&self, words: &[&str]) -> String {
        self.sandbox.ok(&Self::on_it(words, &self.url()))
    }

    pub(super) fn engine(&self) -> Engine {
        blocking::open(&self.url()).unwrap()
    }

    /// Writes two families: `plan` with the branch `branch` and its branch `twig`, and `other`.
    pub(super) fn seed(&self) {
        self.ok(&["new", "--id", "plan", "--title", "A plan", "--metadata", r#"{"team":"a"}"#]);
        for text in ["u1", "u2", "u3", "u4", "u5"] {
            self.ok(&["append", "plan", "--text", text]);
        }
        self.ok(&["fork", "plan", "--at", "turn:2", "--id", "branch", "--label", "b"]);
        self.ok(&["append", "branch", "--text", "b3"]);
        self.ok(&["fork", "branch", "--at", "turn:2", "--id", "twig", "--label", "t"]);
        self.ok(&["append", "twig", "--text", "t3"]);
        self.ok(&["new", "--id", "other"]);
        for text in ["o1", "o2", "o3"] {
            self.ok(&["append", "other", "--text", text]);
        }
    }

    /// Appends the heads of all sessions to the file with anchors.
    pub(super) fn anchor(&self) {
        self.ok(&["anchor", "--all", "--to", ANCHORS]);
    }

    /// Returns the results that are not sound, as `SESSION STATE`, sorted. Checks the exit code.
    pub(super) fn found(&self, options: &[&str]) -> Vec<String> {
        let words = [&["--json", "--workspace", "/demo", "verify", "--anchors", ANCHORS], options];
        let ran = ran(self.sandbox.command(&Self::on_it(&words.concat(), &self.url())));
        let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
        assert_eq!(report["verification"]["problems"], serde_json::json!([]), "{report:#}");
        let checks = report["checks"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut found: Vec<_> = checks
            .filter(|check| check["sound"] == false)
            .map(|check| format!("{} {}", text(&check["session_id"]), text(&check["state"])))
            .collect();
        found.sort();
        assert_eq!(ran.code, if found.is_empty() { 0 } else { 6 }, "{report:#}");
        assert_eq!(report["differ"], found.len());
        found
    }

    /// Puts the store of `other`, of the same kind, in the place of this one.
    pub(super) fn replace_by(&self, other: &Self) {
        match &self.kind {
            Kind::Sqlite => copy_database(&other.path("store.db"), &self.path("store.db")),
            Kind::Files => {
                fs::remove_dir_all(self.path("store")).unwrap();
                copy_folder(&other.path("store"), &self.path("store"));
            }
            #[cfg(feature = "postgres")]
            Kind::Postgres(tenant) => {
                let Kind::Postgres(new) = &other.kind else { panic!("another kind") };
                let sql = "DELETE FROM {table} WHERE tenant = '{here}';
                    UPDATE {table} SET tenant = '{here}' WHERE tenant = '{new}';";
                postgres::each_table(tenant, &sql.replace("{new}", new.name()));
            }
        }
    }

    /// Copies the store.
    pub(super) fn copy(&self) {
        match &self.kind {
            Kind::Sqlite => copy_database(&self.path("store.db"), &self.path("copy.db")),
            Kind::Files => copy_folder(&self.path("store"), &self.path("copy")),
            #[cfg(feature = "postgres")]
            Kind::Postgres(tenant) => {
                tenant.execute(&format!("CREATE SCHEMA copy_{}", tenant.name())).unwrap();
                let sql = "CREATE TABLE copy_{here}.{name} AS
                    SELECT * FROM {table} WHERE tenant = '{here}';";
                postgres::each_table(tenant, sql);
            }
        }
    }

    /// Puts the copy back.
    pub(super) fn put_back(&self) {
        match &self.kind {
            Kind::Sqlite => copy_database(&self.path("copy.db"), &self.path("store.db")),
            Kind::Files => {
                fs::remove_dir_all(self.path("store")).unwrap();
                copy_folder(&self.path("copy"), &self.path("store"));
            }
            #[cfg(feature = "postgres")]
            Kind::Postgres(tenant) => {
                let sql = "DELETE FROM {table} WHERE tenant = '{here}';
                    INSERT INTO {table} SELECT * FROM copy_{here}.{name};";
                postgres::each_table(tenant, sql);
                tenant.execute(&format!("DROP SCHEMA copy_{} CASCADE", tenant.name())).unwrap();
            }
        }
    }

    pub(super) fn is_postgres(&self) -> bool {
        !matches!(self.kind, Kind::Sqlite | Kind::Files)
    }
}

fn copy_database(from: &Path, to: &Path) {
    let database = rusqlite::Connection::open(from).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(database);
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", to.display()));
    }
    fs::copy(from, to).unwrap();
}

#[cfg(feature = "postgres")]
mod postgres {
    use forklore_pgserver::Tenant;

    const TABLES: [&str; 8] =
        ["store", "name", "session", "event", "operation", "source", "source_key", "source_record"];

    /// Executes statements for each table of the store, in one transaction.
    pub(super) fn each_table(tenant: &Tenant, sql: &str) {
        let sql = TABLES.map(|name| {
            let table = format!("forklore.{name}");
            sql.replace("{table}", &table).replace("{name}", name)
        });
        let sql = sql.concat().replace("{here}", tenant.name());
        tenant.execute(&format!("BEGIN; {sql} COMMIT")).unwrap();
    }
}
