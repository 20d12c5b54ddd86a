//! The turns to which the current task belongs. `cleanup` must know these turns, because a tool
//! must not wait for the end of a turn that itself waits for the tool.

use std::sync::Arc;

use crate::context::Context;

tokio::task_local! {
    static TURNS: Vec<Arc<Context>>;
}

/// Runs `work`, such as a tool call, as a part of the running turn of a session. `work` is then
/// also a part of every turn that the caller is a part of.
pub(crate) fn within<F: Future>(
    context: &Arc<Context>,
    work: F,
) -> impl Future<Output = F::Output> + use<F> {
    let mut turns = TURNS.try_with(Clone::clone).unwrap_or_default();
    turns.push(context.clone());
    TURNS.scope(turns, work)
}

/// Checks whether the current task is a part of the running turn of a session.
pub(crate) fn is_within(context: &Arc<Context>) -> bool {
    let is_there = |turns: &Vec<Arc<Context>>| turns.iter().any(|it| Arc::ptr_eq(it, context));
    TURNS.try_with(is_there).unwrap_or(false)
}
