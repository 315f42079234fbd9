//! Programs of a device: built from their source, or read back in the driver's binary form.

use std::ffi::CString;

use chipdock_plugin_api::{Error, ErrorKind, ensure};

use crate::cache::{self, Cache, Key};
use crate::codegen::EXACT_DIVISION;
use crate::driver::{Program, error_name};
use crate::error::{OrFailed, failed};
use crate::hardware::Device;

/// Maximum number of bytes of a compiler's log in a message.
const LOG_BYTES_MAX: usize = 16 << 10;

/// A source and its build settings.
pub(crate) struct Source {
    pub(crate) text: String,
    /// Build options of the artifact.
    pub(crate) options: Vec<String>,
    /// Extensions that the device must support.
    pub(crate) extensions: Vec<String>,
}

impl Source {
    /// The reason why the device cannot run it, as far as that is known without its compiler.
    pub(crate) fn unsupported(&self, device: &Device) -> Option<String> {
        let limits = device.limits();
        let why = self.missing(&limits.extensions, limits.has_correct_division)?;
        Some(format!("{} {why}", device.name()))
    }

    /// The first requirement that a device with these extensions lacks.
    pub(crate) fn missing(&self, extensions: &str, has_exact_division: bool) -> Option<String> {
        let has = |name: &String| extensions.split_whitespace().any(|one| one == name);
        if let Some(missing) = self.extensions.iter().find(|name| !has(name)) {
            return Some(format!("has no extension {missing}, which the module needs"));
        }
        let asks = self.options.iter().any(|option| option == EXACT_DIVISION);
        (asks && !has_exact_division).then(|| {
            "does not divide float32 exactly, which the module relies on; build it for the device (\"from_device\"), or \
             with \"supports_correctly_rounded_divide_sqrt\": false"
                .to_owned()
        })
    }

    /// The options of the compiler for a device.
    fn options_for(&self, device: &Device) -> Result<CString, Error> {
        let limits = device.limits();
        let mut options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        let standard = format!("-cl-std={}", limits.language);
        if !options.iter().any(|option| option.starts_with("-cl-std")) {
            options.push(&standard);
        }
        CString::new(options.join(" "))
            .map_err(|_| Error::new(ErrorKind::VALUE_ERROR, "expected build options without a NUL"))
    }

    /// Builds the program for a device, or reads it back.
    ///
    /// # Errors
    ///
    /// * `Unsupported`: the device lacks a requirement.
    /// * `ValueError`: the driver's compiler rejects it; the message has its log.
    pub(crate) fn build(&self, device: &Device, cache: Option<&Cache>) -> Result<Program, Error> {
        let unsupported = self.unsupported(device);
        ensure!(unsupported.is_none(), ErrorKind::UNSUPPORTED, "{}", unsupported.unwrap_or_default());
        let options = self.options_for(device)?;
        let key = self.key(device, &options);
        if let Some(program) = cache.and_then(|cache| read_back(device, &options, &cache.read(&key)?)) {
            return Ok(program);
        }
        let context = &device.open()?.context;
        let program =
            context.program_of_source(&self.text).or_failed(|| format!("{}: a program", device.name()))?;
        if let Err(code) = program.build(device.raw(), &options) {
            return Err(refused(device, &program, code));
        }
        if let (Some(cache), Ok(binary)) = (cache, program.binary())
            && !binary.is_empty()
        {
            cache.write(&key, &binary);
        }
        Ok(program)
    }

    fn key(&self, device: &Device, options: &CString) -> Key {
        let (found, limits) = (&device.found, device.limits());
        cache::KIND.key(&[
            &found.platform_name,
            &found.platform_version,
            &found.name,
            &limits.driver_version,
            &options.to_string_lossy(),
            &self.text,
        ])
    }
}

/// Loads a program from the driver's binary form; `None` if the driver no longer accepts it.
fn read_back(device: &Device, options: &CString, binary: &[u8]) -> Option<Program> {
    let program = device.open().ok()?.context.program_of_binary(device.raw(), binary).ok()?;
    program.build(device.raw(), options).ok()?;
    Some(program)
}

fn refused(device: &Device, program: &Program, code: i32) -> Error {
    let mut log = program.log(device.raw());
    if log.len() > LOG_BYTES_MAX {
        let end = (0..=LOG_BYTES_MAX).rev().find(|end| log.is_char_boundary(*end)).unwrap_or(0);
        log.truncate(end);
        log.push_str("\n…");
    }
    let error = failed(format_args!("{}: building a program", device.name()), code);
    let message = format!(
        "{}: the driver's compiler refuses the program: {}; its log:\n{log}",
        device.name(),
        error_name(code)
    );
    Error::new(error.kind(), message)
}
