//! Requests under way: how the guest goes on sending a body, and how it gives one up.

use crate::egress::{Upload, UploadSender, upload};
use crate::ledger::lock;
use isolith_core::{HostReply, RequestId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// A run may have this many requests that it neither finished nor began.
const PENDING_MAX: usize = 256;

#[derive(Default)]
pub(crate) struct Requests {
    all: Mutex<BTreeMap<RequestId, Request>>,
}

/// A guest's first piece of a body may come before the request itself, which waits for its turn; so either makes this.
#[derive(Default)]
struct Request {
    cancel: CancellationToken,
    /// Where a body comes in pieces.
    pieces: Option<(Arc<UploadSender>, Option<Upload>)>,
}

impl Request {
    fn pieces(&mut self) -> &mut (Arc<UploadSender>, Option<Upload>) {
        self.pieces.get_or_insert_with(|| {
            let (sender, receiver) = upload();
            (Arc::new(sender), Some(receiver))
        })
    }
}

impl Requests {
    pub(crate) fn any(&self) -> bool {
        !lock(&self.all).is_empty()
    }

    /// Begins a request: how it is given up, and where its body comes from if that is streamed.
    pub(crate) fn begin(&self, id: RequestId, streamed: bool) -> (CancellationToken, Option<Upload>) {
        let mut all = lock(&self.all);
        let request = all.entry(id).or_default();
        let upload = if streamed { request.pieces().1.take() } else { None };
        (request.cancel.clone(), upload)
    }

    pub(crate) fn end(&self, id: RequestId) {
        lock(&self.all).remove(&id);
    }

    pub(crate) async fn write(&self, id: RequestId, bytes: Vec<u8>, last: bool) -> HostReply {
        let over = || HostReply::failed_as("egress.over", "TypeError", "the request is over: nobody reads its body");
        let sender = {
            let mut all = lock(&self.all);
            if !all.contains_key(&id) && all.len() >= PENDING_MAX {
                return over();
            }
            Arc::clone(&all.entry(id).or_default().pieces().0)
        };
        match sender.send(bytes, last).await {
            Ok(()) => HostReply::done(),
            Err(_) => over(),
        }
    }

    pub(crate) fn cancel(&self, id: RequestId) {
        let mut all = lock(&self.all);
        // One that is over is not there any more; one that has not begun will find itself given up.
        if all.len() < PENDING_MAX || all.contains_key(&id) {
            all.entry(id).or_default().cancel.cancel();
        }
    }
}
