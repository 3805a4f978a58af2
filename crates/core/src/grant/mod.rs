//! What a run may do, one capability at a time.

mod bounds;
mod credential;
mod egress;
mod files;
mod host;
mod kv;
mod name;
mod path;
mod power;
mod read;
mod rule;
mod secret;
mod text;
mod tool;
mod tool_name;
mod tool_pattern;

pub(crate) use bounds::unambiguous;
pub use bounds::{Bound, BoundError, Bounds};
pub use credential::{Credential, SigV4, Template, TemplateError};
pub use egress::{Egress, Method, Ports, Schemes};
pub use files::{FilesGrant, GuestPath, InvalidPath, PathStep};
pub use host::{HostPattern, InvalidHost};
pub(crate) use host::{LOCALHOST, named};
pub use kv::{Access, KvGrant};
pub use name::{BindingName, InvalidName};
pub use path::PathPrefix;
pub(crate) use path::{hex_pair, is_dots};
pub use power::{Bindings, Grant, Power};
pub use read::GrantError;
pub(crate) use read::grants;
pub use rule::{Budget, Rule};
pub use secret::{SecretGrant, SecretName, SecretSource};
pub use tool::{InvokeGrant, ToolGrant};
pub use tool_name::ToolName;
pub use tool_pattern::{InvalidPattern, ToolPattern};
