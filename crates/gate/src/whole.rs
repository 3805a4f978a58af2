//! Small bodies that are all there when their response is: they go along with the reply, and need no further calls.

use crate::bodies::BodySource;
use isolith_core::{BoxFuture, CallError};
use std::future::Future;
use std::pin::pin;
use std::task::Poll;

/// The most that goes along with a reply. Of HTTP/1.1 it is what the client read together with the head, some 8 KiB: more comes in
/// further pieces, which it hands over one at a time.
pub(crate) const WHOLE_BYTES_MAX: usize = 16 << 10;

/// A body after a first look.
pub(crate) enum Looked {
    /// All of it.
    Whole(Vec<u8>),
    /// Longer, not all there yet, or broken: to be read as ever, from its first byte on.
    Open(Box<dyn BodySource>),
}

/// Takes a body whole if it has at most `most` bytes and all of them are here. Waits for nothing. `length` is how many there are,
/// where that is known.
pub(crate) async fn look(mut source: Box<dyn BodySource>, most: usize, length: Option<usize>) -> Looked {
    let mut bytes = Vec::new();
    loop {
        // One more than there may be, to see the end or that there is more; and no more room than that takes.
        let wanted = length.unwrap_or(most).clamp(bytes.len(), most) + 1 - bytes.len();
        match at_once(source.read(wanted)).await {
            Some(Ok(next)) if next.is_empty() => return Looked::Whole(bytes),
            Some(Ok(next)) if bytes.is_empty() => bytes = next,
            Some(Ok(next)) => bytes.extend(next),
            // What went wrong is said again to whoever reads on.
            Some(Err(_)) | None => break,
        }
        if bytes.len() > most {
            break;
        }
    }
    Looked::Open(if bytes.is_empty() { source } else { Box::new(Begun { bytes, source }) })
}

/// What a future gives when it is polled once; nothing when it would wait. It is dropped then.
async fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// A body of which a part was read already.
struct Begun {
    bytes: Vec<u8>,
    source: Box<dyn BodySource>,
}

impl BodySource for Begun {
    fn read(&mut self, most: usize) -> BoxFuture<'_, Result<Vec<u8>, CallError>> {
        if self.bytes.is_empty() {
            return self.source.read(most);
        }
        let rest = self.bytes.split_off(self.bytes.len().min(most.max(1)));
        Box::pin(std::future::ready(Ok(std::mem::replace(&mut self.bytes, rest))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Pieces as they come: one that is not there yet is awaited once.
    struct Pieces(VecDeque<Piece>);

    #[derive(Clone)]
    enum Piece {
        Bytes(&'static str),
        Later,
        Broken,
    }

    impl BodySource for Pieces {
        fn read(&mut self, most: usize) -> BoxFuture<'_, Result<Vec<u8>, CallError>> {
            Box::pin(async move {
                match self.0.pop_front() {
                    None => Ok(Vec::new()),
                    Some(Piece::Later) => {
                        tokio::task::yield_now().await;
                        Ok(b"later".to_vec())
                    }
                    Some(Piece::Broken) => {
                        self.0.push_front(Piece::Broken);
                        Err(CallError { name: "TypeError".into(), message: "broken".into(), code: None })
                    }
                    Some(Piece::Bytes(text)) => {
                        let (now, rest) = text.split_at(most.min(text.len()));
                        if !rest.is_empty() {
                            self.0.push_front(Piece::Bytes(rest));
                        }
                        Ok(now.into())
                    }
                }
            })
        }
    }

    /// What was found, and what is read afterwards.
    async fn looked(pieces: &[Piece], most: usize, length: Option<usize>) -> (Option<String>, String) {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let mut source = match look(Box::new(Pieces(pieces.iter().cloned().collect())), most, length).await {
            Looked::Whole(bytes) => return (Some(text(bytes)), String::new()),
            Looked::Open(source) => source,
        };
        let mut rest = String::new();
        loop {
            match source.read(3).await {
                Ok(bytes) if bytes.is_empty() => return (None, rest),
                Ok(bytes) => rest += &text(bytes),
                Err(error) => return (None, rest + "!" + &error.message),
            }
        }
    }

    #[tokio::test]
    async fn a_body_is_whole_or_read_from_its_first_byte() {
        use Piece::{Broken, Bytes, Later};
        let rows: [(&[Piece], Option<&str>, &str); 8] = [
            (&[], Some(""), ""),
            (&[Bytes("abc"), Bytes("de")], Some("abcde"), ""),
            (&[Bytes("abcdefgh")], Some("abcdefgh"), ""),
            (&[Bytes("abcdefghi")], None, "abcdefghi"),
            (&[Bytes("abcd"), Bytes("efghi"), Bytes("j")], None, "abcdefghij"),
            (&[Bytes("ab"), Broken], None, "ab!broken"),
            (&[Broken], None, "!broken"),
            // What is dropped while it waits starts over: the piece that was on its way is this source's to keep.
            (&[Bytes("ab"), Later], None, "ab"),
        ];
        for (pieces, whole, rest) in rows {
            // What is said about the length is a hint and nothing else.
            for length in [None, Some(0), Some(5), Some(100)] {
                assert_eq!(looked(pieces, 8, length).await, (whole.map(str::to_owned), rest.to_owned()));
            }
        }
    }
}
