//! The tenants of a database. A token that names one sees the store of that tenant and nothing else: its
//! requests go to routes of their own, which know no other store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use forklore::{Engine, OpenError};
use forklore_core::ErrorKind;
use forklore_web::Pages;
use tokio::sync::OnceCell;
use tower::Service as _;

use crate::access::Caller;
use crate::mcp::Agents;
use crate::problem::Problem;
use crate::service::Service;

/// Opens the store of the tenant with this name.
pub(crate) type Open = dyn Fn(&str) -> Result<Engine, OpenError> + Send + Sync;

/// Returns the routes of a store.
pub(crate) type Routes = fn(&Service, Pages) -> Router;

/// The routes of each tenant, since its first request.
pub(crate) struct Tenants {
    open: Option<Arc<Open>>,
    routes: Routes,
    service: Service,
    pages: Pages,
    opened: Mutex<HashMap<String, Arc<OnceCell<Tenant>>>>,
}

struct Tenant {
    router: Router,
    agents: Agents,
}

impl Tenants {
    /// Creates the list, which is empty. The routes of a tenant are like those of `service` and `pages`.
    pub(crate) fn new(
        open: Option<Arc<Open>>,
        routes: Routes,
        service: Service,
        pages: Pages,
    ) -> Self {
        Self { open, routes, service, pages, opened: Mutex::default() }
    }

    /// Answers a request of a caller who sees this tenant.
    pub(crate) async fn answer(&self, tenant: &str, mut request: Request) -> Response {
        // What the outer router found in the path is not what the inner one finds.
        let caller = request.extensions_mut().remove::<Caller>();
        request.extensions_mut().clear();
        if let Some(caller) = caller {
            request.extensions_mut().insert(caller);
        }
        match self.router(tenant).await {
            // A router is always ready.
            Ok(mut router) => router.call(request).await.into_response(),
            Err(problem) => problem.into_response(),
        }
    }

    async fn router(&self, name: &str) -> Result<Router, Problem> {
        let Some(open) = self.open.clone() else {
            let detail = "the token names a tenant, and the store of this server has no tenants";
            return Err(Problem::new(ErrorKind::Unsupported, detail)
                .or_try("serve a database: forklore --store postgres://HOST/DATABASE serve"));
        };
        let cell = {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.entry(name.to_owned()).or_default().clone()
        };
        let tenant = cell.get_or_try_init(|| async {
            let name = name.to_owned();
            let opening = tokio::task::spawn_blocking(move || open(&name)).await;
            let ended = |_| Problem::new(ErrorKind::Internal, "the store was not opened");
            let engine = opening.map_err(ended)?.map_err(|error| match error {
                OpenError::Store(error) => Problem::from(forklore::Error::from(error)),
                other => Problem::invalid(other.to_string()),
            })?;
            let service = self.service.on(engine.clone());
            // The files are those of the server's own user.
            let pages = Pages { engine, files: None, ..self.pages.clone() };
            let agents = service.agents.clone();
            let router = (self.routes)(&service, pages);
            Ok::<_, Problem>(Tenant { router, agents })
        });
        Ok(tenant.await?.router.clone())
    }

    /// Ends the connections of agents.
    pub(crate) fn stop(&self) {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.values().filter_map(|cell| cell.get()).for_each(|tenant| tenant.agents.stop());
    }
}
