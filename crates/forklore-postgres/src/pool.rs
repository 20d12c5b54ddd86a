//! The connections of a store. A call borrows one for as long as it needs it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forklore_store::Error;
use forklore_store::meter::{Gauge, Meter};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{AsyncMessage, Client, Config, Socket};

use crate::address::{Address, Listen};
use crate::attempts::Attempts;
use crate::connection::{Connection, is_cancelled_wait};
use crate::driver::Driver;
use crate::fault::{Fault, Result};
use crate::prepared::{self, Prepared};
use crate::random::hexadecimal;
use crate::tls::{Encrypted, Tls};

/// The connections of one store.
pub(crate) struct Pool {
    pub(crate) address: Address,
    pub(crate) driver: Arc<Driver>,
    pub(crate) tls: Tls,
    pub(crate) meter: Arc<Meter>,
    state: Mutex<State>,
    returned: Condvar,
    /// Whether a server has answered, and whether one has committed. If one then no longer does, it
    /// has failed and will be replaced; if none ever has, the address is probably wrong.
    has_connected: AtomicBool,
    has_committed: AtomicBool,
    /// Whether a pooler is between this process and the server.
    is_pooled: AtomicBool,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    /// How many connections exist or are being opened.
    open: usize,
}

/// A connection that a call borrowed. It goes back to the pool when it is dropped.
pub(crate) struct Borrowed<'p> {
    pool: &'p Pool,
    connection: Option<Connection>,
}

impl Pool {
    pub(crate) fn new(address: Address) -> Result<Self> {
        let tls = Tls::new(address.root_certificates.clone());
        let (meter, state, returned, has_connected, has_committed) = Default::default();
        let is_pooled = AtomicBool::new(!matches!(address.listen, Listen::Here));
        let driver = Driver::start()?;
        Ok(Self {
            address,
            driver,
            tls,
            meter,
            state,
            returned,
            has_connected,
            has_committed,
            is_pooled,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a server has committed.
    pub(crate) fn committed(&self) {
        self.has_committed.store(true, Ordering::SeqCst);
    }

    /// Checks whether what failed may succeed soon, because another server takes over.
    pub(crate) fn is_hopeful(&self, fault: &Fault) -> bool {
        let of_cluster = self.address.config.get_hosts().len() > 1;
        if fault.is_of_standby() {
            of_cluster || self.has_committed.load(Ordering::SeqCst)
        } else if fault.is_of_connecting() {
            of_cluster || self.has_connected.load(Ordering::SeqCst)
        } else {
            true
        }
    }

    /// Returns an idle connection, or opens one. Waits if too many are in use. Whatever the
    /// connection executes, and this wait, ends before `until`.
    pub(crate) fn borrow(&self, until: Instant) -> Result<Borrowed<'_>> {
        let mut state = self.state();
        loop {
            while let Some(mut connection) = state.idle.pop() {
                if !connection.client.is_closed() {
                    connection.until = until;
                    drop(state);
                    let lent = self.lend(connection);
                    lent.connection().prepare();
                    return Ok(lent);
                }
                self.closed(&mut state);
            }
            if state.open < self.address.pool {
                break;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let message = format!("all {} connections of this store are in use", state.open);
                return Err(Error::Locked(message).into());
            }
            self.meter.change(Gauge::Waiting, 1);
            let woken = self.returned.wait_timeout(state, left);
            self.meter.change(Gauge::Waiting, -1);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.open += 1;
        self.meter.change(Gauge::Open, 1);
        drop(state);
        let opened = self.connect(&self.address.config, until);
        if opened.is_err() {
            self.give_up();
        }
        Ok(self.lend(opened?))
    }

    fn lend(&self, connection: Connection) -> Borrowed<'_> {
        self.meter.change(Gauge::InUse, 1);
        Borrowed { pool: self, connection: Some(connection) }
    }

    /// Counts a connection that no longer exists.
    fn closed(&self, state: &mut State) {
        state.open -= 1;
        self.meter.change(Gauge::Open, -1);
    }

    fn give_up(&self) {
        self.closed(&mut self.state());
        self.returned.notify_one();
    }

    fn connect(&self, config: &Config, until: Instant) -> Result<Connection> {
        let number = match self.is_pooled.load(Ordering::SeqCst) {
            true => None,
            false => Some(hexadecimal()?),
        };
        let mut marked = config.clone();
        if let Some(number) = &number {
            prepared::mark(&mut marked, number);
        }
        let left = until.saturating_duration_since(Instant::now());
        let (client, messages) = match self.driver.wait(left, open(marked, self.tls.clone())) {
            Err(Fault::Database(error)) if number.is_some() && prepared::is_of_pooler(&error) => {
                self.is_pooled.store(true, Ordering::SeqCst);
                return self.connect(config, until);
            }
            opened => opened?,
        };
        self.has_connected.store(true, Ordering::SeqCst);
        let cancelled = Arc::new(AtomicU64::new(0));
        self.driver.spawn(attend(messages, Arc::clone(&cancelled), || {}));
        let client = Arc::new(client);
        let prepared = Prepared::new(Arc::clone(&client), number);
        Ok(Connection { client, prepared, driver: Arc::clone(&self.driver), until, cancelled })
    }
}

type Messages = tokio_postgres::Connection<Socket, Encrypted<Socket>>;

/// Opens a connection. Of several hosts, takes one that may be written to.
pub(crate) async fn open(
    mut config: Config,
    tls: Tls,
) -> Result<(Client, Messages), tokio_postgres::Error> {
    if config.get_hosts().len() > 1 {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    config.connect(tls).await
}

/// Reads from the socket of a connection until it ends. Counts in `cancelled` the commits that no
/// standby has confirmed, before their callers get the answer. `hear` is called for each
/// notification.
pub(crate) async fn attend(
    mut messages: Messages,
    cancelled: Arc<AtomicU64>,
    mut hear: impl FnMut(),
) {
    loop {
        match std::future::poll_fn(|context| messages.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(_))) => hear(),
            Some(Ok(AsyncMessage::Notice(notice))) if is_cancelled_wait(&notice) => {
                cancelled.fetch_add(1, Ordering::SeqCst);
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return,
        }
    }
}

impl Borrowed<'_> {
    /// Ends the connection, because its state is unknown.
    pub(crate) fn discard(mut self) {
        if self.connection.take().is_some() {
            self.pool.give_up();
        }
    }
}

impl Borrowed<'_> {
    #[allow(clippy::unwrap_used, reason = "only `discard` and `drop` take it, and both end it")]
    pub(crate) fn connection(&self) -> &Connection {
        self.connection.as_ref().unwrap()
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.pool.meter.change(Gauge::InUse, -1);
        let Some(connection) = self.connection.take() else { return };
        let mut state = self.pool.state();
        // A call that panicked may have left a transaction open.
        if connection.client.is_closed() || std::thread::panicking() {
            self.pool.closed(&mut state);
        } else {
            state.idle.push(connection);
        }
        drop(state);
        self.pool.returned.notify_one();
    }
}

/// Calls `call` with a connection. If the connection is dead, or no server answers, calls it again
/// with another one, until the deadline: the server may be restarted, or another one takes over.
/// Only for calls that write nothing, or that may be executed twice.
pub(crate) fn read<T>(
    pool: &Pool,
    deadline: Duration,
    call: impl Fn(&Connection) -> Result<T>,
) -> Result<T> {
    let mut attempts = Attempts::within(deadline);
    loop {
        let done = pool.borrow(attempts.until).and_then(|borrowed| {
            let done = call(borrowed.connection());
            if done.as_ref().is_err_and(Fault::is_of_connection) {
                borrowed.discard();
            }
            done
        });
        match done {
            Err(fault)
                if fault.is_of_connection()
                    && pool.is_hopeful(&fault)
                    && attempts.pause(&fault) => {}
            done => return done,
        }
    }
}
