//! The row of a session: its header, and where the events are that it inherits.

mod fields;

use forklore_core::{Header, OpenCall, SessionId};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

use self::fields::Fields;
use crate::checksum::Checksum;
use crate::fault::{Fault, Result};
use crate::number::{micros, time};

/// The columns that [`Session::of`] reads, in this order.
pub(crate) const COLUMNS: &str = "s.family, s.id, s.header, s.metadata, s.config, s.crc, s.parent, \
     s.label, s.updated, s.state, s.base, s.base_whole, s.owned";
/// How many columns these are.
pub(crate) const WIDTH: usize = 13;

/// A session as the database stores it.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) header: Header,
    pub(crate) origin: Inheritance,
    /// The tool calls that are open at the head.
    pub(crate) open: Vec<OpenCall>,
}

/// Where the events are that a session inherits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inheritance {
    /// The session that wrote the last of them, and whether that session's own copy of its history
    /// is meant. It stays after a detach, for the sake of the session's earlier children.
    pub(crate) base: Option<(String, bool)>,
    /// Whether the session has its own copy of them.
    pub(crate) owned: bool,
}

/// The state of a session as a number, for conditions of queries.
pub(crate) const LIVING: i16 = 0;
pub(crate) const TRASHED: i16 = 1;
pub(crate) const ERASED: i16 = 2;

pub(crate) fn state_of(header: &Header) -> i16 {
    match header.deleted {
        None => LIVING,
        Some(tombstone) if tombstone.restorable => TRASHED,
        Some(_) => ERASED,
    }
}

/// Returns the key by which the sessions of a workspace are found.
pub(crate) fn workspace_key(path: &str) -> Vec<u8> {
    Sha256::digest(path.as_bytes()).iter().take(16).copied().collect()
}

impl Session {
    pub(crate) fn family(&self) -> &str {
        self.header.root_id.as_str()
    }

    pub(crate) fn id(&self) -> &str {
        self.header.id.as_str()
    }

    /// Returns the JSON of the column `header`.
    pub(crate) fn fields(&self) -> Result<String> {
        let fields = Fields::of(&self.header, &self.open);
        serde_json::to_string(&fields)
            .map_err(|error| Fault::damaged(self.id(), None, error.to_string()))
    }

    /// Returns the checksum of the row, whose column `header` is `fields`.
    pub(crate) fn sum(&self, fields: &str) -> i64 {
        let Header { metadata, config, parent_id, label, updated, .. } = &self.header;
        let Inheritance { base, owned } = &self.origin;
        Checksum::default()
            .text(self.family())
            .text(self.id())
            .text(fields)
            .optional(metadata.as_ref().map(forklore_core::Data::get))
            .optional(config.as_ref().map(forklore_core::Data::get))
            .optional(parent_id.as_ref().map(SessionId::as_str))
            .text(label.as_str())
            .number(micros(*updated))
            .number(i64::from(state_of(&self.header)))
            .optional(base.as_ref().map(|(id, _)| id.as_str()))
            .number(i64::from(base.as_ref().is_some_and(|(_, whole)| *whole)))
            .number(i64::from(*owned))
            .sum()
    }

    /// Checks whether both are the same row of the database, which has times in microseconds.
    pub(crate) fn is_same_row(&self, other: &Self) -> Result<bool> {
        let (fields, others) = (self.fields()?, other.fields()?);
        let is_same = self.sum(&fields) == other.sum(&others) && self.id() == other.id();
        Ok(is_same && fields == others && self.origin == other.origin)
    }

    /// Reads and checks a row with the columns [`COLUMNS`].
    pub(crate) fn of(row: &Row) -> Result<Self> {
        let id: String = row.try_get(1)?;
        let (stored, sum): (String, i64) = (row.try_get(2)?, row.try_get(5)?);
        let session = Self::parts(row, &id, &stored)?;
        let state: i16 = row.try_get(9)?;
        if session.sum(&stored) != sum || state_of(&session.header) != state {
            return Err(Fault::damaged(&id, None, "its fields do not fit their checksum"));
        }
        Ok(session)
    }

    fn parts(row: &Row, id: &str, stored: &str) -> Result<Self> {
        let damaged = |error: String| Fault::damaged(id, None, error);
        let name = |at: usize| -> Result<Option<SessionId>> {
            let text: Option<String> = row.try_get(at)?;
            let parsed = text.map(|text| text.parse()).transpose();
            parsed.map_err(|_| damaged("an id in it is no id".into()))
        };
        let data = |at: usize| -> Result<Option<forklore_core::Data>> {
            let text: Option<String> = row.try_get(at)?;
            Ok(text.map(forklore_core::Data::from_checked))
        };
        let fields: Fields =
            serde_json::from_str(stored).map_err(|error| damaged(error.to_string()))?;
        let missing = || damaged("an id in it is missing".into());
        let label: String = row.try_get(7)?;
        let label = label.parse().map_err(|_| damaged("its label is no label".into()))?;
        let (own, root) = (name(1)?.ok_or_else(missing)?, name(0)?.ok_or_else(missing)?);
        let updated = time(row.try_get(8)?).map_err(damaged)?;
        let (mut header, open) = fields.into_header(own, root, label, updated).map_err(damaged)?;
        header.parent_id = name(6)?;
        header.metadata = data(3)?;
        header.config = data(4)?;
        let (base, whole): (Option<String>, bool) = (row.try_get(10)?, row.try_get(11)?);
        Ok(Self {
            header,
            origin: Inheritance { base: base.map(|base| (base, whole)), owned: row.try_get(12)? },
            open,
        })
    }
}
