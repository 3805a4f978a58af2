//! The same connection over a pair of pipes, one message a line: for a client that starts the server as its own child.

use crate::app::App;
use crate::connection::Connection;
use crate::outbox::outbox;
use std::sync::Arc;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

const BUFFER_BYTES: usize = 64 << 10;

/// Serves until the client is gone; then its runs are stopped.
pub(crate) async fn serve(
    app: Arc<App>,
    reader: impl AsyncRead + Unpin + Send + 'static,
    mut writer: impl AsyncWrite + Unpin + Send + 'static,
) -> std::io::Result<()> {
    let most = app.runs.settings.body_bytes;
    let (sender, mut outgoing) = outbox(app.runs.settings.outbox_bytes);
    let overflow = sender.overflow.clone();
    let connection = Connection::new(Arc::clone(&app), app.local(), sender);
    let write = tokio::spawn(async move {
        let mut batch = Vec::with_capacity(BUFFER_BYTES);
        while let Some(message) = outgoing.next().await {
            batch.clear();
            let mut next = Some(message);
            while let Some(message) = next {
                batch.extend_from_slice(&message);
                batch.push(b'\n');
                next = if batch.len() < BUFFER_BYTES { outgoing.more() } else { None };
            }
            writer.write_all(&batch).await?;
            writer.flush().await?;
        }
        Ok::<(), std::io::Error>(())
    });
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
    let mut line = Vec::new();
    let read = async {
        loop {
            match read_line(&mut reader, &mut line, most).await? {
                Line::Whole => connection.take(&line),
                Line::End => return Ok(()),
                Line::TooLong => connection.too_large(most),
            }
        }
    };
    let done = tokio::select! {
        done = read => done,
        () = overflow.cancelled() => Err(std::io::Error::other("the client does not read")),
        () = app.runs.leave.cancelled() => Ok(()),
    };
    connection.cancel_all();
    drop(connection);
    write.abort();
    done
}

enum Line {
    Whole,
    End,
    TooLong,
}

/// One line without its end, however it arrives, within a bound.
async fn read_line(reader: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>, most: usize) -> std::io::Result<Line> {
    line.clear();
    let mut over = false;
    loop {
        let bytes = reader.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(Line::End);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(bytes.len());
        // What is too long is read to its end all the same, to find where the next begins.
        over |= line.len() + taken > most;
        if !over {
            line.extend_from_slice(&bytes[..taken]);
        }
        reader.consume(taken + usize::from(end.is_some()));
        match end {
            Some(_) if over => return Ok(Line::TooLong),
            Some(_) if !line.is_empty() => return Ok(Line::Whole),
            _ => {}
        }
    }
}
