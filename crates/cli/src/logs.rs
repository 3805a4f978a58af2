//! What goes on inside, for who wants to know: `ISOLITH_LOG=debug` writes it to stderr.

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

/// Says what is to be logged: `debug`, or `isolith_gate=trace`.
const LOG: &str = "ISOLITH_LOG";

type BoxLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Ends what has to be ended when the process does.
pub(crate) struct Logs {
    #[cfg(feature = "otel")]
    _spans: Option<otel::Spans>,
}

/// Starts logging, if someone wants it. Otherwise nothing is set up and nothing is paid.
pub(crate) fn start() -> Logs {
    let mut layers: Vec<BoxLayer> = Vec::new();
    if let Some(wanted) = std::env::var(LOG).ok().filter(|wanted| !wanted.is_empty()) {
        let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new("debug"));
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
        layers.push(lines.with_filter(filter).boxed());
    }
    #[cfg(feature = "otel")]
    let spans = otel::start(&mut layers);
    if !layers.is_empty() {
        let _ = tracing_subscriber::registry().with(layers).try_init();
    }
    Logs {
        #[cfg(feature = "otel")]
        _spans: spans,
    }
}

/// Puts spans under those of whoever sent the request, where they are exported.
pub(crate) fn adopt() -> Option<isolith_server::Adopt> {
    #[cfg(feature = "otel")]
    return otel::adopt();
    #[cfg(not(feature = "otel"))]
    None
}

#[cfg(feature = "otel")]
mod otel {
    use super::BoxLayer;
    use isolith_server::{Adopt, Trace};
    use opentelemetry::propagation::TextMapPropagator;
    use opentelemetry::trace::TracerProvider;
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use std::collections::HashMap;
    use std::sync::Arc;
    use tracing_opentelemetry::OpenTelemetrySpanExt;
    use tracing_subscriber::Layer;
    use tracing_subscriber::filter::{LevelFilter, Targets};

    /// Where spans go, as everyone's configuration names it.
    const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

    /// Sends what is left when it is dropped.
    pub(super) struct Spans(SdkTracerProvider);

    impl Drop for Spans {
        fn drop(&mut self) {
            let _ = self.0.shutdown();
        }
    }

    pub(super) fn start(layers: &mut Vec<BoxLayer>) -> Option<Spans> {
        std::env::var_os(ENDPOINT)?;
        let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().build().ok()?;
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).build();
        // Only our own spans: what libraries say of their connections is nobody's business.
        let own = Targets::new()
            .with_target("isolith_gate", LevelFilter::INFO)
            .with_target("isolith_runner", LevelFilter::INFO);
        layers.push(tracing_opentelemetry::layer().with_tracer(provider.tracer("isolith")).with_filter(own).boxed());
        Some(Spans(provider))
    }

    pub(super) fn adopt() -> Option<Adopt> {
        std::env::var_os(ENDPOINT)?;
        Some(Arc::new(|trace: &Trace, span: &tracing::Span| {
            let mut carrier = HashMap::from([("traceparent".to_owned(), trace.parent.clone())]);
            carrier.extend(trace.state.iter().map(|state| ("tracestate".to_owned(), state.clone())));
            // A span that is filtered out has no parent to set, and needs none.
            let _ = span.set_parent(TraceContextPropagator::new().extract(&carrier));
        }))
    }
}
