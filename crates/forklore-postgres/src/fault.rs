//! The errors inside this crate: those of the store's contract, and those of the database.

use forklore_core::SessionId;
use forklore_store::Error;
use tokio_postgres::error::{DbError, SqlState};

pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

/// Why a step of a call failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The answer to the caller.
    Store(Error),
    /// The database refused a statement, or the connection to it broke.
    Database(tokio_postgres::Error),
    /// The database did not answer in time. The connection must not be used again.
    Late,
    /// The transaction is committed on the primary, which was made to wait no longer for a standby.
    /// It is lost if the primary fails before a standby has it.
    OnlyHere,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl Fault {
    /// Returns the error for stored data of this session that cannot be what was written.
    pub(crate) fn damaged(session: &str, seq: Option<u64>, message: impl Into<String>) -> Self {
        let session: Option<SessionId> = session.parse().ok();
        let location = match (&session, seq) {
            (Some(id), Some(seq)) => format!("event {seq} of session {id}"),
            (Some(id), None) => format!("the row of session {id}"),
            (None, _) => "a row of a session whose id is no id".to_owned(),
        };
        Self::Store(Error::Corrupt { session, seq, location, message: message.into() })
    }

    fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Database(error) => error.code(),
            _ => None,
        }
    }

    /// Checks whether the database gave up the transaction in favour of another one. Nothing of it
    /// was written, and the same transaction may succeed now.
    pub(crate) fn is_of_race(&self) -> bool {
        let races = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            // The id or the label was free when the transaction looked, and is taken now.
            SqlState::UNIQUE_VIOLATION,
        ];
        self.state().is_some_and(|state| races.contains(state))
    }

    /// Checks whether another process created the same schema or table at the same moment.
    pub(crate) fn is_of_race_to_create(&self) -> bool {
        let races = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::DUPLICATE_SCHEMA,
            SqlState::DUPLICATE_TABLE,
            SqlState::DUPLICATE_OBJECT,
        ];
        self.state().is_some_and(|state| races.contains(state))
    }

    /// Checks whether the connection is unusable, so that it is unknown what became of the
    /// statement.
    pub(crate) fn is_of_connection(&self) -> bool {
        match self {
            Self::Store(_) => false,
            Self::Late | Self::OnlyHere => true,
            Self::Database(error) => match error.as_db_error() {
                Some(refused) => {
                    let gone = [
                        SqlState::ADMIN_SHUTDOWN,
                        SqlState::CRASH_SHUTDOWN,
                        SqlState::CANNOT_CONNECT_NOW,
                        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                        SqlState::IDLE_SESSION_TIMEOUT,
                    ];
                    // 25P04 is `transaction_timeout`, since PostgreSQL 17.
                    let code = refused.code().code();
                    code.starts_with("08")
                        || code == "25P04"
                        || gone.contains(refused.code())
                        || is_of_prepared(refused)
                        || is_of_standby(refused)
                }
                None => {
                    let cause = std::error::Error::source(error);
                    error.is_closed()
                        || cause
                            .is_some_and(|cause| cause.downcast_ref::<std::io::Error>().is_some())
                }
            },
        }
    }

    /// Checks whether no connection could be opened, so that nothing was sent.
    pub(crate) fn is_of_connecting(&self) -> bool {
        // The crate of the driver shows the kind of an error only in its text.
        matches!(self, Self::Database(error) if error.as_db_error().is_none()
            && error.to_string().starts_with("error connecting to server"))
    }

    /// Checks whether the server is a standby, which executes no writes.
    pub(crate) fn is_of_standby(&self) -> bool {
        matches!(self, Self::Database(error) if error.as_db_error().is_some_and(is_of_standby))
    }

    /// Checks whether this is the store's answer to a repeated transaction: what it says of the
    /// session, such as a conflict, also says that the earlier attempt was not committed.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Self::Store(error) if !error.is_of_store())
    }

    /// Checks whether this is an answer of the database.
    pub(crate) fn is_of_database(&self) -> bool {
        matches!(self, Self::Database(error) if error.as_db_error().is_some())
    }

    /// Checks whether the login lacks a right.
    pub(crate) fn is_of_privilege(&self) -> bool {
        self.state() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
    }

    /// Checks whether the database has no tables of forklore.
    pub(crate) fn is_without_tables(&self) -> bool {
        let missing = [
            SqlState::UNDEFINED_TABLE,
            SqlState::INVALID_SCHEMA_NAME,
            SqlState::INVALID_CATALOG_NAME,
        ];
        self.state().is_some_and(|state| missing.contains(state))
    }

    /// Returns the error for the caller. `location` is the store's address without its password.
    pub(crate) fn into_error(self, doing: &str, location: &str) -> Error {
        let doing = || format!("{doing} {location}");
        match self {
            Self::Store(error) => error,
            Self::Late => Error::io(doing(), "the database did not answer in time"),
            Self::OnlyHere => Error::io(doing(), "no standby has confirmed the commit"),
            Self::Database(error) => match error.as_db_error() {
                Some(refused) if is_of_tables(refused) => {
                    of_tables(location, &format!("{} ({})", refused.message(), code(refused)))
                }
                Some(refused) => of_database(refused, doing()),
                // A column has another type than it was created with.
                None if error.to_string().starts_with("error deserializing column") => {
                    of_tables(location, &causes(&error))
                }
                None if causes(&error) == "invalid configuration: password missing" => {
                    let doing = doing();
                    Error::Denied(format!("{doing}: the server wants a password: set PGPASSWORD"))
                }
                None => Error::io(doing(), advised(causes(&error))),
            },
        }
    }
}

/// What a user of a standby can do.
const STANDBY: &str = "this server is a standby, which takes no writes; name all servers of the \
     cluster in the URL (postgres://USER@HOST1:PORT1,HOST2:PORT2/DATABASE), and the one that can be \
     written to is used";

/// Checks whether a server refused to write because it is a standby, or was made one.
fn is_of_standby(refused: &DbError) -> bool {
    // A standby refuses `BEGIN READ WRITE` as a missing feature, from the function that checks a
    // setting. No other statement of this crate changes a setting that a server may refuse so.
    *refused.code() == SqlState::READ_ONLY_SQL_TRANSACTION
        || (*refused.code() == SqlState::FEATURE_NOT_SUPPORTED
            && refused.routine() == Some("call_bool_check_hook"))
}

/// Checks whether a connection can no longer execute a statement that it has prepared: a table was
/// migrated since, or somebody deallocated it. Another connection can.
fn is_of_prepared(refused: &DbError) -> bool {
    *refused.code() == SqlState::INVALID_SQL_STATEMENT_NAME
        || (*refused.code() == SqlState::FEATURE_NOT_SUPPORTED
            && refused.routine() == Some("RevalidateCachedQuery"))
}

/// Checks whether a server lacks a table, a column or a function, or has a column that forklore did
/// not create.
fn is_of_tables(refused: &DbError) -> bool {
    let others = [
        SqlState::UNDEFINED_TABLE,
        SqlState::UNDEFINED_COLUMN,
        SqlState::UNDEFINED_FUNCTION,
        SqlState::DATATYPE_MISMATCH,
        SqlState::CANNOT_COERCE,
        SqlState::NOT_NULL_VIOLATION,
        SqlState::CHECK_VIOLATION,
        SqlState::INVALID_COLUMN_REFERENCE,
    ];
    others.contains(refused.code())
}

fn of_tables(location: &str, message: &str) -> Error {
    let message = format!(
        "somebody has changed them, and they are not as forklore created them: {message}; undo that \
         change, or restore a backup of the database"
    );
    let location = format!("the tables of {location}");
    Error::Corrupt { session: None, seq: None, location, message }
}

fn code(refused: &DbError) -> String {
    format!("SQLSTATE {}", refused.code().code())
}

/// Translates an answer of the database. Its fields `detail` and `where` are left out, because they
/// can quote stored values.
fn of_database(refused: &DbError, doing: String) -> Error {
    let message = format!("{doing}: {} ({})", refused.message(), self::code(refused));
    let code = refused.code().code();
    if is_of_standby(refused) {
        return Error::Denied(format!("{doing}: {STANDBY}"));
    }
    match code.get(..2) {
        Some("28") => Error::Denied(advised(message)),
        _ if code == SqlState::DISK_FULL.code() => {
            let full = "the disk of the database server is full; make room there and repeat";
            Error::io(doing, format!("{full}: {} ({})", refused.message(), self::code(refused)))
        }
        Some("53" | "55") => Error::Locked(message),
        _ if code == "42501" || code == "25006" => Error::Denied(message),
        _ if code == "3D000" => Error::StoreGone { location: message },
        _ => Error::io(doing, format!("{} ({})", refused.message(), self::code(refused))),
    }
}

/// Adds to the message of a failed connection what its user can do.
fn advised(message: String) -> String {
    let advice = [
        (
            "server does not support TLS",
            "encrypt the server's connections, or name sslmode=disable \
             in the URL if you trust the network",
        ),
        ("no encryption", "name sslmode=verify-full in the URL"),
        ("Connection refused", "is the server running, and is this its address?"),
    ];
    match advice.iter().find(|(text, _)| message.contains(text)) {
        Some((_, advice)) => format!("{message}; {advice}"),
        None => message,
    }
}

/// Returns the messages of an error of a connection and of its causes.
fn causes(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let message = inner.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = inner.source();
    }
    text
}
