//! Types of `attach`: attachments, whose bytes are stored outside the log, and the messages that
//! reference them.

use std::path::PathBuf;

use forklore_core::limits::ATTACHMENT_BYTES;
use forklore_core::{AttachmentId, SessionId};
use serde::{Deserialize, Serialize};

/// The request of `attach`: metadata of the attachment, and of the message that references it.
///
/// The bytes of the attachment are sent separately, outside the JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[serde(default)]
pub struct Attach {
    /// The file name or display name of the attachment. `null` gives it no name.
    pub name: Option<String>,
    /// The media type, for example `image/png`. Default: `application/octet-stream`.
    pub media_type: String,
    /// The text of the message that references the attachment. `null` writes no text.
    pub text: Option<String>,
    /// The largest accepted size of the attachment in bytes. Default: 4 GiB.
    pub limit: u64,
    /// The head `seq` that the writer last read (-1 for an empty log). If the session has another
    /// head, the call fails with `conflict`. `null` appends after the current head, whatever it is.
    pub expect: Option<i64>,
    /// The name under which the caller has leased the session; `null` if the caller has no lease.
    pub owner: Option<String>,
}

impl Default for Attach {
    fn default() -> Self {
        Self {
            name: None,
            media_type: "application/octet-stream".into(),
            text: None,
            limit: ATTACHMENT_BYTES,
            expect: None,
            owner: None,
        }
    }
}

/// The request of `attach SESSION --get REF`: reads one attachment of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReadAttachment {
    /// The session whose messages reference the attachment.
    pub session_id: SessionId,
    /// Identifies the attachment in one of three ways: by the name that a message gives it, by its
    /// reference (`sha256:` and 64 hex digits), or by at least the first 4 hex digits of its
    /// reference. Exactly one attachment of the session must match.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The new file to write the attachment to, on the machine that executes the request. `null`
    /// returns the bytes to the caller, separately from the JSON.
    pub path: Option<PathBuf>,
}

/// The answer of `attach`: the stored attachment and the message that references it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attached {
    /// The session that contains the message.
    pub session_id: SessionId,
    /// The reference of the attachment, for use in messages: `sha256:` and the digest of its bytes.
    #[serde(rename = "ref")]
    pub id: AttachmentId,
    /// The file name or display name of the attachment. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The media type of the attachment.
    pub media_type: String,
    /// The size of the attachment in bytes.
    pub bytes: u64,
    /// Whether this call stored the attachment's bytes. `false` if the store already had them.
    pub new: bool,
    /// The log position (`seq`) of the message that references the attachment.
    pub seq: u64,
    /// The session's last log position.
    pub head_seq: i64,
}

/// An attachment that a message of a session references.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedAttachment {
    /// The log position (`seq`) of the message that references the attachment.
    pub seq: u64,
    /// The reference of the attachment: `sha256:` and the digest of its bytes.
    #[serde(rename = "ref")]
    pub id: AttachmentId,
    /// The name of the attachment, as the message states it. Absent if the message states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The media type of the attachment, as the message states it.
    pub media_type: String,
    /// The size of the attachment in bytes. Absent if its bytes are missing from the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Whether the attachment's bytes are missing from the store or damaged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

/// The answer of `attach SESSION`: all attachments that the session's messages reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attachments {
    /// The id of the session whose messages reference the attachments.
    pub session_id: SessionId,
    /// The attachments in log order, including the attachments of messages that the session
    /// inherits.
    pub attachments: Vec<NamedAttachment>,
}

/// The answer of `attach SESSION --get REF -o PATH`: describes the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachmentFile {
    /// The path of the written file.
    pub path: PathBuf,
    /// The reference of the attachment: `sha256:` and the digest of the bytes.
    #[serde(rename = "ref")]
    pub id: AttachmentId,
    /// The size of the attachment in bytes.
    pub bytes: u64,
}
