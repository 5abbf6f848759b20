//! A connection is not kept for a client that does not read: writing that gets nowhere for a while fails.
//!
//! Every byte that is taken begins the time anew, so a slow reader is served, and a stream with nothing to say waits forever.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A connection that fails once its reader has taken nothing for too long.
pub(crate) struct WriteTimeout<Io> {
    io: Io,
    patience: Duration,
    /// Only there while a client is waited for: most connections never need it.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<Io> WriteTimeout<Io> {
    pub(crate) fn new(io: Io, patience: Duration) -> Self {
        Self {
            io,
            patience,
            stalled: None,
        }
    }

    fn written(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        let given_up = || io::Error::new(ErrorKind::TimedOut, "the reader takes nothing");
        stalled.as_mut().poll(context).map(|()| Err(given_up()))
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for WriteTimeout<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, slices);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_reader_who_takes_nothing_is_given_up() {
        let (here, _there) = tokio::io::duplex(8);
        let mut here = WriteTimeout::new(here, PATIENCE);
        let began = tokio::time::Instant::now();
        let failed = here.write_all(&[0; 9]).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), PATIENCE.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_served_however_long_it_takes() {
        let (here, mut there) = tokio::io::duplex(8);
        let mut here = WriteTimeout::new(here, PATIENCE);
        let reading = async {
            let mut taken = [0; 8];
            for _ in 0..10 {
                tokio::time::sleep(PATIENCE / 2).await;
                there.read_exact(&mut taken).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(here.write_all(&[0; 80]), reading);
        written.unwrap();
    }
}
