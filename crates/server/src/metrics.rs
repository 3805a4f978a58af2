//! Figures for Prometheus.

use crate::run::Stage;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Default)]
pub(crate) struct Metrics {
    started: AtomicU64,
    ended: AtomicU64,
    refused: AtomicU64,
    suspended: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) shed: AtomicU64,
}

impl Metrics {
    pub(crate) fn started(&self) {
        self.started.fetch_add(1, Relaxed);
    }

    pub(crate) fn suspended(&self) {
        self.suspended.fetch_add(1, Relaxed);
    }

    pub(crate) fn ended(&self, stage: &Stage) {
        match stage {
            Stage::Refused(_) => self.refused.fetch_add(1, Relaxed),
            _ => self.ended.fetch_add(1, Relaxed),
        };
    }

    pub(crate) fn render(&self, live: usize, waiting: usize, awake: usize) -> String {
        let mut text = String::new();
        let rows: [(&str, &str, &str, u64); 10] = [
            ("isolith_runs_started_total", "counter", "Runs that were started.", self.started.load(Relaxed)),
            ("isolith_runs_ended_total", "counter", "Runs that have an outcome.", self.ended.load(Relaxed)),
            ("isolith_runs_refused_total", "counter", "Runs that could not be run.", self.refused.load(Relaxed)),
            ("isolith_runs_suspended_total", "counter", "Times a run left memory.", self.suspended.load(Relaxed)),
            ("isolith_requests_total", "counter", "Requests.", self.requests.load(Relaxed)),
            (
                "isolith_requests_shed_total",
                "counter",
                "Requests that came when there was no room.",
                self.shed.load(Relaxed),
            ),
            ("isolith_connections", "gauge", "Connections that are open.", self.connections.load(Relaxed)),
            ("isolith_runs_live", "gauge", "Runs in memory.", live as u64),
            ("isolith_runs_waiting", "gauge", "Runs that wait for a place.", waiting as u64),
            ("isolith_sessions_awake", "gauge", "Sessions that are awake.", awake as u64),
        ];
        for (name, kind, help, value) in rows {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        text
    }
}
