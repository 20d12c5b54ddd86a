//! Tokens of tenants, on a real PostgreSQL.

use forklore::StoreUrl;
use forklore_api::Scope;
use forklore_pgserver::Tenant;
use forklore_server::TokenFile;
use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{Running, json as answer, problem};

/// Asks with a token.
async fn ask(
    server: &Running,
    token: &str,
    method: Method,
    path: &str,
    body: &Value,
) -> reqwest::Response {
    let request = server.bare(method, path).bearer_auth(token);
    crate::send(request, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_a_tenant_sees_nothing_of_another() {
    let blocking = tokio::task::spawn_blocking(|| {
        let tenants = [(); 3].map(|()| Tenant::fresh().unwrap());
        let url: StoreUrl = tenants[0].url().parse().unwrap();
        let engine = forklore::blocking::open_url(&url).unwrap();
        (tenants, url, engine)
    });
    let (tenants, url, engine) = blocking.await.unwrap();
    let of = url.clone();
    let server = Running::of(engine, move |name| {
        let url = of.of_tenant(name)?.expect("PostgreSQL has tenants");
        forklore::blocking::open_url(&url)
    })
    .await;
    let file = TokenFile::at(server.state().join("tokens.json"));
    let name = |at: usize| tenants[at].name().to_owned();
    let token = |at: usize, scope| {
        let added = file.add_for(Some(&name(at)), &format!("t{at}"), scope, Timestamp::now(), None);
        added.unwrap().1
    };
    let tokens = [server.token.clone(), token(1, Scope::Admin), token(2, Scope::Admin)];
    for (at, token) in tokens.iter().enumerate() {
        let create = json!({ "id": "plan", "workspace": format!("/work/{at}"), "title": format!("secret-{at}") });
        let created = ask(&server, token, Method::POST, "/api/v1/sessions", &create).await;
        answer(created, StatusCode::CREATED).await;
        let event =
            json!({ "type": "user_message", "data": { "content": format!("secret-{at}") } });
        let body = json!({ "events": [event] });
        let sent = ask(&server, token, Method::POST, "/api/v1/sessions/plan/events", &body).await;
        answer(sent, StatusCode::CREATED).await;
    }
    for (at, token) in tokens.iter().enumerate() {
        for path in [
            "/api/v1/sessions",
            "/api/v1/sessions/plan",
            "/api/v1/sessions/plan/events",
            "/api/v1/search?query=secret",
            "/api/v1/tree",
            "/api/v1/operations",
            "/s/plan",
            "/",
        ] {
            let found = server.bare(Method::GET, path).bearer_auth(token).send().await.unwrap();
            assert_eq!(found.status(), 200, "{path}");
            let text = found.text().await.unwrap();
            for other in (0..3).filter(|other| *other != at) {
                assert!(!text.contains(&format!("secret-{other}")), "{path}: {text}");
                assert!(!text.contains(&format!("/work/{other}")), "{path}: {text}");
            }
        }
        let read = json!("plan");
        let header = ask(&server, token, Method::POST, "/store/v1/header", &read).await;
        let header = header.text().await.unwrap();
        assert!(header.contains(&format!("secret-{at}")), "{header}");
    }
    // What one erases, the others have.
    let none = json!({});
    let erased =
        ask(&server, &tokens[1], Method::DELETE, "/api/v1/sessions/plan?erase=true", &none);
    assert_eq!(erased.await.status(), 200);
    let left = ask(&server, &tokens[2], Method::GET, "/api/v1/sessions/plan", &json!({})).await;
    assert_eq!(left.status(), 200);
    let gone = ask(&server, &tokens[1], Method::GET, "/api/v1/sessions/plan", &json!({})).await;
    assert_eq!(gone.status(), 404);
    // A browser that logs in with a tenant's token sees that tenant.
    let login =
        crate::send(server.bare(Method::POST, "/login"), &json!({ "secret": tokens[2] })).await;
    let cookie =
        login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = server.bare(Method::GET, "/s/plan").header("cookie", cookie).send().await.unwrap();
    assert!(page.text().await.unwrap().contains("secret-2"));
    let log = std::fs::read_to_string(server.state().join("audit.jsonl")).unwrap();
    assert!(log.contains(&format!("\"tenant\":\"{}\"", name(1))), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_tenants_refuses_the_token_of_one() {
    let server = Running::start().await;
    let file = TokenFile::at(server.state().join("tokens.json"));
    let added = file.add_for(Some("blue"), "b", Scope::Read, Timestamp::now(), None).unwrap();
    let found = server.bare(Method::GET, "/api/v1/sessions").bearer_auth(added.1).send().await;
    problem(found.unwrap(), 422, "unsupported").await;
    for wrong in ["", "a b", "a&tenant=b", "../a"] {
        let refused = file.add_for(Some(wrong), "c", Scope::Read, Timestamp::now(), None);
        assert!(refused.is_err(), "{wrong}");
    }
}
