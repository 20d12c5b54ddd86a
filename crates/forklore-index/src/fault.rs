//! The reasons why an index cannot answer a question. The caller then usually answers the question
//! without the stored index.

use rusqlite::ErrorCode;

/// The result of an operation on an index.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// Why an index could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// SQLite failed.
    #[error("the index: {0}")]
    Sql(#[from] rusqlite::Error),
    /// The index contains something that forklore never writes. The string describes it.
    #[error("the index is damaged: {0}")]
    Damaged(&'static str),
    /// The sessions could not be read from their store.
    #[error(transparent)]
    Sessions(#[from] forklore_engine::Error),
    /// The store of the sessions cannot be read, or the folder of the index cannot be used.
    #[error(transparent)]
    Store(#[from] forklore_store::Error),
    /// Another process emptied the index while this process used it.
    #[error("another process emptied the index")]
    Emptied,
}

impl Fault {
    /// Checks whether the files of the index are damaged, so that only a new index helps.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Sql(rusqlite::Error::SqliteFailure(error, _)) => !matches!(
                error.code,
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::DiskFull
                    | ErrorCode::OutOfMemory
                    | ErrorCode::PermissionDenied
                    | ErrorCode::ReadOnly
                    | ErrorCode::CannotOpen
                    | ErrorCode::TooBig
            ),
            // A column has another type, or a row is missing.
            Self::Sql(_) => true,
            Self::Sessions(_) | Self::Store(_) | Self::Emptied => false,
        }
    }
}
