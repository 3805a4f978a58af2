use super::spot::OPERATIONS_MAX;

/// Why there are no tools, no such tool, or no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenApiError {
    /// It is something else.
    #[error("this is not an OpenAPI description: {0}")]
    NotOpenApi(String),
    /// It is of the time before OpenAPI 3.
    #[error(
        "this is a description in Swagger {0}, not in OpenAPI 3: convert it first, for instance with `swagger2openapi`"
    )]
    Swagger(String),
    /// It is of another version.
    #[error("OpenAPI {0} is not supported, 3.0 and 3.1 are")]
    Version(String),
    /// It describes too much.
    #[error("the description has more than {OPERATIONS_MAX} operations: leave out what is not needed")]
    TooManyOperations,
    /// It describes nothing that can be called.
    #[error("the description has no operation that can be called")]
    NoOperations,
    /// No operation has this name.
    #[error("there is no operation `{name}`{}", did_you_mean(near))]
    UnknownOperation {
        /// As asked for.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// A request cannot be made to this.
    #[error("`{url}` cannot be the start of a URL: {what}")]
    BaseUrl {
        /// As given.
        url: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An argument is needed and not there.
    #[error("`{at}` is missing")]
    Missing {
        /// Which.
        at: String,
    },
    /// An argument is there that the operation does not have.
    #[error("there is no argument `{at}`{}", did_you_mean(near))]
    UnknownArgument {
        /// Which.
        at: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// An argument is of another type.
    #[error("`{at}` has to be {expected}, and is {found}")]
    WrongType {
        /// Which: `labels[2]`.
        at: String,
        /// What it may be.
        expected: String,
        /// What it is.
        found: &'static str,
    },
    /// An argument cannot be sent as it is.
    #[error("`{at}` {what}")]
    Refused {
        /// Which: `filter.state`.
        at: String,
        /// Why not.
        what: String,
    },
}

impl OpenApiError {
    /// The argument that is to blame, if one is; `args` for all of them together.
    pub fn argument(&self) -> Option<&str> {
        match self {
            OpenApiError::Missing { at }
            | OpenApiError::UnknownArgument { at, .. }
            | OpenApiError::WrongType { at, .. }
            | OpenApiError::Refused { at, .. } => Some(at),
            OpenApiError::NotOpenApi(_)
            | OpenApiError::Swagger(_)
            | OpenApiError::Version(_)
            | OpenApiError::TooManyOperations
            | OpenApiError::NoOperations
            | OpenApiError::UnknownOperation { .. }
            | OpenApiError::BaseUrl { .. } => None,
        }
    }

    pub(super) fn refused(at: &str, what: impl Into<String>) -> Self {
        OpenApiError::Refused { at: at.to_owned(), what: what.into() }
    }
}

fn did_you_mean(near: &Option<String>) -> String {
    near.as_ref().map(|near| format!(": did you mean `{near}`?")).unwrap_or_default()
}
