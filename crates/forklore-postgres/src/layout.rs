//! How the rows of the large tables are divided: into partitions, or over the nodes of Citus.

use forklore_store::Error;

use crate::connection::{Connection, text};
use crate::fault::Result;

/// The name of the row of `layout` in a database whose tables are distributed.
pub(crate) const DISTRIBUTED: &str = "distributed";
/// The most partitions of a table.
pub(crate) const MOST_PARTITIONS: u32 = 1_023;
/// The tables that are divided by family.
const BY_FAMILY: [&str; 2] = ["session", "event"];

/// How the tables are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The number of partitions of each large table; 0 for none.
    pub(crate) partitions: u32,
}

impl Layout {
    /// Returns a step of the schema for this layout.
    pub(crate) fn of(self, step: &str) -> String {
        let by = if self.partitions == 0 { "" } else { "PARTITION BY HASH (family)" };
        step.replace("/* by family */", by)
    }

    /// Creates the partitions of tables that were just created.
    pub(crate) fn divide(self, connection: &Connection) -> Result<()> {
        let partitions = self.partitions;
        for table in BY_FAMILY {
            for part in 0..partitions {
                connection.batch(&format!(
                    "CREATE TABLE forklore.{table}_{part} PARTITION OF forklore.{table}
                     FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part})"
                ))?;
            }
        }
        Ok(())
    }
}

/// Returns the number of partitions of the tables that are there; 0 for none.
pub(crate) fn partitions(connection: &Connection) -> Result<u32> {
    let sql = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'forklore.event'::regclass";
    let row = connection.row(sql, &[])?;
    let found: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
    Ok(u32::try_from(found).unwrap_or(u32::MAX))
}

/// Refuses a database without the extension that distributes tables.
pub(crate) fn check_citus(connection: &Connection) -> Result<()> {
    let sql = "SELECT FROM pg_extension WHERE extname = 'citus'";
    if connection.row(sql, &[])?.is_some() {
        return Ok(());
    }
    Err(Error::Unsupported(
        "the database has no extension citus, which distributes tables; install Citus on the \
         server, execute CREATE EXTENSION citus in the database, and repeat this"
            .into(),
    )
    .into())
}

/// Distributes the tables over the nodes of Citus, in one transaction.
pub(crate) fn distribute(connection: &Connection) -> Result<()> {
    connection
        .batch(&format!("BEGIN; {}; COMMIT", statements().join("; ")))
        .inspect_err(|_| drop(connection.batch("ROLLBACK")))
}

/// Returns the statements that distribute the tables.
///
/// Citus accepts no policy with a subquery, so distributed tables have no row security. The names
/// of sessions are found without their family, so their table is distributed by its own key.
pub(crate) fn statements() -> Vec<String> {
    let tables = [
        ("session", "family", "none"),
        ("event", "family", "forklore.session"),
        ("name", "folded", "none"),
    ];
    let divide = tables.into_iter().flat_map(|(table, column, with)| {
        [
            format!("DROP POLICY tenant ON forklore.{table}"),
            format!("DROP POLICY owner ON forklore.{table}"),
            format!(
                "ALTER TABLE forklore.{table} NO FORCE ROW LEVEL SECURITY, \
                 DISABLE ROW LEVEL SECURITY"
            ),
            format!(
                "SELECT create_distributed_table('forklore.{table}', '{column}', \
                 colocate_with => '{with}')"
            ),
        ]
    });
    let noted = format!("INSERT INTO forklore.layout VALUES ('{DISTRIBUTED}', 'citus')");
    divide.chain([noted]).collect()
}

/// Checks whether every table of the tenant has the row security that a tenant's login needs.
pub(crate) fn is_secured(connection: &Connection) -> Result<bool> {
    let sql = "SELECT bool_and(c.relrowsecurity AND c.relforcerowsecurity) FROM pg_class c
         WHERE c.relnamespace = $1::text::regnamespace AND c.relkind IN ('r', 'p')
           AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')";
    let row = connection.row(sql, &[text(&"forklore")])?;
    Ok(row.map(|row| row.try_get::<_, Option<bool>>(0)).transpose()?.flatten() == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_tables_are_divided_by_family() {
        let step = include_str!("schema.sql");
        let divided = Layout { partitions: 4 }.of(step);
        assert_eq!(divided.matches(") PARTITION BY HASH (family);").count(), BY_FAMILY.len());
        assert!(!Layout::default().of(step).contains("PARTITION"));
    }

    // No registry has Citus, so only its statements are compared.
    #[test]
    fn citus_stores_a_family_on_one_node() {
        let statements = statements();
        let distributed: Vec<_> =
            statements.iter().filter(|sql| sql.contains("create_distributed_table")).collect();
        assert_eq!(
            distributed,
            [
                "SELECT create_distributed_table('forklore.session', 'family', \
                 colocate_with => 'none')",
                "SELECT create_distributed_table('forklore.event', 'family', \
                 colocate_with => 'forklore.session')",
                "SELECT create_distributed_table('forklore.name', 'folded', \
                 colocate_with => 'none')",
            ]
        );
        assert_eq!(
            statements.get(..3).unwrap(),
            [
                "DROP POLICY tenant ON forklore.session",
                "DROP POLICY owner ON forklore.session",
                "ALTER TABLE forklore.session NO FORCE ROW LEVEL SECURITY, \
                 DISABLE ROW LEVEL SECURITY",
            ]
        );
        let noted = "INSERT INTO forklore.layout VALUES ('distributed', 'citus')";
        assert_eq!(statements.last().map(String::as_str), Some(noted));
    }
}
