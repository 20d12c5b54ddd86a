//! What the parts of a store share: its connections, its identity, and how its calls are repeated.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use forklore_store::feed::Bell;
use forklore_store::meter::Counter;
use forklore_store::{Error, lease_owner};
use tokio::sync::Notify;

use crate::address::Address;
use crate::attempts::Attempts;
use crate::connection::{BEGIN, Connection, Failed};
use crate::fault::{Fault, Result};
use crate::layout::Layout;
use crate::notify;
use crate::pool::{self, Pool};
use crate::random;
use crate::schema::{self, Identity};

const UNKNOWN: &str =
    "the connection ended while it was committed, and it is not known whether it was";
/// The same, if the time of the call was over.
const LATE: &str = "the time of the call was over while it was committed, perhaps because no standby \
     confirms it, so it is not known whether it was; read the session before you repeat it";
const ONLY_HERE: &str = "it is committed on the primary, but the wait for a standby was cancelled, so it \
     is not known whether it outlives the primary";

/// The shared part of a store.
pub(crate) struct Shared {
    pub(crate) pool: Pool,
    identity: OnceLock<Identity>,
    /// The name under which this process has uploads and pins.
    holder: String,
    pub(crate) bell: Arc<Bell>,
    commits: Arc<Notify>,
    notifying: OnceLock<()>,
    listening: OnceLock<()>,
}

impl Shared {
    pub(crate) fn new(address: Address) -> Result<Self> {
        let holder = lease_owner::name("forklore", &random::hexadecimal()?);
        let (identity, bell, commits) = Default::default();
        let (notifying, listening) = Default::default();
        let pool = Pool::new(address)?;
        Ok(Self { pool, identity, holder, bell, commits, notifying, listening })
    }

    pub(crate) fn tenant(&self) -> &str {
        &self.pool.address.tenant
    }

    pub(crate) fn holder(&self) -> &str {
        &self.holder
    }

    pub(crate) fn location(&self) -> String {
        self.pool.address.to_string()
    }

    /// Returns the identity of the store; `None` if there is no such store yet.
    pub(crate) fn find(&self) -> forklore_store::Result<Option<&Identity>> {
        if let Some(found) = self.identity.get() {
            return Ok(Some(found));
        }
        let tenant = self.tenant();
        let found = self.read("opening", |connection| schema::find(connection, tenant))?;
        Ok(found.map(|identity| self.identity.get_or_init(|| identity)))
    }

    /// Returns the identity of the store, which is created if it does not exist.
    pub(crate) fn create(&self, layout: Layout) -> forklore_store::Result<&Identity> {
        if let Some(found) = self.identity.get() {
            return Ok(found);
        }
        let tenant = self.tenant();
        // Whatever an earlier attempt has created is found by the next one.
        let found =
            self.read("creating", |connection| schema::create(connection, tenant, layout))?;
        Ok(self.identity.get_or_init(|| found))
    }

    /// Executes a call that writes nothing.
    pub(crate) fn read<T>(
        &self,
        doing: &str,
        call: impl Fn(&Connection) -> Result<T>,
    ) -> forklore_store::Result<T> {
        self.read_within(self.pool.address.deadline, doing, call)
    }

    /// Executes a call that writes nothing and may take as long as `deadline`.
    pub(crate) fn read_within<T>(
        &self,
        deadline: Duration,
        doing: &str,
        call: impl Fn(&Connection) -> Result<T>,
    ) -> forklore_store::Result<T> {
        pool::read(&self.pool, deadline, call).map_err(|fault| self.failed(fault, doing))
    }

    /// Executes a call of one statement that writes. It is not repeated.
    pub(crate) fn once<T>(
        &self,
        doing: &str,
        call: impl FnOnce(&Connection) -> Result<T>,
    ) -> forklore_store::Result<T> {
        let once = || {
            let borrowed = self.pool.borrow(Instant::now() + self.pool.address.deadline)?;
            let done = call(borrowed.connection());
            if done.as_ref().is_err_and(Fault::is_of_connection) {
                borrowed.discard();
            }
            done
        };
        once().map_err(|fault| self.failed(fault, doing))
    }

    /// Executes a transaction, which `call` neither begins nor commits.
    pub(crate) fn transaction<T>(
        &self,
        doing: &str,
        call: impl Fn(&Connection) -> Result<T>,
    ) -> forklore_store::Result<T> {
        self.repeated(doing, false, |connection| {
            connection.batch(BEGIN)?;
            let done = call(connection)?;
            connection.commit(Vec::new())?;
            Ok(done)
        })
    }

    /// Executes a transaction, which `call` begins and commits. Begins it anew if the
    /// database gave it up, or if the connection broke before it was to be committed. If it broke
    /// at that moment, nobody knows whether it was committed; it is then begun anew only if a
    /// repetition does no harm.
    pub(crate) fn repeated<T>(
        &self,
        doing: &str,
        is_repeatable: bool,
        call: impl Fn(&Connection) -> Result<T, Failed>,
    ) -> forklore_store::Result<T> {
        let mut attempts = Attempts::within(self.pool.address.deadline);
        let mut is_unknown = false;
        loop {
            let failed = match self.attempt(attempts.until, &call) {
                Ok(done) => {
                    self.pool.committed();
                    return Ok(done);
                }
                Err(failed) => failed,
            };
            if failed.is_unknown {
                self.pool.meter.count(Counter::UnknownOutcomes, 1);
            }
            // A later attempt that fails says nothing about an earlier one.
            is_unknown |= failed.is_unknown;
            let may_repeat = !is_unknown || is_repeatable;
            let fault = failed.fault;
            if may_repeat && self.pool.is_hopeful(&fault) && attempts.pause(&fault) {
                self.pool.meter.count(Counter::Retries, 1);
                continue;
            }
            if !is_unknown || fault.is_refused() {
                return Err(self.failed(fault, doing));
            }
            return Err(self.unknown(&fault, doing));
        }
    }

    /// Returns the error of a transaction that may be committed.
    fn unknown(&self, fault: &Fault, doing: &str) -> Error {
        let message = match fault {
            Fault::OnlyHere => ONLY_HERE,
            Fault::Late => LATE,
            _ => UNKNOWN,
        };
        Error::io(format!("{doing} {}", self.location()), message)
    }

    /// Executes a transaction once.
    fn attempt<T>(
        &self,
        until: Instant,
        call: impl Fn(&Connection) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let borrowed = self.pool.borrow(until)?;
        let done = call(borrowed.connection());
        if let Err(Failed { fault, .. }) = &done
            && (fault.is_of_connection() || borrowed.connection().batch("ROLLBACK").is_err())
        {
            borrowed.discard();
        }
        done
    }

    fn failed(&self, fault: Fault, doing: &str) -> Error {
        fault.into_error(doing, &self.location())
    }

    /// Wakes the readers of the feed of this store after a commit.
    pub(crate) fn announce(&self, identity: &Identity) {
        self.bell.ring();
        self.notifying.get_or_init(|| {
            notify::start_notifying(&self.pool, &identity.id, Arc::clone(&self.commits));
        });
        self.commits.notify_one();
    }

    /// Begins to hear of the commits that other processes make to this store.
    pub(crate) fn listen(&self, identity: &Identity) {
        self.listening.get_or_init(|| {
            notify::start_listening(&self.pool, &identity.id, Arc::clone(&self.bell));
        });
    }
}
