//! The log of a server: lines on standard error, and spans to an OpenTelemetry collector when one is named.

use anyhow::Context as _;
use placet_core::messages::{cannot, refused};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::args::{LogFormat, ServeArgs};
use crate::locale;

type Boxed = Box<dyn Layer<Registry> + Send + Sync>;

/// A log that is being written.
pub(super) struct Log {
    spans: spans::Spans,
}

impl Log {
    pub(super) fn start(args: &ServeArgs) -> anyhow::Result<Self> {
        let filter =
            || EnvFilter::try_new(&args.log).with_context(|| locale::say(&refused::log_filter(&args.log)));
        let (spans, exported) = spans::to(args.otlp.as_deref())?;
        let lines = lines(args.log_format).with_filter(filter()?).boxed();
        let mut layers = vec![lines];
        if let Some(exported) = exported {
            layers.push(exported.with_filter(filter()?).boxed());
        }
        let started = tracing_subscriber::registry().with(layers).try_init();
        started.map_err(|error| locale::error(&cannot::write_log(error)))?;
        Ok(Self { spans })
    }

    /// Sends what was not sent yet.
    pub(super) fn end(self) {
        self.spans.end();
    }
}

/// Lines go to standard error, so that standard output stays for what was asked for.
fn lines(format: LogFormat) -> Boxed {
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    match format {
        LogFormat::Text => layer
            .with_ansi(anstream::stderr().current_choice() != anstream::ColorChoice::Never)
            .boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    }
}

#[cfg(feature = "otel")]
mod spans {
    use anyhow::Context as _;
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing_subscriber::Layer as _;

    use placet_core::messages::refused;

    use super::Boxed;
    use crate::locale;

    /// Spans on their way.
    pub(super) struct Spans(Option<SdkTracerProvider>);

    impl Spans {
        pub(super) fn end(self) {
            let Some(provider) = self.0 else { return };
            if let Err(error) = provider.shutdown() {
                tracing::warn!(%error, "the last spans did not reach the collector");
            }
        }
    }

    pub(super) fn to(collector: Option<&str>) -> anyhow::Result<(Spans, Option<Boxed>)> {
        let Some(collector) = collector else {
            return Ok((Spans(None), None));
        };
        // The exporter's client takes whichever there is; that there is one already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", collector.trim_end_matches('/')))
            .build()
            .with_context(|| locale::say(&refused::no_collector(collector)))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(Resource::builder().with_service_name("placet").build())
            .build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("placet"));
        Ok((Spans(Some(provider)), Some(layer.boxed())))
    }
}

#[cfg(not(feature = "otel"))]
mod spans {
    use placet_core::messages::refused;

    use super::Boxed;
    use crate::locale;

    /// There are none in this program.
    pub(super) struct Spans;

    impl Spans {
        #[expect(clippy::unused_self, reason = "the other one is used up by it")]
        pub(super) fn end(self) {}
    }

    pub(super) fn to(collector: Option<&str>) -> anyhow::Result<(Spans, Option<Boxed>)> {
        match collector {
            None => Ok((Spans, None)),
            Some(_) => anyhow::bail!(locale::error(&refused::no_spans())),
        }
    }
}
