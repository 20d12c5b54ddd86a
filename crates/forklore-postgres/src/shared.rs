//! What the parts of a store share: its connections, its identity, and how its calls are repeated.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use forklore_store::feed::Bell;
use forklore_store::meter::Counter;
use forklore_store::{Error, lease_owner};
use tokio::sync::Notify;

use crate::address::Address;
use crate::connection::{BEGIN, Connection, Failed};
use crate::fault::{Fault, Result};
use crate::layout::Layout;
use crate::notify;
use crate::pool::{self, Pool};
use crate::random;
use crate::schema::{self, Identity};

/// How often a transaction is begun anew before its failure is reported.
const ATTEMPTS: u32 = 40;
/// The longest pause between two attempts is about this long.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

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
        let found =
            self.once("creating", |connection| schema::create(connection, tenant, layout))?;
        Ok(self.identity.get_or_init(|| found))
    }

    /// Executes a call that writes nothing.
    pub(crate) fn read<T>(
        &self,
        doing: &str,
        call: impl Fn(&Connection) -> Result<T>,
    ) -> forklore_store::Result<T> {
        pool::read(&self.pool, call).map_err(|fault| self.failed(fault, doing))
    }

    /// Executes a call of one statement that writes. It is not repeated.
    pub(crate) fn once<T>(
        &self,
        doing: &str,
        call: impl FnOnce(&Connection) -> Result<T>,
    ) -> forklore_store::Result<T> {
        let once = || {
            let borrowed = self.pool.borrow()?;
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
        let begun = Instant::now();
        for attempt in 1.. {
            let Failed { fault, is_unknown } = match self.attempt(&call) {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            let is_late = matches!(fault, Fault::Late);
            let again = fault.is_of_race() || (fault.is_of_connection() && !is_late);
            if is_unknown {
                self.pool.meter.count(Counter::UnknownOutcomes, 1);
            }
            let is_over = attempt >= ATTEMPTS || begun.elapsed() > self.pool.address.deadline;
            if is_unknown && !(is_repeatable && again && !is_over) {
                let location = self.location();
                let message = "the connection ended while it was committed, and it is not known \
                               whether it was";
                return Err(Error::io(format!("{doing} {location}"), message));
            }
            if !again || is_over {
                return Err(self.failed(fault, doing));
            }
            self.pool.meter.count(Counter::Retries, 1);
            std::thread::sleep(pause(attempt));
        }
        Err(Error::io(doing, "there was no attempt"))
    }

    /// Executes a transaction once.
    fn attempt<T>(&self, call: impl Fn(&Connection) -> Result<T, Failed>) -> Result<T, Failed> {
        let borrowed = self.pool.borrow()?;
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

/// Returns how long to wait before the next attempt: longer each time, and not the same for two
/// transactions that are in each other's way.
fn pause(attempt: u32) -> Duration {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(attempt) % 1_000;
    let longest =
        Duration::from_micros(500).saturating_mul(1 << attempt.min(10)).min(LONGEST_PAUSE);
    longest.mul_f64(0.5 + random as f64 / 2_000.0)
}
