//! An HTTP client that does little, so that the processors are left to the server: one connection,
//! one request at a time, answers of a stated length.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Which server is asked, and with which token.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) host: Arc<str>,
    pub(super) token: Arc<str>,
}

/// A connection to a server.
pub(super) struct Client {
    target: Target,
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(super) async fn connect(target: &Target) -> io::Result<Self> {
        let stream = TcpStream::connect(&*target.host).await?;
        stream.set_nodelay(true)?;
        Ok(Self { target: target.clone(), stream, buffer: Vec::new() })
    }

    /// Sends a request. A request without a body is a GET; a body that is no JSON is a form.
    pub(super) async fn send(&mut self, path: &str, body: Option<&str>) -> io::Result<()> {
        let Target { host, token } = &self.target;
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.unwrap_or_default();
        let length = body.len();
        let kind = match body.starts_with('{') {
            true => "application/json",
            false => "application/x-www-form-urlencoded",
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).await
    }

    /// Sends a request and reads the answer. Fails if the server refuses.
    pub(super) async fn ask(&mut self, path: &str, body: Option<&str>) -> io::Result<()> {
        self.send(path, body).await?;
        let end = loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(self.buffer.get(..end).unwrap_or_default()).into_owned();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
        });
        let length = length.ok_or_else(|| io::Error::other("an answer without a length"))?;
        while self.buffer.len() < end + length {
            self.more().await?;
        }
        let answer = String::from_utf8_lossy(&self.buffer).into_owned();
        self.buffer.drain(..end + length);
        let is_good = ["HTTP/1.1 2", "HTTP/1.1 3"].iter().any(|good| head.starts_with(good));
        if is_good { Ok(()) } else { Err(io::Error::other(answer)) }
    }

    /// Reads a piece of an answer that does not end, and returns the bytes that are there.
    pub(super) async fn piece(&mut self) -> io::Result<&[u8]> {
        self.buffer.clear();
        self.more().await?;
        Ok(&self.buffer)
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}
