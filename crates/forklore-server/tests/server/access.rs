//! Who may ask, from where, and what the answers say to browsers.

use forklore_api::Scope;
use forklore_server::TokenFile;
use jiff::Timestamp;
use reqwest::Method;
use serde_json::json;

use crate::{Running, problem, send};

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_learns_nothing() {
    let server = Running::start().await;
    server.create("plan").await;
    for path in
        ["/api/v1/sessions", "/api/v1/sessions/plan", "/api/v1/sessions/none", "/api/v1/events"]
    {
        let answer = server.bare(Method::GET, path).send().await.unwrap();
        let found = problem(answer, 401, "permission_denied").await;
        assert!(!found.to_string().contains("plan"), "{found}");
        let wrong = server.bare(Method::GET, path).bearer_auth("fkl_guess").send().await.unwrap();
        problem(wrong, 401, "permission_denied").await;
    }
    let health = server.bare(Method::GET, "/health").send().await.unwrap();
    assert_eq!(health.text().await.unwrap(), "ok\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_host_or_origin_is_refused_even_with_a_token() {
    let server = Running::start().await;
    let answer = server.request(Method::GET, "/sessions").header("host", "evil.example");
    problem(answer.send().await.unwrap(), 421, "permission_denied").await;
    let body = json!({ "id": "x", "workspace": "/w" });
    for origin in ["http://evil.example", "null"] {
        let forged = server.request(Method::POST, "/sessions").header("origin", origin);
        problem(send(forged, &body).await, 403, "permission_denied").await;
    }
    let own = server.request(Method::POST, "/sessions").header("origin", &server.url);
    assert_eq!(send(own, &body).await.status(), 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_does_what_its_scope_says_until_it_is_revoked() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "one").await;
    let file = TokenFile::at(server.state().join("tokens.json"));
    let now = Timestamp::now();
    let (_, reader) = file.add("reader", Scope::Read, now, None).unwrap();
    let (_, writer) = file.add("writer", Scope::Write, now, None).unwrap();
    let (_, late) = file.add("late", Scope::Read, now, Some(now)).unwrap();

    let with = |method: Method, path: &str, token: &str| {
        server.bare(method, &format!("/api/v1{path}")).bearer_auth(token)
    };
    let fork = |token: &str| with(Method::POST, "/sessions/plan/forks", token);
    assert_eq!(with(Method::GET, "/sessions/plan", &reader).send().await.unwrap().status(), 200);
    let refused = problem(send(fork(&reader), &json!({})).await, 403, "permission_denied").await;
    assert_eq!(refused["next_actions"], json!(["forklore token add NAME --scope write"]));
    // A plan writes nothing.
    assert_eq!(send(fork(&reader), &json!({ "dry_run": true })).await.status(), 200);
    assert_eq!(send(fork(&writer), &json!({})).await.status(), 201);
    let erase = with(Method::DELETE, "/sessions/plan?erase=true", &writer).send().await.unwrap();
    problem(erase, 403, "permission_denied").await;
    let expired = with(Method::GET, "/sessions", &late).send().await.unwrap();
    problem(expired, 401, "permission_denied").await;
    file.revoke("reader").unwrap();
    let revoked = with(Method::GET, "/sessions", &reader).send().await.unwrap();
    problem(revoked, 401, "permission_denied").await;

    let log = std::fs::read_to_string(server.state().join("audit.jsonl")).unwrap();
    for (name, status) in [("reader", 403), ("writer", 201)] {
        let is_it = |line: &&str| {
            line.contains(&format!("\"caller\":\"{name}\""))
                && line.contains(&format!("\"status\":{status}"))
        };
        assert_eq!(log.lines().filter(is_it).count(), 1, "{log}");
    }
    for secret in [&reader, &writer, &server.token] {
        assert!(!log.contains(secret.as_str()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_logs_one_browser_in_once() {
    let server = Running::start().await;
    let (_, secret) = server.link.split_once("/#login=").unwrap();
    let login = |secret: &str| {
        let body = json!({ "secret": secret });
        let request = server.bare(Method::POST, "/login").header("origin", &server.url);
        async move { send(request, &body).await }
    };
    problem(login("fkl_guess").await, 401, "permission_denied").await;
    let done = login(secret).await;
    assert_eq!(done.status(), 204);
    let cookie = done.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    problem(login(secret).await, 401, "permission_denied").await;

    let pair = cookie.split(';').next().unwrap();
    let answer = || server.bare(Method::GET, "/api/v1/sessions").header("cookie", pair);
    assert_eq!(answer().send().await.unwrap().status(), 200);
    let out = server.bare(Method::DELETE, "/login").header("cookie", pair).send().await.unwrap();
    assert_eq!(out.status(), 204);
    problem(answer().send().await.unwrap(), 401, "permission_denied").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_sees_the_login_and_then_the_pages() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "which <b>parser</b>?").await;
    let show = |path: &str, cookie: &str| {
        let request = server.bare(Method::GET, path).header("accept", "text/html,*/*;q=0.8");
        let request = request.header("cookie", cookie.to_owned());
        async move {
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        }
    };
    for path in ["/", "/s/plan", "/nothing"] {
        let (status, page) = show(path, "").await;
        assert_eq!(status, 401);
        assert!(page.contains("<form id=\"login\">") && !page.contains("parser"), "{page}");
    }
    assert_eq!(show("/login.js", "").await.0, 200);
    let file = TokenFile::at(server.state().join("tokens.json"));
    let (_, reader) = file.add("reader", Scope::Read, Timestamp::now(), None).unwrap();
    let login = server.bare(Method::POST, "/login");
    let done = send(login, &json!({ "secret": reader })).await;
    let cookie =
        done.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let (status, page) = show("/s/plan", &cookie).await;
    assert_eq!(status, 200);
    assert!(page.contains("&lt;b&gt;parser") && !page.contains("<b>parser"), "{page}");
    let (status, page) = show("/nothing", &cookie).await;
    assert!(status == 404 && page.starts_with("<!DOCTYPE html>"), "{page}");
    // Who may only read cannot fork or rewind by the page either.
    for (path, form) in [
        ("/s/plan/fork", "at=0"),
        ("/s/plan/rewind", "at=start&scope=conversation"),
        ("/s/plan/rewind/undo", "number=1"),
    ] {
        let change = server.bare(Method::POST, path).header("cookie", &cookie);
        let change = change.header("content-type", "application/x-www-form-urlencoded").body(form);
        problem(change.send().await.unwrap(), 403, "permission_denied").await;
    }
    // A token that is revoked ends the browsers that logged in with it.
    file.revoke("reader").unwrap();
    assert_eq!(show("/s/plan", &cookie).await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_keeps_a_browser_from_executing_what_sessions_say() {
    let server = Running::start().await;
    for path in ["/health", "/api/v1/sessions", "/nothing"] {
        let answer =
            server.bare(Method::GET, path).bearer_auth(&server.token).send().await.unwrap();
        let headers = answer.headers();
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["cache-control"], "no-store");
        assert!(headers.get("access-control-allow-origin").is_none());
    }
}
