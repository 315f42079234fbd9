//! State of the process that a case may change, and its restoration, so that the next case is not blamed (SUITE-S11).

use std::ffi::{CStr, OsString, c_int, c_void};
use std::path::PathBuf;
use std::{env, mem, ptr};

/// At least as large as any libc's `fenv_t`.
#[repr(C, align(16))]
struct FloatMode([u8; 256]);

impl FloatMode {
    /// Returns the bits that control calculation, without the status flags.
    fn control(&self) -> u64 {
        let at = |offset: usize| u64::from(u16::from_le_bytes([self.0[offset], self.0[offset + 1]]));
        if cfg!(target_arch = "x86_64") {
            // The x87's control word, and of MXCSR rounding, masks, and what becomes of denormal numbers.
            at(0) << 16 | at(28) & 0xffc0
        } else {
            // FPCR.
            at(0) | at(2) << 16
        }
    }
}

unsafe extern "C" {
    fn fegetenv(mode: *mut c_void) -> c_int;
    fn fesetenv(mode: *const c_void) -> c_int;
}

/// State of the process before the plugin changed it. Signal handlers are not included: drivers depend on theirs.
pub(super) struct State {
    folder: PathBuf,
    variables: Vec<(OsString, OsString)>,
    umask: libc::mode_t,
    blocked: libc::sigset_t,
    float: FloatMode,
}

impl State {
    /// Reads the current state.
    pub(super) fn now() -> Self {
        let mut float = FloatMode([0; 256]);
        // SAFETY: a place that is large enough.
        unsafe { fegetenv((&raw mut float).cast()) };
        // SAFETY: all zero is a set, which is overwritten.
        let mut blocked: libc::sigset_t = unsafe { mem::zeroed() };
        // SAFETY: asks for the mask alone.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), &raw mut blocked) };
        // SAFETY: there is no way to ask but to set; it is set back by `restore`.
        let umask = unsafe { libc::umask(0o022) };
        let state = Self {
            folder: env::current_dir().unwrap_or_else(|_| "/".into()),
            variables: env::vars_os().collect(),
            umask,
            blocked,
            float,
        };
        let _ = state.restore();
        state
    }

    /// Restores the state; returns which parts of a thread's state had changed (P10.10). Variables that were added stay:
    /// libraries keep notes for themselves there.
    pub(super) fn restore(&self) -> Vec<&'static str> {
        let mut changed = Vec::new();
        let mut float = FloatMode([0; 256]);
        // SAFETY: a place that is large enough.
        unsafe { fegetenv((&raw mut float).cast()) };
        if float.control() != self.float.control() {
            changed.push("floating-point mode");
        }
        // SAFETY: what was got from `fegetenv`.
        unsafe { fesetenv((&raw const self.float).cast()) };
        // SAFETY: sets a number.
        if unsafe { libc::umask(self.umask) } != self.umask {
            changed.push("umask");
        }
        // SAFETY: all zero is a set, which is overwritten.
        let mut blocked: libc::sigset_t = unsafe { mem::zeroed() };
        // SAFETY: a set that was got in the same way, and a place for another.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.blocked, &raw mut blocked) };
        if self.masks_differ(&blocked) {
            changed.push("signal mask");
        }
        // SAFETY: an alarm that a case set must not end another.
        unsafe { libc::alarm(0) };
        // SAFETY: asks for the name, which is live until the next call.
        let locale = unsafe { libc::setlocale(libc::LC_ALL, ptr::null()) };
        // SAFETY: a text of the library's, or null.
        if !locale.is_null() && unsafe { CStr::from_ptr(locale) } != c"C" {
            // SAFETY: as at the start of every process.
            unsafe { libc::setlocale(libc::LC_ALL, c"C".as_ptr()) };
            changed.push("locale");
        }
        if env::current_dir().ok().as_ref() != Some(&self.folder) {
            let _ = env::set_current_dir(&self.folder);
            changed.push("folder");
        }
        for (name, value) in &self.variables {
            if env::var_os(name).as_ref() != Some(value) {
                // SAFETY: a plugin that changes variables beside threads that read them broke this already.
                unsafe { env::set_var(name, value) };
            }
        }
        changed
    }

    fn masks_differ(&self, other: &libc::sigset_t) -> bool {
        // SAFETY: two whole sets.
        let has = |set: &libc::sigset_t, signal| unsafe { libc::sigismember(set, signal) };
        (1..32).any(|signal| has(&self.blocked, signal) != has(other, signal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUITE-S11. The mode of arithmetic is a thread's; what is the process's is changed by a plugin, in `isolation`.
    #[test]
    fn the_mode_of_arithmetic_is_put_back() {
        unsafe extern "C" {
            fn fesetround(mode: c_int) -> c_int;
        }
        #[cfg(target_arch = "x86_64")]
        const UPWARD: c_int = 0x800;
        #[cfg(target_arch = "aarch64")]
        const UPWARD: c_int = 0x40_0000;
        let third = || std::hint::black_box(1.0_f64) / std::hint::black_box(3.0);
        let state = State::now();
        let nearest = third();
        // SAFETY: a mode that is put back below.
        assert_eq!(unsafe { fesetround(UPWARD) }, 0);
        assert!(third() > nearest, "the mode has changed");
        assert_eq!(state.restore(), ["floating-point mode"]);
        assert_eq!(third().to_bits(), nearest.to_bits());
        // Flags of what has happened are no mode.
        assert!(std::hint::black_box(1.0_f64) / std::hint::black_box(0.0) > 1.0);
        assert_eq!(state.restore(), [] as [&str; 0]);
    }
}
