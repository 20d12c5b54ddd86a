//! Sessions as resources, and subscriptions to them.

use forklore_core::workspace::Workspace;
use forklore_mcp::{McpServer, Options};
use rmcp::model::{
    ReadResourceRequestParams, ResourceContents, ResourceUpdatedNotificationParam,
    SubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use tokio::sync::mpsc;

use crate::world::{FOLDER, client, id, say, with_a_plan};

async fn read(client: &crate::world::Client, uri: &str) -> String {
    let result = client.0.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    let [ResourceContents::TextResourceContents { text, mime_type, .. }] = &*result.contents else {
        panic!("{result:?}")
    };
    assert_eq!(mime_type.as_deref(), Some("text/markdown"));
    text.clone()
}

#[tokio::test]
async fn a_session_is_a_page_of_markdown() {
    let engine = with_a_plan();
    let client = client(&engine, &[]).await;
    insta::assert_json_snapshot!("listed", client.0.list_all_resources().await.unwrap());
    let templates = client.0.list_all_resource_templates().await.unwrap();
    insta::assert_json_snapshot!("templates", templates);
    let page = read(&client, "forklore://session/plan-1").await;
    assert_eq!(read(&client, "forklore://session/last").await, page);
    insta::assert_snapshot!("page", page);
    for nowhere in ["forklore://session/nowhere", "file:///etc/passwd", "forklore://session/"] {
        let params = ReadResourceRequestParams::new(nowhere);
        let refused = client.0.read_resource(params).await.unwrap_err();
        let rmcp::ServiceError::McpError(refused) = refused else { panic!("{refused:?}") };
        let refused = serde_json::to_value(refused).unwrap();
        assert_eq!(refused["data"]["uri"], nowhere, "{refused}");
    }
}

#[tokio::test]
async fn a_long_page_ends_and_says_so() {
    let engine = with_a_plan();
    for _ in 0..30 {
        say(&engine, &id("plan-1"), &"é long text ".repeat(500));
    }
    let client = client(&engine, &[]).await;
    let page = read(&client, "forklore://session/plan-1").await;
    assert!(page.len() < 101_000, "{}", page.len());
    assert!(page.contains("> This is the beginning. The tool messages shows the rest"));
}

/// A client that reports the addresses of updated resources.
struct Listener(mpsc::UnboundedSender<String>);

impl ClientHandler for Listener {
    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.send(updated.uri).unwrap();
    }
}

/// Connects a client that subscribes to a resource, and returns it with the updates that it gets.
async fn subscribed(
    server: &McpServer,
    uri: &str,
) -> (RunningService<RoleClient, Listener>, mpsc::UnboundedReceiver<String>) {
    let server = server.for_connection();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
    let (updated, updates) = mpsc::unbounded_channel();
    let client = Listener(updated).serve(ours).await.unwrap();
    #[allow(deprecated, reason = "clients of 2025-11-25 use it")]
    client.subscribe(SubscribeRequestParams::new(uri)).await.unwrap();
    (client, updates)
}

#[tokio::test]
async fn every_subscriber_hears_of_changes_also_after_all_went_away() {
    let engine = with_a_plan();
    let options = Options { workspace: Some(Workspace::new(FOLDER)), ..Options::default() };
    let server = McpServer::new(engine.clone(), options);
    let other = crate::world::session(&engine, "other-1", "Other", FOLDER);
    for uri in ["forklore://session/plan-1", "forklore://session/plan"] {
        let mut clients = Vec::new();
        for _ in 0..30 {
            clients.push(subscribed(&server, uri).await);
        }
        say(&engine, &other, "not subscribed to");
        say(&engine, &id("plan-1"), "more");
        for (client, mut updates) in clients {
            assert_eq!(updates.recv().await.as_deref(), Some(uri));
            client.cancel().await.unwrap();
            assert_eq!(updates.recv().await, None);
        }
    }
}
