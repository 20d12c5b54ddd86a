//! Serves one client over standard input and output.

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;

use crate::McpServer;

/// The maximum length of one message of the client, in bytes.
const FRAME: usize = 4 << 20;

/// Why a server ended before its client went away.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The runtime of the server cannot be created.
    #[error("the server cannot start: {0}")]
    Start(#[from] std::io::Error),
    /// The client does not speak the protocol, or not in a revision of the server.
    #[error("the client did not begin the protocol: {0}")]
    Client(Box<ServerInitializeError>),
    /// The task that serves the client failed.
    #[error("the server failed: {0}")]
    Failed(#[from] tokio::task::JoinError),
}

/// Serves one client over standard input and output. Returns when the client closes its end.
///
/// # Errors
/// If the server cannot start, or if the client does not begin with the protocol.
pub fn serve_stdio(server: McpServer) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve(server));
    // A thread may still wait for input, or work on a call that nobody waits for.
    runtime.shutdown_background();
    served
}

async fn serve(server: McpServer) -> Result<(), ServeError> {
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(FRAME);
    match server.serve(transport).await {
        Ok(running) => {
            running.waiting().await?;
            Ok(())
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeError::Client(Box::new(error))),
    }
}
