//! A client that does as little as possible, so that what is measured is the server.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection that is kept, and what it has read.
pub(super) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    address: SocketAddr,
}

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::new(),
            address,
        })
    }

    pub(super) async fn send(
        &mut self,
        token: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<()> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        Ok(self.stream.write_all(request.as_bytes()).await?)
    }

    /// The body of the next answer, which must be a success.
    pub(super) async fn answer(&mut self) -> anyhow::Result<Vec<u8>> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head = String::from_utf8_lossy(self.buffer.get(..end).unwrap_or_default()).into_owned();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.context("an answer has no length")?.parse()?;
                let body = end + 4;
                if self.buffer.len() >= body + length {
                    ensure!(head.starts_with("HTTP/1.1 2"), "{head}");
                    let answer = self.buffer.get(body..body + length).unwrap_or_default().to_vec();
                    self.buffer.drain(..body + length);
                    return Ok(answer);
                }
            }
            self.read().await?;
        }
    }

    /// Reads until what was read holds `words`; what came before them and they themselves are forgotten.
    pub(super) async fn until(&mut self, words: &[u8]) -> anyhow::Result<()> {
        loop {
            if let Some(at) = find(&self.buffer, words) {
                self.buffer.drain(..at + words.len());
                return Ok(());
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        ensure!(
            self.stream.read_buf(&mut self.buffer).await? > 0,
            "the server hung up"
        );
        Ok(())
    }
}

pub(super) fn find(text: &[u8], words: &[u8]) -> Option<usize> {
    text.windows(words.len()).position(|window| window == words)
}
