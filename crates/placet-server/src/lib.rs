//! Placet over HTTP: the API of agents and people, the events, and the web inbox.
//!
//! | module | part |
//! |---|---|
//! | [`Listener`], [`Server`] | bind, serve, end; one task a connection. The parts it serves run already |
//! | `edge` | what every request passes: names, ids, logs, counts, headers |
//! | `access` | who may do what: tokens, signed-in browsers, roles; the transport sets the principal |
//! | `intake` | bodies, queries and paths, within bounds |
//! | `api` | the endpoints, one module a group; their description is made from them |
//! | `wire` | shapes on the wire, made from the core's types |
//! | `tail` | the journal's newest rows, read once for all who listen |
//! | [`problem`] | what goes wrong, as `application/problem+json` |
//! | `web` | the inbox, the reference, a page for each error code |
//!
//! A waiting agent or browser costs a task and a socket; a waiting question costs a row, as everywhere.

mod access;
mod api;
mod intake;
mod live;
mod metrics;
mod middleware;
pub mod problem;
mod push;
mod serve;
mod state;
mod web;
mod wire;
mod write_timeout;

use axum::Router;

pub use access::{
    Access, AccessError, Admin, AgentOnly, AgentOrPerson, Caller, Holder, PersonOnly, Role, SignedOutError,
    TokensError,
};
pub use push::Push;
pub use serve::{Listen, ListenError, Listener, ServeError, Server};
pub use state::{Parts, ReloadError, State};

/// Everything that is served on TCP: the published contract, and the pages.
pub fn router(state: State) -> Router {
    let (endpoints, openapi) = api::routes().split_for_parts();
    let pages = web::routes().merge(web::Reference::of(&openapi).routes());
    layered(endpoints.merge(pages), state)
}

/// Everything that is served on the socket of the data folder: the published contract, and the records of this machine.
fn local_router(state: State) -> Router {
    let (endpoints, _) = api::routes().split_for_parts();
    layered(endpoints.merge(api::local::routes()), state)
}

fn layered(routes: Router<State>, state: State) -> Router {
    routes
        .fallback(web::nowhere)
        .method_not_allowed_fallback(middleware::no_such_method)
        .layer(axum::middleware::from_fn_with_state(state.clone(), access::prove))
        .layer(axum::middleware::from_fn_with_state(
            state.clone(),
            middleware::pass,
        ))
        .with_state(state)
}
