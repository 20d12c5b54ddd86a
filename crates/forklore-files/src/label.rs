//! Claims of labels: one file per label of a family. The file names the session that has the label.
//! The claims are an index; the sessions' headers are authoritative.

use forklore_core::{Header, Label, SessionId};
use forklore_store::port::Filter;
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::folder::Folder;
use crate::line;

#[derive(Serialize, Deserialize)]
struct LabelClaim {
    session_id: SessionId,
}

/// Checks that no living session of a family has this label, except possibly the session `but`. A
/// family is all sessions with the same root; `root` is the id of that root.
pub(crate) fn check(
    folder: &Folder,
    root: &SessionId,
    label: &Label,
    but: &SessionId,
) -> Result<()> {
    let holder = match labelled(folder, root, label)? {
        Claimed::Nobody => None,
        Claimed::By(id) => match folder.any(&id) {
            Ok(session) => Some(session.header),
            Err(Error::NotFound(_)) => None,
            // Assume that the damaged session is living and has the label.
            Err(Error::Corrupt { .. } | Error::Lost { .. }) => {
                return Err(Error::LabelInUse { label: label.clone(), by: id });
            }
            Err(error) => return Err(error),
        },
        Claimed::Unreadable => family_label(folder, root, label)?,
    };
    let has = |header: &Header| {
        header.deleted.is_none()
            && header.label == *label
            && header.root_id == *root
            && header.id != *but
    };
    match holder.filter(has) {
        Some(header) => Err(Error::LabelInUse { label: label.clone(), by: header.id }),
        None => Ok(()),
    }
}

/// Durably reserves a label for the session `id` by writing a claim file. Replaces an earlier claim
/// of the label. A label is unique among the sessions with the root `root`.
pub(crate) fn claim(
    folder: &Folder,
    root: &SessionId,
    label: &Label,
    id: &SessionId,
) -> Result<()> {
    folder.make_dir(&folder.layout.family(root))?;
    let claim = crate::line::sealed(&LabelClaim { session_id: id.clone() })?;
    folder.put(&folder.layout.label(root, label), claim.as_bytes())
}

/// Removes the claim file of a session's label, if the file names this session. If the process is
/// killed before the removal, the file has no effect: the session that it names then has another
/// label or is deleted.
pub(crate) fn free(folder: &Folder, header: &Header) -> Result<()> {
    match labelled(folder, &header.root_id, &header.label)? {
        Claimed::By(id) if id == header.id => {
            folder.remove(&folder.layout.label(&header.root_id, &header.label))
        }
        _ => Ok(()),
    }
}

/// Checks whether the claim file that reserves the session's label names this session.
pub(crate) fn is_labelled(folder: &Folder, header: &Header) -> Result<bool> {
    let claimed = labelled(folder, &header.root_id, &header.label)?;
    Ok(matches!(claimed, Claimed::By(id) if id == header.id))
}

fn labelled(folder: &Folder, root: &SessionId, label: &Label) -> Result<Claimed> {
    let Some(bytes) = folder.read(&folder.layout.label(root, label))? else {
        return Ok(Claimed::Nobody);
    };
    let claim = line::checked(&bytes).ok().and_then(|text| serde_json::from_str(text).ok());
    Ok(claim.map_or(Claimed::Unreadable, |claim: LabelClaim| Claimed::By(claim.session_id)))
}

/// Returns the living session that has the label among the sessions with the root `root`. Returns
/// `None` if there is none. Reads the headers of all sessions instead of the claim file that
/// reserves the label.
fn family_label(folder: &Folder, root: &SessionId, label: &Label) -> Result<Option<Header>> {
    let filter =
        Filter { family: Some(root.clone()), label: Some(label.clone()), ..Filter::default() };
    Ok(folder.list(&filter, None, 1)?.sound.into_iter().next())
}

enum Claimed {
    Nobody,
    By(SessionId),
    Unreadable,
}
