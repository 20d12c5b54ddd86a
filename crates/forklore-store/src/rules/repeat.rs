//! Which transactions a store may execute again if it is not known whether the first execution was
//! committed.

use crate::port::{Transaction, Write};

/// Checks whether a second execution of the transaction does no harm if the first one succeeded: the
/// rules of repeated appends recognise it.
#[must_use]
pub fn is_repeatable(transaction: &Transaction) -> bool {
    let Transaction { writes, source, operation, .. } = transaction;
    let is_append = |write: &Write| match write {
        Write::Append { append, .. } => append.expect.is_some(),
        _ => false,
    };
    source.is_none() && operation.is_none() && writes.iter().all(is_append)
}
