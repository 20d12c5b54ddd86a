//! Attachments, in parts of one mebibyte.
//!
//! An upload writes its parts one by one, each in a transaction of its own, and gets its name at the
//! end. So a long upload delays nobody, and the feed neither.

mod reader;

use std::io::Read;
use std::sync::Arc;

use forklore_core::AttachmentId;
use forklore_store::attachments::{Attachment, Attachments, Pin, Swept, check};
use forklore_store::{Error, lease_owner};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

use self::reader::Parts;
use crate::connection::{Connection, bytes, number, text, texts};
use crate::fault::Result;
use crate::layout::Layout;
use crate::number::{signed, unsigned};
use crate::random;
use crate::shared::Shared;

/// The size of a part of an attachment, in bytes.
const PART: usize = 1 << 20;
/// How long a pin or an unfinished upload of a process on another machine counts, by the server's
/// clock. That a process on this machine is gone is noticed at once.
const EXPIRES: &str = "(extract(epoch FROM clock_timestamp() + interval '1 hour') * 1000000)::int8";
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::int8";

/// The attachments of a store.
pub(crate) struct PostgresAttachments {
    pub(crate) shared: Arc<Shared>,
}

/// Removes the row of a pin when the pin is dropped.
struct Unpin {
    shared: Arc<Shared>,
    pin: String,
    id: AttachmentId,
}

impl Drop for Unpin {
    fn drop(&mut self) {
        let (id, tenant) = (self.id.hex(), self.shared.tenant());
        let sql = "DELETE FROM forklore.attachment_pin
             WHERE tenant = $1 AND digest = $2 AND pin = $3";
        let values = [text(&tenant), text(&id), text(&self.pin)];
        // If it fails, the pin expires.
        let _ = self
            .shared
            .once("unpinning an attachment in", |connection| connection.execute(sql, &values));
    }
}

impl PostgresAttachments {
    /// Reads all bytes into the parts of an upload. Returns their digest and length.
    fn upload(
        &self,
        upload: &str,
        from: &mut dyn Read,
        limit: u64,
    ) -> forklore_store::Result<(AttachmentId, u64)> {
        let tenant = self.shared.tenant();
        let (mut digest, mut read, mut part) = (Sha256::new(), 0_u64, 0_i64);
        loop {
            let mut buffer = Vec::with_capacity(PART);
            let most = (PART as u64).min(limit.saturating_add(1) - read);
            (&mut *from)
                .take(most)
                .read_to_end(&mut buffer)
                .map_err(|error| Error::io("reading what to attach", error))?;
            read += buffer.len() as u64;
            if read > limit {
                return Err(Error::too_long(limit));
            }
            if buffer.is_empty() {
                return Ok((AttachmentId::of(digest.finalize().into()), read));
            }
            digest.update(&buffer);
            let sql = format!(
                "WITH renewed AS (UPDATE forklore.attachment_upload SET expires = {EXPIRES}
                     WHERE tenant = $1 AND upload = $2 RETURNING upload)
                 INSERT INTO forklore.attachment_part (tenant, upload, part, bytes)
                 SELECT $1, upload, $3, $4 FROM renewed"
            );
            let values = [text(&tenant), text(&upload), number(&part), bytes(&buffer)];
            let written = self
                .shared
                .once("writing an attachment to", |connection| connection.execute(&sql, &values))?;
            if written == 0 {
                return Err(swept());
            }
            part += 1;
        }
    }

    /// Gives an upload its name, unless the same bytes have it already. Returns whether it did. If
    /// it did not, the upload stays one that is not finished, which a sweep removes after a crash.
    fn publish(
        connection: &Connection,
        tenant: &str,
        (id, length): (AttachmentId, u64),
        (upload, pin, holder): (&str, &str, &str),
    ) -> Result<bool> {
        let (digest, length) = (id.hex(), signed(length));
        let sql = "INSERT INTO forklore.attachment AS a (tenant, digest, upload, bytes, version)
             VALUES ($1, $2, $3, $4, pg_current_xact_id()::text::int8)
             ON CONFLICT (tenant, digest) DO UPDATE SET version = excluded.version
             RETURNING upload";
        let values = [text(&tenant), text(&digest), text(&upload), number(&length)];
        let row = connection.row(sql, &values)?;
        let stored: String = row.map_or(Ok(String::new()), |row| row.try_get(0))?;
        add_pin(connection, tenant, &digest, pin, holder)?;
        if stored != upload {
            return Ok(false);
        }
        let values = [text(&tenant), text(&upload)];
        let sql = "DELETE FROM forklore.attachment_upload WHERE tenant = $1 AND upload = $2";
        match connection.execute(sql, &values)? {
            0 => Err(swept().into()),
            _ => Ok(true),
        }
    }

    /// Puts the parts of an upload in the place of damaged ones of the same attachment.
    fn replace(&self, id: &AttachmentId, upload: &str) -> forklore_store::Result<()> {
        let (digest, tenant) = (id.hex(), self.shared.tenant());
        let sql = "WITH former AS (SELECT upload FROM forklore.attachment
                 WHERE tenant = $1 AND digest = $2 FOR UPDATE),
             gone AS (DELETE FROM forklore.attachment_part p USING former
                 WHERE p.tenant = $1 AND p.upload = former.upload),
             finished AS (DELETE FROM forklore.attachment_upload
                 WHERE tenant = $1 AND upload = $3)
             UPDATE forklore.attachment SET upload = $3 WHERE tenant = $1 AND digest = $2";
        let values = [text(&tenant), text(&digest), text(&upload)];
        self.shared
            .once("repairing an attachment in", |connection| connection.execute(sql, &values))
            .map(drop)
    }

    /// Removes an upload that is not finished. Of one whose publication may have been committed, the
    /// row of the upload tells: it is gone, and the parts stay.
    fn discard(&self, upload: &str) {
        let tenant = self.shared.tenant();
        let sql = "WITH gone AS (DELETE FROM forklore.attachment_upload
                 WHERE tenant = $1 AND upload = $2 RETURNING upload)
             DELETE FROM forklore.attachment_part p USING gone
                 WHERE p.tenant = $1 AND p.upload = gone.upload";
        // If it fails, a sweep removes it.
        let _ = self.shared.once("removing an upload from", |connection| {
            connection.execute(sql, &[text(&tenant), text(&upload)])
        });
    }

    fn pinned(&self, id: AttachmentId, bytes: u64, new: bool, pin: String) -> Pin {
        Pin::new(id, bytes, new, Unpin { shared: Arc::clone(&self.shared), pin, id })
    }
}

fn swept() -> Error {
    Error::io("writing an attachment", "a sweep removed what was read")
}

fn add_pin(
    connection: &Connection,
    tenant: &str,
    digest: &str,
    pin: &str,
    holder: &str,
) -> Result<()> {
    let sql = format!(
        "INSERT INTO forklore.attachment_pin (tenant, digest, pin, holder, expires)
         VALUES ($1, $2, $3, $4, {EXPIRES})"
    );
    let values = [text(&tenant), text(&digest), text(&pin), text(&holder)];
    connection.execute(&sql, &values)?;
    Ok(())
}

impl Attachments for PostgresAttachments {
    fn put(&self, from: &mut dyn Read, limit: u64) -> forklore_store::Result<Pin> {
        let (tenant, holder) = (self.shared.tenant(), self.shared.holder());
        let random = || random::hexadecimal().map_err(|fault| fault.into_error("attaching to", ""));
        let (upload, pin) = (random()?, random()?);
        let sql = format!(
            "INSERT INTO forklore.attachment_upload (tenant, upload, holder, expires)
             VALUES ($1, $2, $3, {EXPIRES})"
        );
        self.shared.create(Layout::default())?;
        self.shared.once("attaching to", |connection| {
            connection.execute(&sql, &[text(&tenant), text(&upload), text(&holder)])
        })?;
        let done = self.upload(&upload, from, limit).and_then(|(id, length)| {
            let new = self.shared.transaction("attaching to", |connection| {
                Self::publish(connection, tenant, (id, length), (&upload, &pin, holder))
            })?;
            Ok((id, length, new))
        });
        let (id, length, new) = done.inspect_err(|_| self.discard(&upload))?;
        let pin = self.pinned(id, length, new, pin);
        if !new {
            match check(self, &id) {
                Err(Error::Corrupt { .. }) => self.replace(&id, &upload)?,
                _ => self.discard(&upload),
            }
        }
        Ok(pin)
    }

    fn pin(&self, id: &AttachmentId) -> forklore_store::Result<Option<Pin>> {
        let (tenant, digest) = (self.shared.tenant(), id.hex());
        let pin = random::hexadecimal().map_err(|fault| fault.into_error("pinning in", ""))?;
        let sql = "UPDATE forklore.attachment SET version = pg_current_xact_id()::text::int8
             WHERE tenant = $1 AND digest = $2 RETURNING bytes";
        let length = self.shared.transaction("pinning an attachment in", |connection| {
            let row = connection.row(sql, &[text(&tenant), text(&digest)])?;
            let Some(row) = row else { return Ok(None) };
            add_pin(connection, tenant, &digest, &pin, self.shared.holder())?;
            Ok(Some(row.try_get::<_, i64>(0)?))
        })?;
        Ok(length.map(|length| self.pinned(*id, unsigned(length), false, pin)))
    }

    fn open(&self, id: &AttachmentId) -> forklore_store::Result<Option<Box<dyn Read + Send>>> {
        let (tenant, digest) = (self.shared.tenant(), id.hex());
        let sql = "SELECT upload, bytes FROM forklore.attachment WHERE tenant = $1 AND digest = $2";
        let row = self.shared.read("opening an attachment in", |connection| {
            connection.row(sql, &[text(&tenant), text(&digest)])
        })?;
        let Some(row) = row else { return Ok(None) };
        let of_row = |error: tokio_postgres::Error| Error::io("opening an attachment", error);
        let (upload, length) =
            (row.try_get(0).map_err(of_row)?, row.try_get::<_, i64>(1).map_err(of_row)?);
        Ok(Some(Box::new(Parts::of(Arc::clone(&self.shared), upload, unsigned(length)))))
    }

    fn find(&self, id: &AttachmentId) -> forklore_store::Result<Option<Attachment>> {
        Ok(self.described("a.digest = $2", &id.hex())?.into_iter().next())
    }

    fn list(&self) -> forklore_store::Result<Vec<Attachment>> {
        self.described("a.digest > $2", "")
    }

    fn sweep(&self, unneeded: &[Attachment]) -> forklore_store::Result<Swept> {
        let mut swept = Swept { attachments: 0, bytes: self.sweep_uploads()? };
        for attachment in unneeded {
            if self.sweep_one(attachment)? {
                swept.attachments += 1;
                swept.bytes += attachment.bytes;
            }
        }
        Ok(swept)
    }
}

impl PostgresAttachments {
    /// Describes the attachments that meet a condition, ordered by name.
    fn described(&self, condition: &str, digest: &str) -> forklore_store::Result<Vec<Attachment>> {
        let tenant = self.shared.tenant();
        let sql = format!(
            "SELECT a.digest, a.bytes, a.version, (
                 SELECT array_agg(p.holder) FROM forklore.attachment_pin p
                 WHERE p.tenant = $1 AND p.digest = a.digest AND p.expires > {NOW})
             FROM forklore.attachment a WHERE a.tenant = $1 AND {condition} ORDER BY a.digest"
        );
        self.shared.read("listing the attachments of", |connection| {
            let rows = connection.rows(&sql, &[text(&tenant), text(&digest)])?;
            rows.iter().map(describe).collect()
        })
    }

    /// Removes an attachment, unless it was pinned or put since it was listed. Returns whether it
    /// did.
    fn sweep_one(&self, attachment: &Attachment) -> forklore_store::Result<bool> {
        let (tenant, digest) = (self.shared.tenant(), attachment.id.hex());
        let version = i64::try_from(attachment.version).unwrap_or(-1);
        self.shared.transaction("sweeping", |connection| {
            let sql = "SELECT upload FROM forklore.attachment
                 WHERE tenant = $1 AND digest = $2 AND version = $3 FOR UPDATE";
            let values = [text(&tenant), text(&digest), number(&version)];
            let Some(row) = connection.row(sql, &values)? else { return Ok(false) };
            let sql = format!(
                "SELECT array_agg(holder) FROM forklore.attachment_pin
                 WHERE tenant = $1 AND digest = $2 AND expires > {NOW}"
            );
            let pins = connection.row(&sql, &[text(&tenant), text(&digest)])?;
            if pins.map(|pins| is_pinned(&pins, 0)).transpose()?.unwrap_or_default() {
                return Ok(false);
            }
            let upload: String = row.try_get(0)?;
            for table in ["attachment_pin", "attachment"] {
                let sql = format!("DELETE FROM forklore.{table} WHERE tenant = $1 AND digest = $2");
                connection.execute(&sql, &[text(&tenant), text(&digest)])?;
            }
            let sql = "DELETE FROM forklore.attachment_part WHERE tenant = $1 AND upload = $2";
            connection.execute(sql, &[text(&tenant), text(&upload)])?;
            Ok(true)
        })
    }

    /// Removes the uploads whose process is gone. Returns how many bytes they had.
    fn sweep_uploads(&self) -> forklore_store::Result<u64> {
        let tenant = self.shared.tenant();
        let sql = format!(
            "SELECT upload, holder, expires <= {NOW} FROM forklore.attachment_upload
             WHERE tenant = $1"
        );
        self.shared.transaction("sweeping", |connection| {
            let mut gone = Vec::new();
            for row in connection.rows(&sql, &[text(&tenant)])? {
                let (holder, expired): (String, bool) = (row.try_get(1)?, row.try_get(2)?);
                if expired || lease_owner::is_gone(&holder) {
                    gone.push(row.try_get::<_, String>(0)?);
                }
            }
            // An upload that was published meanwhile has no row any more, and its parts stay.
            let sql = "WITH uploads AS (DELETE FROM forklore.attachment_upload
                     WHERE tenant = $1 AND upload = ANY ($2) RETURNING upload),
                 parts AS (DELETE FROM forklore.attachment_part p USING uploads
                     WHERE p.tenant = $1 AND p.upload = uploads.upload
                     RETURNING length(p.bytes) AS bytes)
                 SELECT coalesce(sum(bytes), 0)::int8 FROM parts";
            let row = connection.row(sql, &[text(&tenant), texts(&gone)])?;
            row.map_or(Ok(0), |row| Ok(unsigned(row.try_get(0)?)))
        })
    }
}

fn describe(row: &Row) -> Result<Attachment> {
    let digest: String = row.try_get(0)?;
    let id = AttachmentId::from_hex(&digest).map_err(|error| Error::Corrupt {
        session: None,
        seq: None,
        location: "the list of attachments".into(),
        message: error.to_string(),
    })?;
    Ok(Attachment {
        id,
        bytes: unsigned(row.try_get(1)?),
        version: u128::from(unsigned(row.try_get(2)?)),
        pinned: is_pinned(row, 3)?,
    })
}

/// Checks whether one of the processes in a column of a row may still exist.
fn is_pinned(row: &Row, at: usize) -> Result<bool> {
    let holders: Option<Vec<String>> = row.try_get(at)?;
    Ok(holders.into_iter().flatten().any(|holder| !lease_owner::is_gone(&holder)))
}
