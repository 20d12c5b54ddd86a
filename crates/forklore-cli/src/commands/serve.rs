//! `serve`: the sessions of the store over HTTP, for browsers and programs.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forklore::Engine;
use forklore::api::Listening;
use forklore::core::ErrorKind;
use forklore_host::Host;
use forklore_server::{Agent, Options, Pages, Server};
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
  forklore serve --chat                       also lets you talk to the agent in the browser
  forklore serve --listen 0.0.0.0:4747 --public-url https://lore.example
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
    /// Let those whose token may write talk to the agent, with the models and tools of your
    /// configuration. The tools run on this machine, as you
    #[arg(long)]
    chat: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let listen = address(&args.listen)?;
    let wrong = |_| Failure::invalid("--public-url is a URL such as https://lore.example");
    let public_url =
        args.public_url.as_deref().map(|url| url.parse().map_err(wrong)).transpose()?;
    let state = wiring::server_folder()?;
    let engine = app.engine_or_new()?.clone();
    let (stop, stopped) = oneshot::channel::<()>();
    let ended = interrupts::gently(&Arc::new(AtomicBool::new(false)), move || drop(stop))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let doing = || "starting the server".to_owned();
    let runtime = runtime.map_err(|source| Failure::File { doing: doing(), source })?;
    let options = Options { listen, public_url, state };
    let (zone, prices) = (output.zone().time_zone(), wiring::prices(app));
    let program = output.commands().typed("forklore ").trim_end().to_owned();
    let agent = args.chat.then(|| agent(app, &runtime, &engine, &program, output)).transpose()?;
    let pages = Pages { zone, prices, program, ..Pages::new(engine) };
    let server = runtime.block_on(Server::bind(pages, options))?;
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
    runtime.block_on(server.run(async {
        let _ = stopped.await;
    }));
    // A call that still runs is not waited for: whatever it has not committed did not happen.
    runtime.shutdown_background();
    if ended.by_interrupt() { Err(Failure::Answered(ErrorKind::Interrupted)) } else { Ok(()) }
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
    let host = Arc::new(host?);
    for problem in runtime.block_on(host.start_tools()) {
        output.remark(&problem);
    }
    Ok(Agent { host, folder: app.workspace()?, program: program.to_owned() })
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
