//! A proxy in front of a server that cuts a connection after any number of bytes: for stores that
//! reach their data over a network.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The direction in which bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// Where the next connection is cut: after so many more bytes in this direction.
#[derive(Clone, Default)]
struct Cut(Arc<Mutex<Option<(Side, usize)>>>);

/// A proxy that forwards every byte until it is to cut a connection.
pub struct Proxy {
    address: SocketAddr,
    cut: Cut,
}

impl Proxy {
    /// Starts a proxy in front of the server at this address. Its threads end with the process.
    ///
    /// # Errors
    /// When no port of this machine is free.
    pub fn before(server: &str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, cut) = (listener.local_addr()?, Cut::default());
        let (server, shared) = (server.to_owned(), cut.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client without a server sees its connection end.
                let _ =
                    TcpStream::connect(&server).and_then(|server| shared.connect(client, server));
            }
        });
        Ok(Self { address, cut })
    }

    /// Returns the address of the proxy.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Cuts one connection after so many more bytes.
    pub fn cut_after(&self, side: Side, bytes: usize) {
        *self.cut.next() = Some((side, bytes));
    }

    /// Cuts no connection any more. Returns whether one was cut.
    #[must_use]
    pub fn end(&self) -> bool {
        self.cut.next().take().is_none()
    }
}

impl Cut {
    fn next(&self) -> MutexGuard<'_, Option<(Side, usize)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forwards both directions of a connection, each on a thread of its own.
    fn connect(&self, client: TcpStream, server: TcpStream) -> io::Result<()> {
        for end in [&client, &server] {
            end.set_nodelay(true)?;
        }
        let (client_end, server_end) = (client.try_clone()?, server.try_clone()?);
        let (one, other) = (self.clone(), self.clone());
        thread::spawn(move || one.forward(&client, &server, Side::ToServer));
        thread::spawn(move || other.forward(&server_end, &client_end, Side::ToClient));
        Ok(())
    }

    fn forward(&self, mut from: &TcpStream, mut to: &TcpStream, side: Side) {
        let mut buffer = [0; 8192];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let (allowed, is_cut) = self.allow(side, read);
            let passes = buffer.get(..allowed).unwrap_or_default();
            if to.write_all(passes).is_err() || is_cut {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }

    /// Returns how many of the bytes pass, and whether the connection ends after them.
    fn allow(&self, side: Side, read: usize) -> (usize, bool) {
        let mut next = self.next();
        match *next {
            Some((counted, left)) if counted == side && read >= left => {
                *next = None;
                (left, true)
            }
            Some((counted, left)) if counted == side => {
                *next = Some((counted, left - read));
                (read, false)
            }
            _ => (read, false),
        }
    }
}
