//! Runs WGSL in a browser: Chromium compiles it by tint and runs it on SwiftShader, a GPU in
//! software.
//!
//! A page is served on the loopback interface, does its work and posts what it found: a dump of the
//! page would come before the results do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use chipdock_interpret::{Arg, Array};
use chipdock_test_backends::device_code::Shader;
use chipdock_test_backends::launches::Launch;
use serde_json::{Value, json};

/// Names under which it is installed.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];
/// For all work of a page.
const DEADLINE: Duration = Duration::from_secs(400);
/// Longest silence of a connection, which a browser may have opened ahead, before the next one is
/// heard.
const IDLE: Duration = Duration::from_secs(2);
/// Between two looks at the socket and the browser.
const PAUSE: Duration = Duration::from_millis(5);

/// An installed browser.
#[derive(Clone, Copy, Debug)]
pub struct Browser {
    name: &'static str,
}

/// A browser at work, which ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The work of a page, to be given to [`Browser::run`].
#[derive(Debug, Default)]
pub struct Work {
    programs: Vec<Value>,
}

/// The results for one text.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The messages of the compiler: errors and warnings.
    pub messages: Vec<String>,
    /// For each launch the bytes of its tensors, or an error.
    pub launches: Vec<Result<Vec<Vec<u8>>, String>>,
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(text: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).filter_map(pair).collect()
}

/// The bytes of an argument, in memory a multiple of 4.
fn padded(array: &Array) -> String {
    let mut bytes = array.data.clone();
    bytes.resize(bytes.len().next_multiple_of(4).max(4), 0);
    hexadecimal(&bytes)
}

/// The 4 bytes of a scalar of a WGSL type.
fn scalar(arg: &Arg, type_name: &str) -> Result<[u8; 4], String> {
    match (arg, type_name) {
        (Arg::Int(value), _) => Ok((*value as i32).to_le_bytes()),
        (Arg::Float(value), "f32") => Ok((*value as f32).to_le_bytes()),
        _ => Err(format!("no scalar of type {type_name}: {arg:?}")),
    }
}

/// A launch as the page reads it, by the bindings of the artifact's index.
fn launch_json(shader: &Shader, launch: &Launch) -> Result<Value, String> {
    let kernels = shader.index["functions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kernel = kernels
        .iter()
        .find(|kernel| kernel["name"] == *launch.name)
        .ok_or_else(|| format!("no {} in the index", launch.name))?;
    let options = &kernel["options"];
    let bindings = options["bindings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut buffers = Vec::new();
    let mut uniform = vec![0_u8; options["uniform"]["size_bytes"].as_u64().unwrap_or(0) as usize];
    for (binding, arg) in bindings.iter().zip(&launch.args) {
        if let (Some(number), Arg::Tensor(array)) = (binding["binding"].as_u64(), arg) {
            buffers.push(json!({ "binding": number, "access": binding["access"], "data": padded(array) }));
        } else {
            let offset = binding["offset_bytes"].as_u64().ok_or("a scalar without an offset")? as usize;
            let type_name = binding["type"].as_str().ok_or("a scalar without a type")?;
            uniform
                .get_mut(offset..offset + 4)
                .ok_or("an offset beyond the struct")?
                .copy_from_slice(&scalar(arg, type_name)?);
        }
    }
    let mut launch_json = json!({
        "entry": kernel["symbol"], "buffers": buffers, "grid": launch.grid.map(|extent| extent as u64),
    });
    if let Some(number) = options["uniform"]["binding"].as_u64() {
        launch_json["uniform"] = json!({ "binding": number, "data": hexadecimal(&uniform) });
    }
    if let Some(constant) = options["dynamic_shared"]["override"].as_str() {
        let words = (launch.dynamic_shared_bytes as u64).div_ceil(4).max(1);
        launch_json["constants"] = json!({ constant: words });
    }
    Ok(launch_json)
}

impl Work {
    /// Adds a text and launches of its kernels; without launches it is only compiled.
    ///
    /// # Errors
    ///
    /// A launch that does not match the index.
    pub fn add(&mut self, shader: &Shader, launches: &[Launch]) -> Result<(), String> {
        let launches: Result<Vec<Value>, String> =
            launches.iter().map(|launch| launch_json(shader, launch)).collect();
        self.programs.push(json!({ "source": shader.source, "launches": launches? }));
        Ok(())
    }

    /// Adds a text that no artifact contains, to be compiled.
    pub fn add_text(&mut self, source: &str) {
        self.programs.push(json!({ "source": source, "launches": [] }));
    }
}

impl Browser {
    /// Finds an installed browser.
    #[must_use]
    pub fn found() -> Option<Self> {
        let found = BROWSERS.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
        found.map(|name| Self { name })
    }

    /// Compiles the texts and runs their launches; the results are in the order of the work.
    ///
    /// # Errors
    ///
    /// The browser cannot be started, has no WebGPU, or does not finish in time.
    pub fn run(self, work: Work) -> Result<Vec<Ran>, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        listener.set_nonblocking(true).map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let child = Command::new(self.name)
            .args(["--headless", "--no-sandbox", "--no-first-run", "--disable-dev-shm-usage"])
            .args(["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg(format!("http://127.0.0.1:{port}/"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.name))?;
        let mut running = Running(child);
        let count = work.programs.len();
        let work = Value::from(work.programs).to_string();
        let end = Instant::now() + DEADLINE;
        loop {
            match listener.accept() {
                // A browser opens connections ahead, and closes those that it does not use.
                Ok((stream, _)) => {
                    if let Ok(Some(found)) = answered(&stream, &work) {
                        return results(&found, count);
                    }
                }
                Err(_) if Instant::now() > end => {
                    return Err(format!("{}: no result within {} s", self.name, DEADLINE.as_secs()));
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
            if let Ok(Some(status)) = running.0.try_wait() {
                return Err(format!("{}: ended before the page did: {status}", self.name));
            }
        }
    }
}

/// Answers one request; returns the body of the one that posts the results.
fn answered(stream: &TcpStream, work: &str) -> std::io::Result<Option<String>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(IDLE))?;
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    reader.read_line(&mut head)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = String::new();
    reader.take(length).read_to_string(&mut body)?;
    let (status, kind, text) = match head.split(' ').nth(1) {
        Some("/") => ("200 OK", "text/html", include_str!("page.html")),
        Some("/work") => ("200 OK", "application/json", work),
        Some("/found") => ("200 OK", "text/plain", ""),
        _ => ("404 Not Found", "text/plain", ""),
    };
    let mut stream = stream;
    let written = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    // The results are there whether or not the browser waits for the answer.
    if head.starts_with("POST /found") { Ok(Some(body)) } else { written.map(|()| None) }
}

fn results(found: &str, count: usize) -> Result<Vec<Ran>, String> {
    let found: Value = serde_json::from_str(found).map_err(|error| format!("{error} in {found:.200}"))?;
    if let Some(error) = found["error"].as_str() {
        return Err(error.to_owned());
    }
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    let launch = |launch: &Value| match launch["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => Ok(texts(&launch["tensors"]).iter().map(|text| bytes_of(text)).collect()),
    };
    let all: Vec<Ran> = found["programs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|program| Ran {
            messages: texts(&program["messages"]),
            launches: program["launches"].as_array().into_iter().flatten().map(launch).collect(),
        })
        .collect();
    if all.len() == count { Ok(all) } else { Err(format!("expected {count} results, found {}", all.len())) }
}

/// The tensors of a launch with the bytes that a page returned.
#[must_use]
pub fn tensors(launch: &Launch, bytes: Vec<Vec<u8>>) -> Vec<Array> {
    let arrays = launch.args.iter().filter_map(|arg| match arg {
        Arg::Tensor(array) => Some(array),
        _ => None,
    });
    let filled = |(array, mut data): (&Array, Vec<u8>)| {
        data.truncate(array.data.len());
        Array { data, ..array.clone() }
    };
    arrays.zip(bytes).map(filled).collect()
}
