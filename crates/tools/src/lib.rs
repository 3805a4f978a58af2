//! Tools with types. Nothing here acts: a [`Catalogue`] knows what there is, finds it by words, and says it in TypeScript; an
//! OpenAPI description becomes tools and requests.

mod catalogue;
mod openapi;
mod search;
mod tool;
pub mod typescript;
mod unwrap;
mod view;

pub use catalogue::{Catalogue, Unknown};
pub use openapi::{OpenApi, OpenApiError, Operation, Request, description};
pub use search::Found;
pub use tool::{Namespace, Tool};
pub use unwrap::{ToolFailure, unwrap_http, unwrap_mcp};
pub use view::View;
