//! `attach`: bytes beside the log, and the messages that name them.

use std::path::PathBuf;

use forklore_core::limits::ATTACHMENT_BYTES;
use forklore_core::{AttachmentId, SessionId};
use serde::{Deserialize, Serialize};

/// `attach`: what to say about the bytes that are attached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[serde(default)]
pub struct Attach {
    /// What they are called.
    pub name: Option<String>,
    /// What they are, like `image/png`.
    pub media_type: String,
    /// What is said with them.
    pub text: Option<String>,
    /// The most bytes to take.
    pub limit: u64,
    /// The head that the writer saw; none writes after whatever is there.
    pub expect: Option<i64>,
    /// The runtime that holds the session's lease, if one does.
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

/// The answer of `attach`: the bytes, and the message that names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attached {
    /// The session.
    pub session_id: SessionId,
    /// What the message names them by.
    #[serde(rename = "ref")]
    pub id: AttachmentId,
    /// What they are called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What they are.
    pub media_type: String,
    /// How many there are.
    pub bytes: u64,
    /// Whether the store did not have them before.
    pub new: bool,
    /// The log position of the message.
    pub seq: u64,
    /// The session's last log position.
    pub head_seq: i64,
}

/// An attachment that a message of a session names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedAttachment {
    /// The log position of the message.
    pub seq: u64,
    /// What it is named by.
    #[serde(rename = "ref")]
    pub id: AttachmentId,
    /// What it is called there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    pub media_type: String,
    /// How many bytes it has; none when they are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Whether the store lacks its bytes, or has them damaged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

/// The answer of `attach SESSION`: what its messages name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attachments {
    /// The session.
    pub session_id: SessionId,
    /// The attachments, inherited ones too, in order.
    pub attachments: Vec<NamedAttachment>,
}

/// The answer of `attach SESSION --get REF -o PATH`: the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachmentFile {
    /// The file.
    pub path: PathBuf,
    /// What a message names it by.
    #[serde(rename = "ref")]
    pub id: AttachmentId,
    /// How many bytes it has.
    pub bytes: u64,
}
