//! Logins of the database that are given to one tenant: row security lets them see no other.

use forklore_store::Error;

use crate::connection::{Connection, text};
use crate::fault::{Fault, Result};
use crate::layout;

/// Whether the login sees every tenant: an expression of a query.
pub(crate) const SEES_ALL: &str = "(NOT row_security_active('forklore.store')
     OR (SELECT pg_has_role(session_user, c.relowner, 'MEMBER') FROM pg_class c
         WHERE c.oid = 'forklore.migration'::regclass))";

const LOCK: &str = "LOCK TABLE forklore.login IN SHARE ROW EXCLUSIVE MODE";

/// Gives each login that has a tenant the rights that the store needs, and the policies of the owner
/// to who owns the tables now.
const GRANT: &str = "DO $$
DECLARE given record; t regclass;
BEGIN
    FOR t IN SELECT polrelid::regclass FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
             WHERE p.polname = 'owner' AND c.relnamespace = 'forklore'::regnamespace
               AND p.polroles <> ARRAY[c.relowner]
    LOOP
        EXECUTE format('ALTER POLICY owner ON %s TO %I', t,
            (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = t));
    END LOOP;
    FOR given IN SELECT DISTINCT r.rolname FROM forklore.login l JOIN pg_roles r ON r.rolname = l.login
    LOOP
        IF NOT has_schema_privilege(given.rolname, 'forklore', 'USAGE')
           OR NOT has_table_privilege(given.rolname, 'forklore.login', 'SELECT') THEN
            EXECUTE format('GRANT USAGE ON SCHEMA forklore TO %I', given.rolname);
            EXECUTE format('GRANT SELECT ON forklore.migration, forklore.layout, forklore.login TO %I',
                           given.rolname);
        END IF;
        FOR t IN
            SELECT c.oid::regclass FROM pg_class c
            WHERE c.relnamespace = 'forklore'::regnamespace AND c.relkind IN ('r', 'p')
              AND NOT c.relispartition AND c.relname <> 'login' AND EXISTS (
                  SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')
        LOOP
            CONTINUE WHEN has_table_privilege(given.rolname, t, 'SELECT')
                AND has_table_privilege(given.rolname, t, 'DELETE');
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %I', t, given.rolname);
        END LOOP;
    END LOOP;
END $$";

/// Why a login cannot be confined to a tenant: the first of these that it, or a role whose member
/// it is, has.
const POWERS: &str = "SELECT r.rolname, CASE
         WHEN r.rolsuper THEN 'is a superuser'
         WHEN r.rolbypassrls THEN 'bypasses row security'
         WHEN r.rolreplication THEN 'may copy the whole server (REPLICATION)'
         WHEN r.rolcreaterole THEN 'may give itself roles (CREATEROLE)'
         WHEN r.rolname ~ '^pg_(read|write)_server_files$|^pg_execute_server_program$'
             THEN 'reaches the files of the server'
         WHEN r.oid IN (SELECT relowner FROM pg_class WHERE relnamespace = 'forklore'::regnamespace)
             THEN 'owns tables of forklore'
         WHEN r.oid = (SELECT datdba FROM pg_database WHERE datname = current_database())
             THEN 'owns the database' END AS power
     FROM pg_roles r WHERE pg_has_role($1::text::name, r.oid, 'MEMBER')
     ORDER BY r.rolname <> $1, r.rolname";

/// Returns the error for a login that is not given this tenant.
pub(crate) fn refused(login: &str, given: Option<&str>, tenant: &str) -> Error {
    Error::Denied(match given {
        Some(given) => format!(
            "the login {login} is given to the tenant {given} and not to {tenant}; name the tenant \
             in the URL: tenant={given}"
        ),
        None => format!(
            "the login {login} is given to no tenant; the owner of the tables gives it one, by tier \
             init with --tenant-login"
        ),
    })
}

/// Gives a login to a tenant, in one transaction.
pub(crate) fn give(connection: &Connection, tenant: &str, login: &str) -> Result<()> {
    check(connection, login)?;
    if !layout::is_secured(connection)? {
        return Err(Error::Unsupported(
            "the tables are distributed or have no row security, so no login can be confined to a \
             tenant"
                .into(),
        )
        .into());
    }
    let give = || {
        connection.batch(&format!("BEGIN; {LOCK}"))?;
        let sql = "SELECT min(tenant) FROM forklore.login WHERE login = $1 AND tenant <> $2";
        let row = connection.row(sql, &[text(&login), text(&tenant)])?;
        let other: Option<String> = row.map(|row| row.try_get(0)).transpose()?.flatten();
        if let Some(other) = other {
            return Err(Error::Invalid(format!(
                "the login {login} is given to the tenant {other} already; a login has one tenant, \
                 so create another one"
            ))
            .into());
        }
        let sql =
            "INSERT INTO forklore.login (tenant, login) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        connection.execute(sql, &[text(&tenant), text(&login)])?;
        grant(connection)?;
        connection.batch("COMMIT")
    };
    give().inspect_err(|_: &Fault| drop(connection.batch("ROLLBACK")))
}

/// Gives the logins of all tenants the rights that the present tables need.
pub(crate) fn grant(connection: &Connection) -> Result<()> {
    // Two transactions that grant rights on the same table at once would fail.
    connection.batch(&format!("{LOCK}; {GRANT}"))
}

/// Refuses a login that does not exist, and one that row security does not confine.
fn check(connection: &Connection, login: &str) -> Result<()> {
    let sql = "SELECT FROM pg_roles WHERE rolname = $1";
    if connection.row(sql, &[text(&login)])?.is_none() {
        return Err(Error::Invalid(format!(
            "the server has no login {login}; create it first: createuser --pwprompt {login}"
        ))
        .into());
    }
    for row in connection.rows(POWERS, &[text(&login)])? {
        let (role, power): (String, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
        let Some(power) = power else { continue };
        let by =
            if role == login { String::new() } else { format!("is a member of {role}, which ") };
        return Err(Error::Invalid(format!(
            "the login {login} {by}{power}, so row security does not confine it to a tenant; create \
             another one: createuser --pwprompt NAME"
        ))
        .into());
    }
    Ok(())
}
