//! Counts round trips on the wire, with a proxy between forklore and the server.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use forklore::prelude::*;
use forklore::store::port::{At, Direction, Query};

use super::batch::one;
use crate::error::{Doing, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::postgres::{Server, open};
use crate::scene::{Scene, session};

/// How often each operation is counted.
const TIMES: usize = 30;

/// How often a client began to send after the server had answered.
#[derive(Default)]
struct Trips(AtomicU64);

pub(super) fn measure(_: &Scene, server: &Server) -> Result<Vec<Figure>> {
    server.database("wire")?;
    let trips = Arc::new(Trips::default());
    let address = proxy(server.durable().address(), Arc::clone(&trips))?;
    // One connection, and none that listens, so that every byte is one of the call.
    let engine = open(&format!("postgres://postgres@{address}/wire?pool=1&listen=no"))?;
    let id = session(&engine, 100)?;
    let (append, fork) = (one()?, Fork::of(id.clone()));
    let query = Query { at: At::Seq(0), direction: Direction::Forward, limit: 50, bare: false };
    type Call<'a> = Box<dyn Fn() -> Result<()> + 'a>;
    let calls: [(&str, Call<'_>); 4] = [
        ("an append", Box::new(|| Ok(engine.append(&id, &append).map(drop)?))),
        ("a fork", Box::new(|| Ok(engine.fork(&fork).map(drop)?))),
        ("the header of a session", Box::new(|| Ok(engine.store().header(&id).map(drop)?))),
        ("a page of events", Box::new(|| Ok(engine.store().read(&id, &query).map(drop)?))),
    ];
    calls.iter().map(|(name, call)| counted(&trips, name, call)).collect()
}

/// Returns the median of the round trips of a call.
fn counted(trips: &Trips, name: &str, call: &dyn Fn() -> Result<()>) -> Result<Figure> {
    let mut counts = Vec::new();
    for _ in 0..TIMES {
        let before = trips.0.load(Ordering::SeqCst);
        call()?;
        counts.push(trips.0.load(Ordering::SeqCst) - before);
    }
    counts.sort_unstable();
    let at = |index: usize| counts.get(index).copied().unwrap_or_default();
    let what = format!("round trips of {name} through the library");
    let spread = format!("{} to {} in {TIMES} calls", at(0), at(TIMES - 1));
    Ok(Figure::alone(what, Goal::AtMost(1.0), at(TIMES / 2) as f64, Unit::Count).from(spread, ""))
}

/// Starts a proxy before the server at this address. Its threads end with the program.
fn proxy(server: String, trips: Arc<Trips>) -> Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .doing("cannot listen before", server.as_ref())?;
    let address = listener.local_addr().doing("cannot listen before", server.as_ref())?;
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (Ok(to), trips) = (TcpStream::connect(&server), Arc::clone(&trips)) else {
                continue;
            };
            let _ = pass(client, to, trips);
        }
    });
    Ok(address.to_string())
}

/// Passes the bytes of one connection in both directions.
fn pass(client: TcpStream, server: TcpStream, trips: Arc<Trips>) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (client_end, server_end) = (client.try_clone()?, server.try_clone()?);
    // Whether the server was the last to send.
    let answered = Arc::new(AtomicBool::new(true));
    let last = Arc::clone(&answered);
    std::thread::spawn(move || {
        forward(&client, &server, || {
            if last.swap(false, Ordering::SeqCst) {
                trips.0.fetch_add(1, Ordering::SeqCst);
            }
        });
    });
    std::thread::spawn(move || {
        forward(&server_end, &client_end, || answered.store(true, Ordering::SeqCst));
    });
    Ok(())
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, before: impl Fn()) {
    let mut buffer = [0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        before();
        if to.write_all(buffer.get(..read).unwrap_or_default()).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
