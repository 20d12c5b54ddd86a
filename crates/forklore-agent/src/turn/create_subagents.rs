//! Creates the sub-agents for delegation calls before they run, and records their start.

use super::authorize::Authorized;
use super::log::Log;
use super::subagent::{Subagent, SubagentFactory};
use crate::Result;
use crate::config::SessionConfig;
use crate::delegation::{Delegation, delegation_of};

/// Creates a sub-agent for each allowed call of the delegation tool. If a sub-agent cannot be
/// created, refuses the call with the reason. Returns one entry for each call, in order: the call's
/// sub-agent, or `None` if the call has none.
pub(super) async fn create_subagents(
    log: &mut Log<'_>,
    config: &SessionConfig,
    factory: &dyn SubagentFactory,
    authorized: &mut [Authorized],
) -> Result<Vec<Option<Subagent>>> {
    let mut made = Vec::with_capacity(authorized.len());
    let mut began = Vec::new();
    for authorized in authorized.iter_mut() {
        let allowed = authorized.refused.is_none();
        let delegation = delegation_of(config, &authorized.call).filter(|_| allowed);
        let subagent = match delegation {
            Some(delegation) => {
                create_subagent(log, config, factory, &*delegation, authorized).await
            }
            None => None,
        };
        if let Some(subagent) = &subagent {
            began.push(subagent.began()?);
        }
        made.push(subagent);
    }
    log.append(began).await?;
    for subagent in made.iter().flatten() {
        subagent.announce_began(log.context);
    }
    Ok(made)
}

async fn create_subagent(
    log: &Log<'_>,
    config: &SessionConfig,
    factory: &dyn SubagentFactory,
    delegation: &dyn Delegation,
    authorized: &mut Authorized,
) -> Option<Subagent> {
    let session = log.session().clone();
    let made = match log.context.kernel.run(move |engine| engine.show(&session)).await {
        Ok(header) => match delegation.plan(&authorized.call, &header, config) {
            Ok(delegate) => {
                let made = Subagent::make(factory, log.context, delegate, Some(&authorized.call));
                made.await.map_err(|error| error.to_string())
            }
            Err(reason) => Err(reason),
        },
        Err(error) => Err(error.to_string()),
    };
    match made {
        Ok(subagent) => Some(subagent),
        Err(reason) => {
            authorized.refused = Some(reason);
            None
        }
    }
}
