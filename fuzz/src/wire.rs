//! Bytes become messages between two isoliths; what is understood is written so that it reads the same.

use isolith_core::wire::{Event, Request, event, request};
use isolith_core::{OutputSink, Stream, Timestamp};
use std::sync::Arc;

struct Nowhere;

impl OutputSink for Nowhere {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

/// The target.
pub fn check(data: &[u8]) {
    if let Some(once) = asked(data) {
        assert_eq!(asked(&once).as_ref(), Some(&once), "a request changes when it is passed on");
    }
    if let Some(once) = said(data) {
        assert_eq!(said(&once).as_ref(), Some(&once), "an event changes when it is passed on");
    }
}

/// A request, read and written again.
fn asked(message: &[u8]) -> Option<Vec<u8>> {
    Some(match Request::read(message).ok()? {
        Request::Start { isolate, program, opening } => {
            request::start(isolate, &program, &opening.with(Arc::new(Nowhere)))
        }
        Request::Advance { isolate, turn } => request::advance(isolate, &turn),
        Request::Suspend { isolate } => request::suspend(isolate),
        Request::Resume { isolate, state } => request::resume(isolate, &state),
        Request::Drop { isolate } => request::drop(isolate),
    })
}

/// An event, read and written again.
fn said(message: &[u8]) -> Option<Vec<u8>> {
    let (isolate, read) = Event::read(message, "remote").ok()?;
    Some(match read {
        Event::Hello { image, .. } => event::hello(image),
        Event::Started { usage } => event::started(isolate, usage),
        Event::Output { stream, text, at } => event::output(isolate, stream, &text, at),
        Event::Call(call) => event::call(isolate, &call),
        Event::Waiting { usage } => event::waiting(isolate, usage),
        Event::Done { end, usage } => event::done(isolate, &end, usage),
        Event::Suspended(state) => event::suspended(isolate, &state),
        Event::Failed(error) => event::failed(isolate, &error),
    })
}
