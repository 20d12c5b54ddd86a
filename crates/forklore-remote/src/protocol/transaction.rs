//! A transaction as a message.

use forklore_core::AttachmentId;
use forklore_store::Error;
use forklore_store::port::{Deletion, NewOperation, Transaction, Write};
use serde::{Deserialize, Serialize};

use super::source::StepMessage;

/// A transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TransactionMessage {
    /// The writes, in order.
    pub writes: Vec<Write>,
    /// The import step to which the writes belong.
    pub source: Option<Box<StepMessage>>,
    /// The attachments that events of the writes name.
    pub attachments: Vec<AttachmentId>,
    /// The operation to record with the writes.
    pub operation: Option<Box<NewOperation>>,
}

impl TransactionMessage {
    /// Checks whether a write erases sessions, or takes the content of events away. Nothing brings that
    /// back.
    #[must_use]
    pub fn erases(&self) -> bool {
        self.writes.iter().any(|write| match write {
            Write::Remove(removal) => removal.deletion != Deletion::Trash,
            Write::Redact(_) => true,
            Write::Create(_) | Write::Append { .. } | Write::Change { .. } => false,
        })
    }
}

impl From<Transaction> for TransactionMessage {
    fn from(from: Transaction) -> Self {
        let Transaction { writes, source, attachments, operation } = from;
        Self { writes, source: source.map(|step| Box::new((*step).into())), attachments, operation }
    }
}

impl TryFrom<TransactionMessage> for Transaction {
    type Error = Error;

    fn try_from(from: TransactionMessage) -> Result<Self, Error> {
        let TransactionMessage { writes, source, attachments, operation } = from;
        let source = source.map(|step| (*step).try_into().map(Box::new)).transpose()?;
        Ok(Self { writes, source, attachments, operation })
    }
}
