//! Sub-agents that calls ask for: made before they work, each with its record.

use super::decide::Decided;
use super::log::Log;
use crate::Result;
use crate::session::{Child, Delegation, Equipment, delegation_of};

/// Makes the sub-agents that calls ask for. Of a call that gets none, the reason is its result.
pub(super) async fn make_children(
    log: &mut Log<'_>,
    equipment: &Equipment,
    decided: &mut [Decided],
) -> Result<Vec<Option<Child>>> {
    let mut children = Vec::with_capacity(decided.len());
    let mut began = Vec::new();
    for decided in decided.iter_mut() {
        let allowed = decided.refused.is_none();
        let delegation = delegation_of(equipment, &decided.call).filter(|_| allowed);
        let child = match delegation {
            Some(delegation) => make_child(log, equipment, &*delegation, decided).await,
            None => None,
        };
        if let Some(child) = &child {
            began.push(child.began()?);
        }
        children.push(child);
    }
    log.append(began).await?;
    for child in children.iter().flatten() {
        child.announce_began(log.inner);
    }
    Ok(children)
}

async fn make_child(
    log: &Log<'_>,
    equipment: &Equipment,
    delegation: &dyn Delegation,
    decided: &mut Decided,
) -> Option<Child> {
    let session = log.session().clone();
    let made = match log.inner.kernel.run(move |engine| engine.show(&session)).await {
        Ok(header) => match delegation.plan(&decided.call, &header, equipment) {
            Ok(delegate) => {
                let made = log.inner.make_delegate(delegate, Some(&decided.call)).await;
                made.map_err(|error| error.to_string())
            }
            Err(reason) => Err(reason),
        },
        Err(error) => Err(error.to_string()),
    };
    match made {
        Ok(child) => Some(child),
        Err(reason) => {
            decided.refused = Some(reason);
            None
        }
    }
}
