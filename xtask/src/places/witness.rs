//! Stands between the program and a server, hands everything on, and knows what was asked for.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What stands before a server.
pub(super) struct Witness {
    pub(super) endpoint: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Witness {
    /// Stands before the server at this endpoint.
    pub(super) fn before(endpoint: &str) -> Result<Self, String> {
        let server = endpoint.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, log) = (server.clone(), Arc::clone(&log));
                std::thread::spawn(move || hand_on(&client, &server, &log));
            }
        });
        Ok(Self { endpoint: format!("http://{address}"), asked })
    }

    /// The calls since the last time, as method and path.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().map(|mut asked| std::mem::take(&mut *asked)).unwrap_or_default()
    }
}

/// Hands on the calls of one connection, none of which has a body, and what is answered.
fn hand_on(client: &TcpStream, server: &str, log: &Mutex<Vec<String>>) -> Option<()> {
    let mut server = TcpStream::connect(server).ok()?;
    let (mut answers, mut back) = (server.try_clone().ok()?, client.try_clone().ok()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut answers, &mut back);
        let _ = back.shutdown(std::net::Shutdown::Both);
    });
    let mut calls = BufReader::new(client);
    let mut line = Vec::new();
    while calls.read_until(b'\n', &mut line).ok()? > 0 {
        let text = String::from_utf8_lossy(&line);
        if let Some(call) = text.trim_end().strip_suffix(" HTTP/1.1") {
            log.lock().ok()?.push(plain(call.split('?').next().unwrap_or(call)));
        }
        server.write_all(&line).ok()?;
        line.clear();
    }
    server.shutdown(std::net::Shutdown::Write).ok()
}

/// A call without the codes for signs: Google's client writes one for every sign that is no letter or digit.
fn plain(call: &str) -> String {
    let mut parts = call.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let sign = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()).filter(u8::is_ascii);
        match (sign, part.get(2..)) {
            (Some(sign), Some(rest)) => plain.extend([char::from(sign).to_string().as_str(), rest]),
            _ => plain.extend(["%", part]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_signs_are_read() {
        assert_eq!(plain("GET /a%2Db/c%2Ejsonl"), "GET /a-b/c.jsonl");
        assert_eq!(plain("GET /a%zz%4"), "GET /a%zz%4");
    }
}
