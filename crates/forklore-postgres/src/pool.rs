//! The connections of a store. A call borrows one for as long as it needs it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use forklore_store::Error;
use forklore_store::meter::{Gauge, Meter};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{AsyncMessage, Client, Config, Socket};

use crate::address::Address;
use crate::connection::Connection;
use crate::driver::Driver;
use crate::fault::{Fault, Result};
use crate::tls::{Encrypted, Tls};

/// The connections of one store.
pub(crate) struct Pool {
    pub(crate) address: Address,
    pub(crate) driver: Arc<Driver>,
    pub(crate) tls: Tls,
    pub(crate) meter: Arc<Meter>,
    state: Mutex<State>,
    returned: Condvar,
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
        let (meter, state, returned) = Default::default();
        Ok(Self { address, driver: Driver::start()?, tls, meter, state, returned })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an idle connection, or opens one. Waits if too many are in use.
    pub(crate) fn borrow(&self) -> Result<Borrowed<'_>> {
        let begun = Instant::now();
        let mut state = self.state();
        loop {
            while let Some(connection) = state.idle.pop() {
                if !connection.client.is_closed() {
                    return Ok(self.lend(connection));
                }
                self.closed(&mut state);
            }
            if state.open < self.address.pool {
                break;
            }
            let left = self.address.deadline.saturating_sub(begun.elapsed());
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
        let opened = self.connect(&self.address.config);
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

    fn connect(&self, config: &Config) -> Result<Connection> {
        let opening = open(config.clone(), self.tls.clone());
        let (client, messages) = self.driver.wait(self.address.deadline, opening)?;
        self.driver.spawn(attend(messages, || {}));
        let (driver, deadline) = (Arc::clone(&self.driver), self.address.deadline);
        Ok(Connection { client, driver, deadline })
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

/// Reads from the socket of a connection until it ends. `hear` is called for each
/// notification.
pub(crate) async fn attend(mut messages: Messages, mut hear: impl FnMut()) {
    loop {
        match std::future::poll_fn(|context| messages.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(_))) => hear(),
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

/// Calls `call` with a connection. If that connection turns out to be dead, the server may have
/// been restarted, and `call` gets one more, new connection. Only for calls that write nothing.
pub(crate) fn read<T>(pool: &Pool, call: impl Fn(&Connection) -> Result<T>) -> Result<T> {
    let mut again = true;
    loop {
        let borrowed = pool.borrow()?;
        match call(borrowed.connection()) {
            Err(fault) if fault.is_of_connection() => {
                let is_late = matches!(fault, Fault::Late);
                borrowed.discard();
                if is_late || !again {
                    return Err(fault);
                }
                again = false;
            }
            other => return other,
        }
    }
}
