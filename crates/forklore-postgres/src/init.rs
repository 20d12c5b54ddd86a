//! Creates the tables of a database before the first write.

use forklore_store::{Error, Result};

use crate::address::Address;
use crate::connection::Connection;
use crate::layout::{self, Layout, MOST_PARTITIONS};
use crate::login;
use crate::schema;
use crate::shared::Shared;

/// How to prepare a database for stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Init {
    /// The login of the database that is given to the tenant of the address. It then reads and
    /// changes no other tenant, whatever it sends.
    pub tenant_login: Option<String>,
    /// Into how many partitions the tables of sessions and events are divided by family. Only for
    /// tables that do not exist yet.
    pub partitions: Option<u32>,
    /// Whether Citus distributes the tables by family.
    pub distributed: bool,
}

/// The tables of a database after [`Init::execute`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tables {
    /// The version of the tables before; `None` if there were none.
    pub before: Option<u64>,
    /// The version of the tables.
    pub version: u64,
    /// The tenant of the address.
    pub tenant: String,
    /// The number of partitions of each large table; 0 for none.
    pub partitions: u32,
    /// Whether Citus distributes the tables.
    pub distributed: bool,
}

impl Init {
    /// Creates the tables and the store of the tenant, or brings them up to date.
    ///
    /// # Errors
    /// `Invalid` if the tables exist with another number of partitions, if there is no such login or
    /// row security cannot confine it, or if it has another tenant; `Unsupported` if the database has
    /// no Citus that could distribute the tables; `Denied` if the user does not own the tables; and
    /// the errors of [`PostgresStore::open`](crate::PostgresStore::open).
    pub fn execute(&self, address: Address) -> Result<Tables> {
        let location = address.to_string();
        let shared =
            Shared::new(address).map_err(|fault| fault.into_error("opening", &location))?;
        let partitions = self.layout()?.partitions;
        if self.distributed {
            shared.once("preparing", layout::check_citus)?;
        }
        let before = shared.once("preparing", schema::version)?;
        if before == Some(schema::VERSION) {
            shared.once("preparing", login::grant)?;
        }
        let is_distributed = shared.create(Layout { partitions })?.is_distributed;
        let divided = shared.once("preparing", layout::partitions)?;
        if self.partitions.is_some() && divided != partitions {
            return Err(partitioned(divided));
        }
        if self.distributed && !is_distributed {
            shared.once("distributing the tables of", layout::distribute)?;
        }
        if let Some(login) = &self.tenant_login {
            let give = |connection: &Connection| login::give(connection, shared.tenant(), login);
            shared.once("giving a login to a tenant of", give)?;
        }
        Ok(Tables {
            before: before.map(i64::cast_unsigned),
            version: schema::VERSION.cast_unsigned(),
            tenant: shared.tenant().to_owned(),
            partitions: divided,
            distributed: self.distributed || is_distributed,
        })
    }

    fn layout(&self) -> Result<Layout> {
        let refused = |message: String| Err(Error::Invalid(message));
        match self.partitions {
            Some(partitions) if partitions == 0 || partitions > MOST_PARTITIONS => {
                refused(format!("the number of partitions is from 1 to {MOST_PARTITIONS}"))
            }
            Some(_) if self.distributed => {
                refused("Citus divides distributed tables itself; leave out the partitions".into())
            }
            partitions => Ok(Layout { partitions: partitions.unwrap_or(0) }),
        }
    }
}

fn partitioned(divided: u32) -> Error {
    let now = match divided {
        0 => "have no partitions".to_owned(),
        divided => format!("have {divided} partitions"),
    };
    Error::Invalid(format!(
        "the tables exist and {now}; the number is chosen when they are created, so use another \
         database"
    ))
}
