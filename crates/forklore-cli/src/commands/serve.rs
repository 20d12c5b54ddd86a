//! `serve`: the sessions of the store over HTTP, for browsers and programs.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forklore::api::Listening;
use forklore::core::ErrorKind;
use forklore::{Engine, OpenError, StoreUrl, blocking};
use forklore_host::Host;
use forklore_server::{Agent, Certificate, Files, Options, Pages, Server, StartError, Uri};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::interrupts;
use crate::output::{Output, Tone};
use crate::wiring;

/// The port if none is named.
const PORT: u16 = 4747;

const EXAMPLES: &str = "\
Examples:
  forklore serve                              on this machine only, at port 4747
  forklore serve --listen 127.0.0.1:0 --json  at a free port; prints a line with its URL and a token
  forklore serve --open                       and opens the page in the browser
  forklore serve --chat                       also lets you talk to the agent in the browser
  forklore serve --listen 0.0.0.0:4747 --tls-cert cert.pem --tls-key key.pem
                                              for others, encrypted
  forklore serve --public-url https://lore.example
                                              for others, behind a proxy that encrypts

Everybody needs a token: `forklore token add NAME`. Programs send it as `Authorization: Bearer TOKEN`. \
The link that is printed logs one browser in, once. Ctrl-C stops the server.";

/// Serve the sessions over HTTP: JSON, live events, and pages for the browser
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where to listen: HOST:PORT, or a port of this machine; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value_t = PORT.to_string())]
    listen: String,
    /// The URL under which others reach the server, for example behind a proxy that encrypts
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Encrypt connections with the certificate in this file (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The file with the private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Let those whose token may write talk to the agent, with the models and tools of your
    /// configuration. The tools run on this machine, as you
    #[arg(long)]
    chat: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let listen = address(&args.listen)?;
    let public_url = args.public_url.as_deref().map(public_url).transpose()?;
    let files = args.tls_cert.clone().zip(args.tls_key.clone());
    let certificate = files.map(|(chain, key)| Certificate { chain, key });
    // A server that cannot start creates no store.
    certificate.iter().try_for_each(Certificate::check).map_err(StartError::from)?;
    let is_encrypted = certificate.is_some()
        || public_url.as_ref().is_some_and(|url| url.scheme_str() == Some("https"));
    if !listen.ip().is_loopback() && !is_encrypted {
        output.note(
            "warning: others can read the tokens and the sessions on their way: encrypt with \
             --tls-cert and --tls-key, or name the proxy that encrypts with --public-url",
        );
    }
    let state = wiring::server_folder()?;
    let engine = app.engine_or_new()?.clone();
    let (stop, stopped) = oneshot::channel::<()>();
    let ended = interrupts::gently(&Arc::new(AtomicBool::new(false)), move || drop(stop))?;
    allow_many_files();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let doing = || "starting the server".to_owned();
    let runtime = runtime.map_err(|source| Failure::File { doing: doing(), source })?;
    let options = Options { listen, public_url, state, certificate };
    let (zone, prices) = (output.zone().time_zone(), wiring::prices(app));
    let program = output.commands().typed("forklore ").trim_end().to_owned();
    let agent = args.chat.then(|| agent(app, &runtime, &engine, &program, output)).transpose()?;
    // Without them, the pages show the sessions only.
    let files = app.files().ok().map(Files::new);
    let pages = Pages { zone, prices, program, files, ..Pages::new(engine) };
    let server = runtime.block_on(Server::bind(pages, options))?;
    let server = match app.store_url()? {
        url if has_tenants(&url) => server.with_tenants(move |name| of_tenant(&url, name)),
        _ => server,
    };
    let server = match agent {
        Some(agent) => server.chatting(agent),
        None => server,
    };
    let listening = Listening {
        url: server.url().to_owned(),
        token: server.token().to_owned(),
        link: server.link().to_owned(),
    };
    output.record(&listening, |page| {
        page.put(Tone::Good, "Listening ").put(Tone::Strong, &listening.url).end();
        page.put(Tone::Plain, "Open in a browser, once: ").put(Tone::Plain, &listening.link).end();
    })?;
    output.flush()?;
    if args.open && !output.is_json() {
        open(&listening.link, output);
    }
    runtime.block_on(server.run(async {
        let _ = stopped.await;
    }));
    // A call that still runs is not waited for: whatever it has not committed did not happen.
    runtime.shutdown_background();
    if ended.by_interrupt() { Err(Failure::Answered(ErrorKind::Interrupted)) } else { Ok(()) }
}

fn public_url(text: &str) -> Result<Uri> {
    let url = text.parse().ok().filter(|url: &Uri| url.scheme().is_some());
    url.ok_or_else(|| {
        Failure::invalid("--public-url is a URL such as https://lore.example")
            .or_try("forklore serve --public-url https://lore.example")
    })
}

fn has_tenants(url: &StoreUrl) -> bool {
    matches!(url.of_tenant("default"), Ok(Some(_)))
}

/// Opens the store of a tenant of the database.
fn of_tenant(url: &StoreUrl, name: &str) -> std::result::Result<Engine, OpenError> {
    let none = || OpenError::Url(url.location());
    blocking::open_url(&url.of_tenant(name)?.ok_or_else(none)?)
}

/// Opens the link in the user's browser. Without one, a note says so; the link is printed anyway.
fn open(link: &str, output: &mut Output) {
    let named = std::env::var_os("BROWSER").filter(|name| !name.is_empty());
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(named.unwrap_or_else(|| usual.into()));
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // Whoever starts a process waits for it, or it stays as a zombie.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => {
            output.remark(&format!("no browser was opened ({error}); open the link yourself"));
        }
    }
}

/// Creates the agent of the user's configuration, and starts its tool servers. A configuration without
/// a model is no error: the pages say what to write.
fn agent(
    app: &App,
    runtime: &Runtime,
    engine: &Engine,
    program: &str,
    output: &mut Output,
) -> Result<Agent> {
    let configured = wiring::configured(app, output)?;
    let host = runtime.block_on(async { Host::new(engine.clone(), configured) });
    let host = Arc::new(host?.with_files(Box::new(app.open_files()?)));
    for problem in runtime.block_on(host.start_tools()) {
        output.remark(&problem);
    }
    Ok(Agent { host, folder: app.workspace()?, program: program.to_owned() })
}

/// Raises the limit of open files to the highest one that is allowed. Each connection is one, and the
/// usual limit is 1,024.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // A server with fewer connections is better than none.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Reads `HOST:PORT`, or a port of this machine.
fn address(text: &str) -> Result<SocketAddr> {
    let local = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let named = text.replacen("localhost:", "127.0.0.1:", 1);
    local.or_else(|_| named.parse()).map_err(|_| {
        Failure::invalid("--listen is HOST:PORT with the host's number, or a port of this machine")
            .or_try("forklore serve --listen 127.0.0.1:4747")
    })
}
