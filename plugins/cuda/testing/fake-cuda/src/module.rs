//! Modules: PTX of which only the head of each kernel is read, and the effects of a kernel when it
//! is launched.
//!
//! PTX is not interpreted. A comment in its body selects what a kernel does: `// fake: record`
//! writes the launch and its arguments, one u64 each, to the address in its first argument;
//! `// fake: fault` accesses memory that does not exist.

use crate::code::{self, Code};

/// Shared memory per block unless more was allowed, in bytes.
pub(crate) const SHARED_BYTES: usize = 48 << 10;
/// Maximum shared memory per block, in bytes.
pub(crate) const SHARED_OPTIN_BYTES: usize = 99 << 10;
/// The compute capability.
pub(crate) const CAPABILITY: (i32, i32) = (8, 6);

/// Effect of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing.
    Nothing,
    /// Writes its launch parameters.
    Record,
    /// Accesses memory that does not exist.
    Fault,
}

/// A kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    /// Size of each parameter in bytes.
    pub(crate) params: Vec<usize>,
    pub(crate) static_shared: usize,
    pub(crate) action: Action,
}

/// Loaded code.
pub(crate) struct Module {
    pub(crate) kernels: Vec<Kernel>,
}

/// A kernel of a module, and the shared memory that was allowed for it.
pub(crate) struct Function {
    pub(crate) module: std::sync::Arc<Module>,
    pub(crate) index: usize,
    pub(crate) dynamic_shared_max: std::sync::atomic::AtomicUsize,
}

/// The error for an invalid module: the code, and the compiler's log.
pub(crate) struct Refused(pub(crate) Code, pub(crate) String);

fn refused(code: Code, log: impl Into<String>) -> Refused {
    Refused(code, log.into())
}

fn size_of(kind: &str) -> Option<usize> {
    Some(match kind {
        ".u8" | ".s8" | ".b8" => 1,
        ".u16" | ".s16" | ".b16" => 2,
        ".u32" | ".s32" | ".b32" | ".f32" => 4,
        ".u64" | ".s64" | ".b64" | ".f64" => 8,
        _ => return None,
    })
}

/// Reads PTX.
pub(crate) fn read(text: &str) -> Result<Module, Refused> {
    if !text.contains(".version") || !text.contains(".address_size 64") {
        let log = "ptxas fatal   : Ptx assembly aborted due to errors: no .version, .address_size";
        return Err(refused(code::INVALID_PTX, log));
    }
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix(".target"));
    let arch = line.and_then(|rest| rest.trim().strip_prefix("sm_"));
    let number: Option<i32> =
        arch.and_then(|arch| arch.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok());
    let Some(number) = number else {
        return Err(refused(code::INVALID_PTX, "ptxas fatal   : Missing .target directive"));
    };
    if number > CAPABILITY.0 * 10 + CAPABILITY.1 {
        let log = format!("ptxas fatal   : PTX for sm_{number} does not run on this device");
        return Err(refused(code::NO_BINARY_FOR_GPU, log));
    }
    if let Some(line) = text.lines().position(|line| line.contains("syntax error here")) {
        let log =
            format!("ptxas application ptx input, line {}; fatal   : Parsing error near 'here'", line + 1);
        return Err(refused(code::INVALID_PTX, log));
    }
    let mut kernels = Vec::new();
    for piece in text.split(".entry ").skip(1) {
        let (head, body) = piece.split_once('{').unwrap_or((piece, ""));
        let (name, params) = head.split_once('(').unwrap_or((head, ""));
        let params = params.split(')').next().unwrap_or_default();
        let params = params.split(',').filter(|param| !param.trim().is_empty()).map(|param| {
            param.split_whitespace().find_map(size_of).ok_or_else(|| {
                refused(code::INVALID_PTX, format!("ptxas: parameter `{}` of no known type", param.trim()))
            })
        });
        let action = match body.split_once("// fake: ").and_then(|(_, rest)| rest.split_whitespace().next()) {
            Some("record") => Action::Record,
            Some("fault") => Action::Fault,
            _ => Action::Nothing,
        };
        let params = params.collect::<Result<_, _>>()?;
        kernels.push(Kernel { name: name.trim().to_owned(), params, static_shared: shared(body), action });
    }
    Ok(Module { kernels })
}

/// Bytes of shared memory that a body declares.
fn shared(body: &str) -> usize {
    let lines = body.lines().filter(|line| line.trim().starts_with(".shared"));
    lines
        .filter_map(|line| {
            let element = line.split_whitespace().find_map(size_of)?;
            let (_, count) = line.split_once('[')?;
            Some(element * count.split(']').next()?.parse::<usize>().ok()?)
        })
        .sum()
}
