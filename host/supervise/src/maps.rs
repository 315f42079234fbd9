//! What is where in this process, read as a signal's handler may: without memory of its own and
//! without locks (CHILD-V11).

use std::ffi::c_int;

/// Greatest length of a path in bytes; a longer one is cut.
const PATH_BYTES: usize = 512;
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 512;

/// A part of the memory of this process.
#[derive(Clone, Copy, Debug)]
pub struct Mapping<'a> {
    /// Its first address.
    pub start: usize,
    /// The address after its last.
    pub end: usize,
    /// The file that it comes from, or a name of the system's such as `[stack]`; empty where it has
    /// none.
    pub path: &'a [u8],
}

/// Where a thread was when a signal came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Address of the instruction.
    pub instruction: usize,
    /// Its stack pointer.
    pub stack: usize,
}

/// Reads the mappings of this process, with the memory that this needs: more than a handler's stack
/// may have.
#[derive(Debug)]
pub struct MapReader {
    line: Line,
    chunk: [u8; CHUNK_BYTES],
}

impl Default for MapReader {
    fn default() -> Self {
        Self::new()
    }
}

impl MapReader {
    /// Makes it, for a static or elsewhere.
    #[must_use]
    pub const fn new() -> Self {
        Self { line: Line::new(), chunk: [0; CHUNK_BYTES] }
    }

    /// Calls a function with each mapping, in order. Nothing is called where the system does not
    /// list them.
    pub fn each(&mut self, each: &mut dyn FnMut(Mapping<'_>)) {
        let Self { line, chunk } = self;
        // SAFETY: a text that lives for the call.
        let file = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if file < 0 {
            return;
        }
        line.clear();
        while let Some(n_bytes) = read(file, chunk) {
            for &byte in chunk.iter().take(n_bytes) {
                if byte != b'\n' {
                    line.push(byte);
                    continue;
                }
                let path = line.path.get(..line.n_path).unwrap_or_default();
                each(Mapping { start: line.start, end: line.end, path });
                line.clear();
            }
        }
        // SAFETY: opened above.
        unsafe { libc::close(file) };
    }
}

fn read(file: c_int, into: &mut [u8]) -> Option<usize> {
    // SAFETY: a buffer that lives for the call.
    let n_bytes = unsafe { libc::read(file, into.as_mut_ptr().cast(), into.len()) };
    usize::try_from(n_bytes).ok().filter(|n_bytes| *n_bytes > 0)
}

/// A line of the list, byte by byte: `START-END flags offset device inode   PATH`.
#[derive(Debug)]
struct Line {
    start: usize,
    end: usize,
    path: [u8; PATH_BYTES],
    n_path: usize,
    /// Number of the field, from 0; the path is the last.
    field: u32,
    is_blank: bool,
}

impl Line {
    const PATH: u32 = 5;

    const fn new() -> Self {
        Self { start: 0, end: 0, path: [0; PATH_BYTES], n_path: 0, field: 0, is_blank: false }
    }

    fn clear(&mut self) {
        (self.start, self.end, self.n_path, self.field, self.is_blank) = (0, 0, 0, 0, false);
    }

    fn push(&mut self, byte: u8) {
        if self.field == Self::PATH {
            let is_lead = byte == b' ' && self.n_path == 0;
            if let Some(place) = self.path.get_mut(self.n_path).filter(|_| !is_lead) {
                *place = byte;
                self.n_path += 1;
            }
            return;
        }
        if byte == b' ' {
            self.field += u32::from(!self.is_blank);
            self.is_blank = true;
            return;
        }
        self.is_blank = false;
        if self.field == 0 {
            match (byte as char).to_digit(16) {
                Some(digit) => self.end = self.end << 4 | digit as usize,
                None => (self.start, self.end) = (self.end, 0),
            }
        }
    }
}

/// The memory of this process, in which nothing that is read is a fault.
#[derive(Debug)]
pub struct OwnMemory(c_int);

impl OwnMemory {
    /// Opens it; `None` where the system does not have it as a file.
    #[must_use]
    pub fn open() -> Option<Self> {
        // SAFETY: a text that lives for the call.
        let file = unsafe { libc::open(c"/proc/self/mem".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        (file >= 0).then_some(Self(file))
    }

    /// Reads words from an address on; returns how many there are.
    pub fn read(&self, address: usize, into: &mut [usize]) -> usize {
        let Ok(at) = libc::off_t::try_from(address) else { return 0 };
        // SAFETY: a buffer that lives for the call; any bytes are words.
        let n_bytes = unsafe { libc::pread(self.0, into.as_mut_ptr().cast(), size_of_val(into), at) };
        usize::try_from(n_bytes).unwrap_or(0) / size_of::<usize>()
    }
}

impl Drop for OwnMemory {
    fn drop(&mut self) {
        // SAFETY: opened by `open`.
        unsafe { libc::close(self.0) };
    }
}

/// Returns where the thread was that a signal interrupted, as far as it is known for this
/// processor.
///
/// # Safety
///
/// * `context` is null, or what the kernel hands to a handler.
pub(crate) unsafe fn spot(context: *const std::ffi::c_void) -> Option<Spot> {
    // SAFETY: this function requires it.
    let context = unsafe { context.cast::<libc::ucontext_t>().as_ref() }?;
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        let of = |register: c_int| context.uc_mcontext.gregs[register as usize] as usize;
        Some(Spot { instruction: of(libc::REG_RIP), stack: of(libc::REG_RSP) })
    }
    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    {
        let registers = &context.uc_mcontext;
        Some(Spot { instruction: registers.pc as usize, stack: registers.sp as usize })
    }
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let _ = context;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CHILD-V11: the list has what is known otherwise, and memory is read without a fault.
    #[test]
    fn every_place_is_found() {
        let address = every_place_is_found as *const () as usize;
        let own = std::env::current_exe().unwrap();
        let (mut paths, mut n_mappings, mut last) = (Vec::new(), 0, 0);
        MapReader::new().each(&mut |mapping| {
            assert!(mapping.start < mapping.end && last <= mapping.start, "{mapping:?}");
            (n_mappings, last) = (n_mappings + 1, mapping.end);
            if (mapping.start..mapping.end).contains(&address) {
                paths.push(String::from_utf8(mapping.path.to_vec()).unwrap());
            }
        });
        assert_eq!(paths, [own.to_str().unwrap()]);
        let text = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(n_mappings > 3 && text.lines().count().abs_diff(n_mappings) < 8, "{n_mappings}");
        let words = [1_usize, 2, 3];
        let memory = OwnMemory::open().unwrap();
        let mut read = [0; 3];
        assert_eq!((memory.read(words.as_ptr() as usize, &mut read), read), (3, words));
        assert_eq!(memory.read(8, &mut read), 0);
        assert_eq!(memory.read(usize::MAX - 7, &mut read), 0);
    }
}
