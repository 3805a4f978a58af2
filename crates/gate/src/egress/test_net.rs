//! Names and addresses that lead to fixtures.

/// A map.
pub struct TestNet;
/// Wrong.
#[derive(Debug, thiserror::Error)]
#[error("the test map cannot be used: {0}")]
pub struct TestNetError(pub(super) String);
