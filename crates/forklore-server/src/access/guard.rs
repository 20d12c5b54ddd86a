//! The checks in front of every route: the host, the origin, and who asks. And the headers behind it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use forklore_api::Scope;
use forklore_core::ErrorKind;

use super::{Caller, page};
use crate::problem::Problem;
use crate::service::Service;
use crate::store;
use crate::tenants::Tenants;

/// What every answer says to the browser: no script, style, picture or frame but this server's own.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
             connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; \
             frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
];

/// Refuses a request that was sent to another host or by a page of another site, and adds the
/// headers.
pub(crate) async fn site(State(service): State<Service>, request: Request, next: Next) -> Response {
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    let headers = request.headers();
    let mut response = if !service.hosts.has_host(headers) {
        let detail = "this server has another name than the request's header Host says";
        let status = StatusCode::MISDIRECTED_REQUEST;
        Problem::with_status(status, ErrorKind::PermissionDenied, detail)
            .or_try("name the server's public address with: forklore serve --public-url URL")
            .into_response()
    } else if !is_reading && !service.hosts.has_origin(headers) {
        let detail = "a page of another site sent this request";
        Problem::new(ErrorKind::PermissionDenied, detail).into_response()
    } else {
        next.run(request).await
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(value);
    }
    // What a browser has stored, the next person at it could read. Assets have names of their own.
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(no_store);
    response
}

/// Finds out who sent a request, by its token or the cookie of the page, and refuses a stranger. A
/// request of a caller who sees a tenant goes to the routes of that tenant.
pub(crate) async fn caller(
    State((service, tenants)): State<(Service, Arc<Tenants>)>,
    mut request: Request,
    next: Next,
) -> Response {
    match service.caller(request.headers()) {
        Ok(caller) => {
            let tenant = caller.tenant.clone();
            request.extensions_mut().insert(caller);
            match tenant {
                Some(tenant) => tenants.answer(&tenant, request).await,
                None => next.run(request).await,
            }
        }
        Err(_) if page::is_wanted(request.method(), request.uri().path(), request.headers()) => {
            page::page()
        }
        Err(problem) => problem.into_response(),
    }
}

/// Refuses a caller who may only read, if the request may write, and says to the pages what the caller
/// may do. The routes of the API check their scopes themselves.
pub(crate) async fn pages(mut request: Request, next: Next) -> Response {
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    let caller = request.extensions().get::<Caller>();
    let may_write = caller.is_some_and(|caller| caller.scope >= Scope::Write);
    let allowed = match caller {
        Some(caller) if !is_reading => caller.needs(Scope::Write),
        _ => Ok(()),
    };
    request.extensions_mut().insert(forklore_web::Rights { may_write });
    match allowed {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Says who asks in a request about a conversation, refuses a caller who may only read if the request
/// may write, and answers a refusal as a problem.
pub(crate) async fn talk(mut request: Request, next: Next) -> Response {
    if let Some(caller) = request.extensions().get::<Caller>() {
        let (name, may_write) = (caller.name.clone(), caller.scope >= Scope::Write);
        request.extensions_mut().insert(forklore_web_chat::Caller { name, may_write });
    }
    let mut response = pages(request, next).await;
    match response.extensions_mut().remove::<forklore_web_chat::Refused>() {
        Some(refused) => Problem::from(refused).into_response(),
        None => response,
    }
}

/// Logs a request that may write, after it was answered.
pub(crate) async fn log(State(service): State<Service>, request: Request, next: Next) -> Response {
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if is_reading || store::is_reading(request.uri().path()) {
        return next.run(request).await;
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let caller = request.extensions().get::<Caller>().cloned();
    let response = next.run(request).await;
    if let Some(caller) = caller {
        service.audit.add(&caller, method.as_str(), &path, response.status().as_u16());
    }
    response
}

impl Caller {
    /// Refuses a caller whose token has a narrower scope.
    pub(crate) fn needs(&self, scope: Scope) -> Result<(), Problem> {
        if self.scope >= scope {
            return Ok(());
        }
        let detail = format!(
            "the token {} has the scope {}, and this request needs {scope}",
            self.name, self.scope
        );
        Err(Problem::new(ErrorKind::PermissionDenied, detail)
            .or_try(format!("forklore token add NAME --scope {scope}")))
    }
}
