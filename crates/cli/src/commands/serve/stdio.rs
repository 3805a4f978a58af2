//! Serving the process that started us, over stdin and stdout.

use crate::Done;
use crate::exit::Exit;
use crate::failure::Failure;
use isolith_server::Server;
use rustix::fs::FileType;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

type Reader = Pin<Box<dyn AsyncRead + Send>>;
type Writer = Pin<Box<dyn AsyncWrite + Send>>;

pub(crate) async fn serve(server: &Server) -> Done {
    let pipes = reader().and_then(|reader| Ok((reader, writer()?)));
    let hint = "`--stdio` is for programs that start this one; `isolith serve` listens";
    let (reader, writer) = pipes.map_err(|error| Failure::usage(error, hint))?;
    let served = server.serve_pipes(reader, writer).await;
    served.map_err(|error| Failure::internal("serving on stdin and stdout", &error))?;
    Ok(Exit::Ok)
}

// What can be polled is polled: a thread that waits in `read` for each message would double what one takes.
fn reader() -> std::io::Result<Reader> {
    let fd = own(std::io::stdin())?;
    Ok(match kind(&fd)? {
        FileType::Socket => Box::pin(UnixStream::from_std(socket(fd)?)?),
        FileType::Fifo => Box::pin(pipe::Receiver::from_owned_fd(fd)?),
        _ => return Err(std::io::Error::other("stdin is no pipe")),
    })
}

fn writer() -> std::io::Result<Writer> {
    let fd = own(std::io::stdout())?;
    Ok(match kind(&fd)? {
        FileType::Socket => Box::pin(UnixStream::from_std(socket(fd)?)?),
        FileType::Fifo => Box::pin(pipe::Sender::from_owned_fd(fd)?),
        _ => return Err(std::io::Error::other("stdout is no pipe")),
    })
}

fn own(stream: impl AsFd) -> std::io::Result<OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}

fn kind(fd: &OwnedFd) -> std::io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

fn socket(fd: OwnedFd) -> std::io::Result<std::os::unix::net::UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(fd);
    stream.set_nonblocking(true)?;
    Ok(stream)
}
