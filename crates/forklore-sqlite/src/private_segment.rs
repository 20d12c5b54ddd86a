//! Private segments: copies of an assembled prefix, which are not the segment of any session. Their
//! rows in the table `private_segment` decide which events are erased. The checksum of each row is
//! therefore checked before the row is used.

use rusqlite::{Connection, Row, ToSql};

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::integer::{signed, unsigned};
use crate::segment::Segment;
use crate::write_tx::WriteTx;

/// A row of the table of private segments. A private segment is a stored copy of events that
/// sessions inherit.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    pub(crate) segment: Segment,
    pub(crate) root: Segment,
    /// Number of events that the copy has when it is complete.
    pub(crate) promised: u64,
    /// The end (exclusive) of the positions in the copy that sessions still need.
    pub(crate) inheritable_to: u64,
    /// When the process that makes the copy last made progress, in microseconds since 1970. `None`
    /// if the copy is complete.
    pub(crate) heartbeat: Option<i64>,
}

impl Private {
    fn sum(&self) -> i64 {
        let numbers = [self.segment, self.root, signed(self.promised), signed(self.inheritable_to)];
        i64::from(Fields::default().numbers(&numbers).number(self.heartbeat).sum())
    }

    fn read(row: &Row<'_>) -> Result<Self> {
        let segment = row.get(0)?;
        let location = || format!("private_segment row {segment}");
        let damaged = || Fault::damaged(location(), "its fields do not fit their checksum");
        let (promised, retained_to) = (unsigned(row.get(2)?), unsigned(row.get(3)?));
        let (Ok(promised), Ok(retained_to)) = (promised, retained_to) else {
            return Err(damaged());
        };
        let found = Self {
            segment,
            root: row.get(1)?,
            promised,
            inheritable_to: retained_to,
            heartbeat: row.get(4)?,
        };
        if found.sum() != row.get::<_, i64>(5)? {
            return Err(damaged());
        }
        Ok(found)
    }

    /// Writes the changed fields and the new checksum to the row of this private segment.
    pub(crate) fn save(&self, tx: &WriteTx<'_>) -> Result<()> {
        tx.write(
            "UPDATE private_segment SET root = ?, kept_to = ?, heartbeat = ?, crc = ? WHERE id = ?",
            &[
                &self.root,
                &signed(self.inheritable_to),
                &self.heartbeat,
                &self.sum(),
                &self.segment,
            ],
        )?;
        Ok(())
    }
}

/// Registers a new private segment. It will get `promised` events, and belongs to the family whose
/// root is `root`.
pub(crate) fn begin(
    tx: &WriteTx<'_>,
    root: Segment,
    promised: u64,
    heartbeat: i64,
) -> Result<Private> {
    tx.write(
        "INSERT INTO private_segment (root, promised, kept_to, heartbeat, crc)
         VALUES (?, ?, ?, ?, 0)",
        &[&root, &signed(promised), &signed(promised), &heartbeat],
    )?;
    let segment = tx.last_insert_rowid();
    let begun =
        Private { segment, root, promised, inheritable_to: promised, heartbeat: Some(heartbeat) };
    // The checksum covers the segment's number, which is known only after the insert.
    begun.save(tx)?;
    Ok(begun)
}

/// Returns the private segment with this number, or `None` if it was erased.
pub(crate) fn find(conn: &Connection, segment: Segment) -> Result<Option<Private>> {
    Ok(select(conn, "id = ?", &[&segment])?.pop())
}

/// Returns the complete private segments in the family whose root is `root`.
pub(crate) fn of_family(conn: &Connection, root: Segment) -> Result<Vec<Private>> {
    let mut found = all(conn)?;
    found.retain(|private| private.root == root && private.heartbeat.is_none());
    Ok(found)
}

/// Returns all private segments, including unfinished ones.
pub(crate) fn all(conn: &Connection) -> Result<Vec<Private>> {
    select(conn, "TRUE", &[])
}

/// Deletes the row that registers a private segment.
pub(crate) fn forget(tx: &WriteTx<'_>, segment: Segment) -> Result<()> {
    tx.write("DELETE FROM private_segment WHERE id = ?", &[&segment])?;
    Ok(())
}

fn select(conn: &Connection, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<Private>> {
    let sql = format!(
        "SELECT id, root, promised, kept_to, heartbeat, crc FROM private_segment
         WHERE {condition} ORDER BY id"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Private::read(row)?);
    }
    Ok(found)
}
