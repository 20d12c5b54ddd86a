//! The fields of a header that have no column of their own, as JSON.

use std::collections::BTreeSet;

use forklore_core::header::CopyOf;
use forklore_core::workspace::Workspace;
use forklore_core::{
    Counts, Cut, Header, Label, Lease, OpenCall, SessionId, SessionKind, Strategy, Tombstone,
    ToolCallPolicy, Usage,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::number::{micros, time};

/// The fields. A field that is missing has its default. An older program would ignore a new field, so
/// a new field needs a new version of the tables, which an older program refuses.
#[derive(Serialize, Deserialize)]
pub(super) struct Fields {
    kind: SessionKind,
    workspace: Workspace,
    inherited: Counts,
    counts: Counts,
    own_events: u64,
    own_bytes: u64,
    usage: Usage,
    created: i64,
    depth: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<(Cut, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strategy: Option<Strategy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_calls: Option<ToolCallPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permissions: Option<BTreeSet<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dialect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease: Option<StoredLease>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    detached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    leaf: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copy_of: Option<CopyOf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted: Option<(i64, bool)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    open: Vec<OpenCall>,
}

#[derive(Serialize, Deserialize)]
struct StoredLease {
    owner: String,
    expires: i64,
    began_at: i64,
}

impl Fields {
    pub(super) fn of(header: &Header, open: &[OpenCall]) -> Self {
        let header = header.clone();
        let lease = header.lease.map(|lease| StoredLease {
            owner: lease.owner,
            expires: micros(lease.expires),
            began_at: lease.began_at,
        });
        Self {
            kind: header.kind,
            workspace: header.workspace,
            inherited: header.inherited,
            counts: header.counts,
            own_events: header.own_events,
            own_bytes: header.own_bytes,
            usage: header.usage,
            created: micros(header.created),
            depth: header.depth,
            title: header.title,
            cut: header.cut.map(|cut| (cut.clone(), cut.inheritable)),
            strategy: header.strategy,
            tool_calls: header.tool_calls,
            principal: header.principal,
            permissions: header.permissions,
            dialect: header.dialect,
            lease,
            detached: header.detached,
            leaf: header.leaf,
            source: header.source,
            copy_of: header.copy_of,
            deleted: header.deleted.map(|stone| (micros(stone.deleted), stone.restorable)),
            open: open.to_vec(),
        }
    }

    /// Returns the header without the fields that have columns, except those given here.
    pub(super) fn into_header(
        self,
        id: SessionId,
        root_id: SessionId,
        label: Label,
        updated: Timestamp,
    ) -> Result<(Header, Vec<OpenCall>), String> {
        let lease = self.lease.map(|lease| {
            let StoredLease { owner, expires, began_at } = lease;
            Ok::<_, String>(Lease { owner, expires: time(expires)?, began_at })
        });
        let deleted = self.deleted.map(|(deleted, restorable)| {
            Ok::<_, String>(Tombstone { deleted: time(deleted)?, restorable })
        });
        let header = Header {
            id,
            root_id,
            parent_id: None,
            kind: self.kind,
            label,
            title: self.title,
            cut: self.cut.map(|(cut, inheritable)| Cut { inheritable, ..cut }),
            strategy: self.strategy,
            tool_calls: self.tool_calls,
            inherited: self.inherited,
            counts: self.counts,
            own_events: self.own_events,
            own_bytes: self.own_bytes,
            usage: self.usage,
            workspace: self.workspace,
            principal: self.principal,
            permissions: self.permissions,
            metadata: None,
            config: None,
            dialect: self.dialect,
            created: time(self.created)?,
            updated,
            depth: self.depth,
            lease: lease.transpose()?,
            detached: self.detached,
            leaf: self.leaf,
            source: self.source,
            copy_of: self.copy_of,
            deleted: deleted.transpose()?,
        };
        Ok((header, self.open))
    }
}
