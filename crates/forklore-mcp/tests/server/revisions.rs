//! Both kinds of the protocol: with a handshake, and stateless.

use forklore_core::workspace::Workspace;
use forklore_mcp::{McpServer, Options};
use rmcp::model::{CallToolRequestParams, ProtocolVersion, SubscriptionFilter};
use rmcp::{ClientLifecycleMode, ServiceExt, serve_client_with_lifecycle};
use serde_json::json;

use crate::world::{FOLDER, id, say, with_a_plan};

#[tokio::test]
async fn clients_of_both_are_served() {
    let engine = with_a_plan();
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    for lifecycle in
        [ClientLifecycleMode::Initialize, ClientLifecycleMode::Discover { preferred_versions }]
    {
        let options = Options { workspace: Some(Workspace::new(FOLDER)), ..Options::default() };
        let server = McpServer::new(engine.clone(), options);
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
        let client = serve_client_with_lifecycle((), ours, lifecycle.clone()).await.unwrap();
        assert_eq!(client.list_all_tools().await.unwrap().len(), 9, "{lifecycle:?}");
        let session = json!({ "session": "last" }).as_object().unwrap().clone();
        let params = CallToolRequestParams::new("overview").with_arguments(session);
        let overview = client.call_tool(params).await.unwrap().structured_content.unwrap();
        assert_eq!(overview["session"]["session_id"], "plan-1", "{lifecycle:?}");
        if lifecycle == ClientLifecycleMode::Initialize {
            continue;
        }
        let uri = "forklore://session/plan-1";
        let filter = SubscriptionFilter::builder().resource_subscriptions([uri]).build();
        let mut updates = client.listen(filter).await.unwrap();
        // The first update is of the state at the beginning.
        updates.next().await.unwrap().unwrap();
        say(&engine, &id("plan-1"), "more");
        let update = updates.next().await.unwrap();
        let update = serde_json::to_value(update.unwrap()).unwrap();
        assert!(update.to_string().contains(uri), "{update}");
    }
}
