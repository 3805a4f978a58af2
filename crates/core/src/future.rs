use std::future::Future;
use std::pin::Pin;

/// What traits chosen at run time return instead of `impl Future`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
