use isolith_core::Engine;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Makes the faster engine, or says why there is none. Called until it has made one, where it may block.
pub type Make = Arc<dyn Fn() -> Result<Arc<dyn Engine>, String> + Send + Sync>;

/// The faster engine, which is started when it is first wanted: most programs never compute for that long.
pub(crate) struct Faster {
    make: Make,
    made: OnceCell<Arc<dyn Engine>>,
}

impl Faster {
    pub(crate) fn new(make: Make) -> Faster {
        Faster { make, made: OnceCell::new() }
    }

    /// The engine. Whoever gives up waiting leaves it to whoever wants it next.
    pub(crate) async fn engine(self: Arc<Self>) -> Result<Arc<dyn Engine>, String> {
        if let Some(made) = self.made.get() {
            return Ok(Arc::clone(made));
        }
        let making = tokio::spawn(async move {
            let make = || async {
                let make = Arc::clone(&self.make);
                let made = tokio::task::spawn_blocking(move || make()).await;
                made.unwrap_or_else(|error| Err(error.to_string()))
            };
            self.made.get_or_try_init(make).await.cloned()
        });
        making.await.unwrap_or_else(|error| Err(error.to_string()))
    }
}
