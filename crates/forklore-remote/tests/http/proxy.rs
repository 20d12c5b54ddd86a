//! A proxy in front of the server that cuts a connection after any number of bytes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The direction in which bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    ToServer,
    ToClient,
}

/// Where the next connection is cut: after so many more bytes in this direction.
type Cut = Arc<Mutex<Option<(Side, usize)>>>;

pub(crate) struct Proxy {
    port: u16,
    cut: Cut,
}

impl Proxy {
    /// Starts a proxy in front of the server at this address. Its threads end with the test.
    pub(crate) fn before(server: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (port, cut) = (listener.local_addr().unwrap().port(), Cut::default());
        let (server, shared) = (server.to_owned(), Arc::clone(&cut));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&server) else { continue };
                for end in [&client, &server] {
                    end.set_nodelay(true).unwrap();
                }
                let ends = [&client, &server].map(|end| end.try_clone().unwrap());
                let [client_end, server_end] = ends;
                let (one, other) = (Arc::clone(&shared), Arc::clone(&shared));
                std::thread::spawn(move || forward(&client, &server, Side::ToServer, &one));
                std::thread::spawn(move || {
                    forward(&server_end, &client_end, Side::ToClient, &other);
                });
            }
        });
        Self { port, cut }
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Cuts one connection after so many more bytes.
    pub(crate) fn cut_after(&self, side: Side, bytes: usize) {
        *self.cut.lock().unwrap() = Some((side, bytes));
    }

    /// Cuts no connection any more. Returns whether one was cut.
    pub(crate) fn end(&self) -> bool {
        self.cut.lock().unwrap().take().is_none()
    }
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, side: Side, cut: &Cut) {
    let mut buffer = [0; 8192];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let (allowed, is_cut) = allow(side, read, cut);
        if to.write_all(&buffer[..allowed]).is_err() || is_cut {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Returns how many of the bytes pass, and whether the connection ends after them.
fn allow(side: Side, read: usize, cut: &Cut) -> (usize, bool) {
    let mut cut = cut.lock().unwrap();
    match *cut {
        Some((counted, left)) if counted == side && read >= left => {
            *cut = None;
            (left, true)
        }
        Some((counted, left)) if counted == side => {
            *cut = Some((counted, left - read));
            (read, false)
        }
        _ => (read, false),
    }
}
