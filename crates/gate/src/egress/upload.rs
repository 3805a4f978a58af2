use super::error;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use isolith_core::CallError;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc;

/// How many pieces wait between the guest and the network.
const PIECES_MAX: usize = 4;
/// How large a piece is.
const PIECE_BYTES_MAX: usize = 64 << 10;
/// How much one request may send in pieces.
const UPLOAD_BYTES_MAX: u64 = 256 << 20;

/// Makes the two ends of a body that is sent piece by piece.
pub fn upload() -> (UploadSender, Upload) {
    let (sender, receiver) = mpsc::channel(PIECES_MAX);
    let taken = Arc::new(AtomicU64::new(0));
    (UploadSender { sender, given: AtomicU64::new(0) }, Upload { receiver, taken, over: false })
}

/// The end that the guest writes to. Dropped before the last piece, it breaks the request off.
#[derive(Debug)]
pub struct UploadSender {
    sender: mpsc::Sender<Piece>,
    given: AtomicU64,
}

/// The end that the network reads from.
#[derive(Debug)]
pub struct Upload {
    receiver: mpsc::Receiver<Piece>,
    taken: Arc<AtomicU64>,
    over: bool,
}

#[derive(Debug)]
struct Piece {
    bytes: Bytes,
    last: bool,
}

impl UploadSender {
    /// Sends on; returns when there is room for more. Fails when the request is over, or when it was too much.
    pub async fn send(&self, bytes: Vec<u8>, last: bool) -> Result<(), CallError> {
        let given = self.given.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        if given > UPLOAD_BYTES_MAX {
            let message = format!("the body of a request may have {UPLOAD_BYTES_MAX} bytes");
            return Err(error::network("egress.limit", message));
        }
        let mut rest = Bytes::from(bytes);
        loop {
            let bytes = rest.split_to(rest.len().min(PIECE_BYTES_MAX));
            let ended = rest.is_empty();
            let piece = Piece { bytes, last: last && ended };
            let gone = |_| error::network("egress.reset", "the request is over: nobody takes the rest of its body");
            self.sender.send(piece).await.map_err(gone)?;
            if ended {
                return Ok(());
            }
        }
    }
}

impl Upload {
    /// Counts what was sent, for as long as it is sent.
    pub(super) fn taken(&self) -> Arc<AtomicU64> {
        self.taken.clone()
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Truncated>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let piece = ready!(self.receiver.poll_recv(cx));
        self.over = piece.as_ref().is_none_or(|piece| piece.last);
        match piece {
            // THREAT[T-EGRESS-014]: the guest ends in the middle; a server must not take what it got for the whole.
            None => Poll::Ready(Some(Err(Truncated))),
            Some(piece) if piece.bytes.is_empty() && piece.last => Poll::Ready(None),
            Some(piece) => {
                self.taken.fetch_add(piece.bytes.len() as u64, Ordering::Relaxed);
                Poll::Ready(Some(Ok(Frame::data(piece.bytes))))
            }
        }
    }
}

/// The guest, or its run, went away in the middle.
#[derive(Debug, thiserror::Error)]
#[error("the body ended before its end")]
pub(super) struct Truncated;

/// What goes out as the body of a request.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// All of it at once.
    Whole(Bytes),
    /// As the guest writes it.
    Pieces(Upload),
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Truncated;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Truncated>>> {
        match self.get_mut() {
            Outgoing::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Outgoing::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Outgoing::Pieces(upload) => upload.poll_piece(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Outgoing::Whole(bytes) => bytes.is_empty(),
            Outgoing::Pieces(upload) => upload.over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Outgoing::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Outgoing::Pieces(_) => SizeHint::default(),
        }
    }
}
