//! Whoever looks at a program before it runs.

use isolith_core::BoxFuture;

/// Looks at programs.
pub trait Checker: Send + Sync {
    /// What is wrong with a program, or why that cannot be told.
    fn check<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<Vec<Mistake>, String>>;
}

/// Something wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Mistake {
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The compiler's own: `TS2322`.
    pub code: String,
    /// For people and models.
    pub message: String,
}
