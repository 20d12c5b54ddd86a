//! `--metrics`: what a long-running command counts, as text for Prometheus.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use forklore::store::meter::{BOUNDS, Counter, Gauge, Meter, Timing};

use crate::failure::{Failure, Result};

/// How long one request may take.
const DEADLINE: Duration = Duration::from_secs(2);

const COUNTERS: [(Counter, &str, &str); 7] = [
    (Counter::Appends, "appends_total", "Appends that were committed."),
    (Counter::Forks, "forks_total", "Forks that were committed."),
    (Counter::Conflicts, "conflicts_total", "Commits refused because another writer was faster."),
    (Counter::Failures, "failures_total", "Commits that failed because of the store."),
    (Counter::Retries, "retries_total", "Transactions that were begun anew."),
    (Counter::UnknownOutcomes, "unknown_outcomes_total", "Commits cut off before their outcome."),
    (Counter::Changes, "changes_total", "Changes that the feed returned."),
];

const GAUGES: [(Gauge, &str, &str); 3] = [
    (Gauge::Open, "connections_open", "Open connections to the database server."),
    (Gauge::InUse, "connections_in_use", "Connections that a call uses."),
    (Gauge::Waiting, "connections_waiting", "Calls that wait for a connection."),
];

const TIMINGS: [(Timing, &str, &str); 3] = [
    (Timing::Commit, "commit_seconds", "Durations of commits."),
    (Timing::Read, "read_seconds", "Durations of reads of sessions."),
    (Timing::FeedLag, "feed_lag_seconds", "Times from an append until the feed returned it."),
];

/// The meter of a command, once the command has opened its store.
pub(crate) type Slot = Arc<OnceLock<Arc<Meter>>>;

/// Listens at an address, `HOST:PORT` or a port of this machine, and answers every request with the
/// meter's counts. Returns the address. The listener ends with the program.
///
/// # Errors
/// `invalid_args` if the text is no address, and an error if it is in use.
pub(crate) fn serve(text: &str, slot: Slot) -> Result<SocketAddr> {
    let local = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let doing = || format!("listening for --metrics at {text:?}");
    let wrong = || {
        Failure::invalid(format!("{text:?} is no HOST:PORT for --metrics"))
            .or_try("--metrics 127.0.0.1:9464, or a port of this machine")
    };
    let addresses: Vec<SocketAddr> = match local {
        Ok(address) => vec![address],
        // A name that nobody knows is as wrong as one without a port.
        Err(_) => text.to_socket_addrs().map_err(|_| wrong())?.collect(),
    };
    let bound = TcpListener::bind(&*addresses);
    let failed = |source| Failure::File { doing: doing(), source };
    let listener = bound.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let answer = move || {
        let before = Meter::default();
        let meter = || slot.get().map_or(&before, Arc::as_ref);
        listener.incoming().flatten().for_each(|stream| drop(respond(stream, meter())));
    };
    std::thread::Builder::new().name("metrics".into()).spawn(answer).map_err(failed)?;
    Ok(address)
}

fn respond(mut stream: TcpStream, meter: &Meter) -> std::io::Result<()> {
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.set_write_timeout(Some(DEADLINE))?;
    // Every path has the same answer, so the rest of the request does not matter.
    let _ = stream.read(&mut [0; 4096])?;
    let text = text(meter);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )
}

fn text(meter: &Meter) -> String {
    let mut text = String::new();
    let head = |text: &mut String, name: &str, help: &str, kind: &str| {
        let _ = write!(text, "# HELP forklore_{name} {help}\n# TYPE forklore_{name} {kind}\n");
    };
    for (counter, name, help) in COUNTERS {
        head(&mut text, name, help, "counter");
        let _ = writeln!(text, "forklore_{name} {}", meter.counted(counter));
    }
    for (gauge, name, help) in GAUGES {
        head(&mut text, name, help, "gauge");
        let _ = writeln!(text, "forklore_{name} {}", meter.gauged(gauge));
    }
    for (timing, name, help) in TIMINGS {
        head(&mut text, name, help, "histogram");
        let (up_to, sum) = meter.timed(timing);
        let bounds = BOUNDS.map(|millis| (Duration::from_millis(millis).as_secs_f64()).to_string());
        let bounds = bounds.iter().map(String::as_str).chain(["+Inf"]);
        for (bound, count) in bounds.zip(&up_to) {
            let _ = writeln!(text, "forklore_{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let all = up_to.last().copied().unwrap_or_default();
        let _ = writeln!(text, "forklore_{name}_sum {}", sum.as_secs_f64());
        let _ = writeln!(text, "forklore_{name}_count {all}");
    }
    text
}
