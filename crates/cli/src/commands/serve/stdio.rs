//! Serving the process that started us, over stdin and stdout.

use crate::Done;
use crate::exit::Exit;
use crate::failure::Failure;
use isolith_server::Server;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

type BoxedReader = Pin<Box<dyn AsyncRead + Send>>;
type BoxedWriter = Pin<Box<dyn AsyncWrite + Send>>;

pub(crate) async fn serve(server: &Server) -> Done {
    let (reader, writer) = pipes("`--stdio` is for programs that start this one; `isolith serve` listens")?;
    let served = server.serve_pipes(reader, writer).await;
    served.map_err(|error| Failure::internal("serving on stdin and stdout", &error))?;
    Ok(Exit::Ok)
}

/// Stdin and stdout, where a program is behind them; the hint is for people.
pub(crate) fn pipes(hint: &str) -> Result<(BoxedReader, BoxedWriter), Failure> {
    reader().and_then(|reader| Ok((reader, writer()?))).map_err(|error| Failure::usage(error, hint))
}

// What can be polled is polled: a thread that waits in `read` for each message would double what one takes.
fn reader() -> io::Result<BoxedReader> {
    let fd = own(io::stdin())?;
    Ok(match kind(&fd)? {
        FileType::Socket => Box::pin(Reader::new(UnixStream::from_std(socket(fd)?)?)),
        FileType::Fifo => Box::pin(pipe::Receiver::from_owned_fd(fd)?),
        _ => return Err(io::Error::other("stdin is no pipe")),
    })
}

fn writer() -> io::Result<BoxedWriter> {
    let fd = own(io::stdout())?;
    Ok(match kind(&fd)? {
        FileType::Socket => Box::pin(Writer { socket: socket(fd)?, full: None }),
        FileType::Fifo => Box::pin(pipe::Sender::from_owned_fd(fd)?),
        _ => return Err(io::Error::other("stdout is no pipe")),
    })
}

/// A socket whose next message is looked for before it is slept for: an answer to a call mostly comes within microseconds, and to put a
/// processor to sleep and wake it again takes longer than that.
struct Reader {
    socket: UnixStream,
    /// Until when it is looked for.
    eager: Instant,
    /// Not at all where the client needs the only processor to answer.
    eagerness: Duration,
}

const EAGERNESS: Duration = Duration::from_micros(50);

impl Reader {
    fn new(socket: UnixStream) -> Reader {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let eagerness = if processors > 1 { EAGERNESS } else { Duration::ZERO };
        Reader { socket, eager: Instant::now(), eagerness }
    }
}

impl AsyncRead for Reader {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let now = Instant::now();
        let found = rustix::io::retry_on_intr(|| rustix::io::read(&self.socket, buf.initialize_unfilled()));
        let read = match found {
            Ok(read) => {
                buf.advance(read);
                Poll::Ready(Ok(()))
            }
            Err(Errno::AGAIN) if now < self.eager => {
                // The client may be waiting for this very processor.
                std::thread::yield_now();
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Err(Errno::AGAIN) => Pin::new(&mut self.socket).poll_read(cx, buf),
            Err(error) => Poll::Ready(Err(error.into())),
        };
        if read.is_ready() {
            self.eager = now + self.eagerness;
        }
        read
    }
}

/// A socket that almost always has room. It is watched only while it has none: to be told of room after every message would wake us
/// as often as the messages do.
struct Writer {
    socket: std::os::unix::net::UnixStream,
    full: Option<UnixStream>,
}

impl AsyncWrite for Writer {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(full) = &mut self.full {
            let written = ready!(Pin::new(full).poll_write(cx, bytes));
            self.full = None;
            return Poll::Ready(written);
        }
        match (&self.socket).write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.full = Some(UnixStream::from_std(self.socket.try_clone()?)?);
                self.poll_write(cx, bytes)
            }
            written => Poll::Ready(written),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn own(stream: impl AsFd) -> io::Result<OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}

fn kind(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

fn socket(fd: OwnedFd) -> io::Result<std::os::unix::net::UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(fd);
    stream.set_nonblocking(true)?;
    Ok(stream)
}
