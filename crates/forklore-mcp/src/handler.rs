//! The server: what it answers to each request of the protocol.

use std::future::Future;
use std::sync::Arc;

use forklore_core::ErrorKind;
use forklore_engine::Engine;
use forklore_sanitize::terminal;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::feed::Feed;
use crate::instructions::instructions;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::subscriptions::Subscriptions;
use crate::{prompts, resources, subscriptions, tool};

/// An MCP server over the sessions of an engine. A clone serves the same connection;
/// [`for_connection`](Self::for_connection) makes one for another.
#[derive(Clone)]
pub struct McpServer {
    engine: Engine,
    options: Arc<Options>,
    feed: Arc<Feed>,
    subscriptions: Arc<Subscriptions>,
    /// Counts the connection, among those that are open.
    permit: Option<Arc<OwnedSemaphorePermit>>,
}

impl McpServer {
    /// Creates a server for one connection.
    #[must_use]
    pub fn new(engine: Engine, options: Options) -> Self {
        Self {
            engine,
            options: Arc::new(options),
            feed: Arc::default(),
            subscriptions: Arc::default(),
            permit: None,
        }
    }

    /// Returns a server over the same store for a caller, with options of its own. The store records
    /// the name of the caller with each change.
    #[must_use]
    pub fn on_behalf_of(&self, principal: &str, options: Options) -> Self {
        let engine = self.engine.clone().with_principal(principal);
        Self { engine, options: Arc::new(options), ..self.for_connection() }
    }

    /// Returns a server with the same engine and options for another connection.
    #[must_use]
    pub fn for_connection(&self) -> Self {
        Self { subscriptions: Arc::default(), permit: None, ..self.clone() }
    }

    /// Returns a server for another connection, which this permit counts until it ends.
    pub(crate) fn counted(&self, permit: OwnedSemaphorePermit) -> Self {
        Self { permit: Some(Arc::new(permit)), ..self.for_connection() }
    }

    /// Returns the tools that the server offers.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        tool::offered(&self.options).map(tool::Entry::described).collect()
    }

    fn access(&self) -> Access<'_> {
        Access { engine: &self.engine, options: &self.options }
    }

    /// Runs a function that reads or writes the store, on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Access<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let server = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&server.access())).await;
        done.unwrap_or_else(|error| {
            tracing::error!(%error, "a request failed");
            Err(Refusal::new(ErrorKind::Internal, "the request failed", "report this error"))
        })
    }
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpServer")
            .field("options", &self.options)
            .field("is_counted", &self.permit.is_some())
            .finish_non_exhaustive()
    }
}

/// Returns the result of a call: the answer as structured content, and the same as text for clients
/// that read no structured content.
fn called(answered: Result<Value, Refusal>) -> CallToolResult {
    match answered {
        Ok(answer) => {
            let text = terminal::json(&answer.to_string()).into_owned();
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(answer);
            result
        }
        Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal.text())]),
    }
}

fn protocol_error(refusal: &Refusal) -> ErrorData {
    let data = serde_json::from_str(&terminal::json(&json!(refusal).to_string())).ok();
    let message = refusal.message.clone();
    match refusal.kind {
        ErrorKind::NotFound => ErrorData::resource_not_found(message, data),
        ErrorKind::InvalidArgs => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}

/// Names in an error the resource that it is about.
fn about(uri: &str, mut error: ErrorData) -> ErrorData {
    if let Some(Value::Object(data)) = &mut error.data {
        data.insert("uri".to_owned(), json!(terminal::line(uri)));
    }
    error
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let mut us = Implementation::new("forklore", env!("CARGO_PKG_VERSION"));
        us.title = Some("forklore: earlier sessions".to_owned());
        ServerConfig::new(capabilities)
            .with_server_info(us)
            .with_instructions(instructions(&self.options))
    }

    fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        std::future::ready(Ok(ListToolsResult::with_all_items(self.tools())))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tool::offered(&self.options).find(|entry| entry.name == name).map(tool::Entry::described)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = tool::named(&request.name) else {
            let message = format!("there is no tool {}", terminal::line(&request.name));
            return Err(ErrorData::invalid_params(message, None));
        };
        let input = Value::Object(request.arguments.unwrap_or_default());
        let answered = self.blocking(move |access| entry.call(access, input)).await;
        Ok(called(answered).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let after = request.and_then(|request| request.cursor);
        let listed = self.blocking(move |access| resources::list(access, after)).await;
        listed.map_err(|refusal| protocol_error(&refusal))
    }

    fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListResourceTemplatesResult, ErrorData>> + Send + '_ {
        std::future::ready(Ok(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let read = self.blocking(move |access| resources::read(access, uri)).await;
        Ok(read.map_err(|refusal| about(&request.uri, protocol_error(&refusal)))?.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri = request.uri.clone();
        let id = self.blocking(move |access| resources::session_of(access, &uri)).await;
        let header = id.map_err(|refusal| protocol_error(&refusal))?;
        let source = (&self.feed, &self.engine);
        let begun = self.subscriptions.add(header.id, request.uri, source, context.peer);
        begun.await.map_err(|refusal| protocol_error(&refusal))
    }

    fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        self.subscriptions.remove(&request.uri);
        std::future::ready(Ok(()))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions.clone_from(&requested.resource_subscriptions);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let found = self.blocking(move |access| Ok(resources::sessions_of(access, uris))).await;
        let wanted = found.map_err(|refusal| protocol_error(&refusal))?;
        let followed = subscriptions::listen((&self.feed, &self.engine), wanted, &context).await;
        followed.map_err(|refusal| protocol_error(&refusal))
    }

    fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListPromptsResult, ErrorData>> + Send + '_ {
        std::future::ready(Ok(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let name = request.name;
        let prompt = self.blocking(move |access| prompts::get(access, &name, &arguments)).await;
        Ok(prompt.map_err(|refusal| protocol_error(&refusal))?.into())
    }
}
