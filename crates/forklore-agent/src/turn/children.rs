//! Creates the sub-agents for delegation calls before they run, and records their start.

use super::authorize::Authorized;
use super::child::{Child, Children};
use super::log::Log;
use crate::Result;
use crate::config::SessionConfig;
use crate::delegation::{Delegation, delegation_of};

/// Creates a sub-agent for each allowed delegation call. If a sub-agent cannot be created, refuses
/// the call with the reason.
pub(super) async fn make_children(
    log: &mut Log<'_>,
    config: &SessionConfig,
    children: &dyn Children,
    authorized: &mut [Authorized],
) -> Result<Vec<Option<Child>>> {
    let mut made = Vec::with_capacity(authorized.len());
    let mut began = Vec::new();
    for authorized in authorized.iter_mut() {
        let allowed = authorized.refused.is_none();
        let delegation = delegation_of(config, &authorized.call).filter(|_| allowed);
        let child = match delegation {
            Some(delegation) => make_child(log, config, children, &*delegation, authorized).await,
            None => None,
        };
        if let Some(child) = &child {
            began.push(child.began()?);
        }
        made.push(child);
    }
    log.append(began).await?;
    for child in made.iter().flatten() {
        child.announce_began(log.context);
    }
    Ok(made)
}

async fn make_child(
    log: &Log<'_>,
    config: &SessionConfig,
    children: &dyn Children,
    delegation: &dyn Delegation,
    authorized: &mut Authorized,
) -> Option<Child> {
    let session = log.session().clone();
    let made = match log.context.kernel.run(move |engine| engine.show(&session)).await {
        Ok(header) => match delegation.plan(&authorized.call, &header, config) {
            Ok(delegate) => {
                let made = Child::make(children, log.context, delegate, Some(&authorized.call));
                made.await.map_err(|error| error.to_string())
            }
            Err(reason) => Err(reason),
        },
        Err(error) => Err(error.to_string()),
    };
    match made {
        Ok(child) => Some(child),
        Err(reason) => {
            authorized.refused = Some(reason);
            None
        }
    }
}
