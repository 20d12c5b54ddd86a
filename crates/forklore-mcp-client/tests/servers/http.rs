//! Tests of servers over streamable HTTP.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use forklore_agent::tool::Tools;
use forklore_mcp_client::ServerConfig;
use serde_json::json;

use crate::given::{a_call, call, came, context, listening, names, node, script, set, started};

/// A process of an HTTP server. Dropping this value stops the process.
struct Web {
    child: Child,
    url: String,
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Web {
    /// Starts `server-everything` on a free port. Tries another port if another process takes the
    /// port first.
    fn everything() -> Self {
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut child = Command::new(node())
                .args([&script("server-everything"), "streamableHttp"])
                .env("PORT", port.to_string())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
            let ready = lines.any(|line| line.unwrap().contains("listening on port"));
            // Read the rest of the output, because the server would block when the pipe is full.
            std::thread::spawn(move || lines.count());
            let web = Self { child, url: format!("http://127.0.0.1:{port}/mcp") };
            if ready {
                return web;
            }
        }
        panic!("no port is free");
    }

    /// Starts the test double `web.py`, a server that misbehaves as `how` specifies.
    fn double(how: &str) -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/web.py");
        let mut child = Command::new("python3")
            .arg(program)
            .arg(how)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { child, url: format!("http://127.0.0.1:{}/mcp", port.trim()) }
    }

    fn config(&self) -> ServerConfig {
        ServerConfig { url: Some(self.url.clone()), ..ServerConfig::default() }
    }

    /// Returns a configuration with the header that the server `web.py` requires. Its value comes
    /// from a variable that every test has in its environment.
    fn config_with_header(&self) -> ServerConfig {
        let header_env = [("Authorization".to_owned(), "CARGO_PKG_NAME".to_owned())].into();
        ServerConfig { header_env, ..self.config() }
    }
}

#[tokio::test]
async fn tools_are_listed_and_called() {
    let web = Web::everything();
    let tools = started([("web", web.config())]).await;
    assert!(names(&tools).contains(&"web__get-sum".to_owned()));
    let sum = call(&tools, "web__get-sum", json!({"a": 2, "b": 40})).await;
    assert_eq!(sum, (false, json!("The sum of 2 and 40 is 42.")));

    let (context, steps) = listening();
    let arguments = json!({"duration": 1, "steps": 3});
    let long = a_call("web__trigger-long-running-operation", &arguments);
    let echo = a_call("web__echo", &json!({"message": "quick"}));
    let (long, echo) = tokio::join!(tools.call(&long, &context), tools.call(&echo, &context));
    let done = "Long running operation completed. Duration: 1 seconds, Steps: 3.";
    assert_eq!(came(&long), (false, json!(done)));
    assert_eq!(came(&echo), (false, json!("Echo: quick")));
    let done: Vec<_> = steps.lock().unwrap().iter().map(|step| step.done).collect();
    assert_eq!(done, [1.0, 2.0, 3.0]);
    tools.end().await;
}

#[tokio::test]
async fn an_interrupted_call_ends_at_once() {
    let web = Web::everything();
    let tools = started([("web", web.config())]).await;
    let context = context();
    let arguments = json!({"duration": 1000, "steps": 10});
    let long = a_call("web__trigger-long-running-operation", &arguments);
    let interrupt = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        context.cancelled.cancel();
    };
    let (outcome, ()) = tokio::join!(tools.call(&long, &context), interrupt);
    assert_eq!(came(&outcome), (true, json!("interrupted")));
    let echo = call(&tools, "web__echo", json!({"message": "still here"})).await;
    assert_eq!(echo, (false, json!("Echo: still here")));
    tools.end().await;
}

#[tokio::test]
async fn a_server_that_comes_back_is_found_again() {
    let mut web = Web::everything();
    let config = ServerConfig { start_seconds: Some(60), call_seconds: Some(60), ..web.config() };
    let tools = started([("web", config)]).await;
    web.child.kill().unwrap();
    web.child.wait().unwrap();
    let (failed, _) = call(&tools, "web__echo", json!({"message": "lost"})).await;
    assert!(failed);
    let port = web.url.split([':', '/']).nth(4).unwrap().to_owned();
    web.child = Command::new(node())
        .args([&script("server-everything"), "streamableHttp"])
        .env("PORT", port)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The server takes a moment to start.
    while call(&tools, "web__echo", json!({"message": "back"})).await.0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let echo = call(&tools, "web__echo", json!({"message": "back"})).await;
    assert_eq!(echo, (false, json!("Echo: back")));
    tools.end().await;
}

#[tokio::test]
async fn headers_come_from_the_environment() {
    let web = Web::double("well");
    let tools = started([("web", web.config_with_header())]).await;
    assert_eq!(call(&tools, "web__do", json!({})).await, (false, json!("done")));
    tools.end().await;

    let header_env = [("Authorization".to_owned(), "FORKLORE_NOT_SET".to_owned())].into();
    let unset = set([("web", ServerConfig { header_env, ..web.config() })]);
    assert_eq!(
        unset.start().await[0].to_string(),
        "the tool server `web` does not start: the environment variable FORKLORE_NOT_SET is not set"
    );
}

#[tokio::test]
async fn a_token_comes_from_the_environment_and_its_faults_are_reported() {
    let reported = async |config: ServerConfig| {
        let tools = set([("my-web", config)]);
        let problems = tools.start().await;
        let problem: Vec<_> = problems.iter().map(ToString::to_string).collect();
        tools.end().await;
        problem.concat()
    };
    let web = Web::double("challenging");
    // Every test has both variables in its environment. Only one of them has the value that the
    // server expects.
    let token =
        |variable: &str| ServerConfig { token_env: Some(variable.to_owned()), ..web.config() };
    let tools = started([("web", token("CARGO_PKG_NAME"))]).await;
    assert_eq!(call(&tools, "web__do", json!({})).await, (false, json!("done")));
    tools.end().await;
    let without = reported(web.config()).await;
    let wrong = reported(token("CARGO_PKG_VERSION")).await;
    let unset = reported(token("FORKLORE_NOT_SET")).await;

    let web = Web::double("expiring");
    let unknown = reported(web.config()).await;
    let header_env = [("Authorization".to_owned(), "CARGO_PKG_VERSION".to_owned())].into();
    let other = reported(ServerConfig { header_env, ..web.config() }).await;
    let tools = started([("web", web.config_with_header())]).await;
    let (failed, later) = call(&tools, "web__do", json!({})).await;
    assert!(failed);
    tools.end().await;
    let all = [without, wrong, unset, unknown, other, later.as_str().unwrap().to_owned()];
    insta::assert_snapshot!(all.join("\n"));
}

#[tokio::test]
async fn nobody_there_is_a_problem() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = Some(format!("http://127.0.0.1:{port}/mcp"));
    let tools = set([("web", ServerConfig { url, ..ServerConfig::default() })]);
    let problem = tools.start().await[0].to_string().replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(problem);
}

#[tokio::test]
async fn answers_that_are_none_are_what_came_of_the_call() {
    for how in ["large", "large events", "broken", "senseless", "silent"] {
        let web = Web::double(how);
        let seconds = if how == "silent" { 3 } else { 600 };
        let config = ServerConfig { call_seconds: Some(seconds), ..web.config_with_header() };
        let tools = started([("web", config)]).await;
        let (failed, text) = call(&tools, "web__do", json!({})).await;
        assert!(failed, "{how}: {text}");
        insta::assert_snapshot!(
            how.replace(' ', "_"),
            text.as_str().unwrap().replace(&web.url, "URL")
        );
        tools.end().await;
    }
}
