//! Process state that a case may change, saved and restored so that the next case is not affected
//! (SUITE-S11).

use std::ffi::{CStr, OsString, c_int, c_void};
use std::path::PathBuf;
use std::{env, mem, ptr};

/// Buffer at least as large as any libc's `fenv_t`.
#[repr(C, align(16))]
struct FloatMode([u8; 256]);

impl FloatMode {
    /// Returns the bits that control arithmetic, without the exception flags.
    fn control(&self) -> u64 {
        let at = |offset: usize| u64::from(u16::from_le_bytes([self.0[offset], self.0[offset + 1]]));
        if cfg!(target_arch = "x86_64") {
            // The x87 control word, and the bits of MXCSR for rounding, exception masks and
            // denormal numbers.
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

/// State of the process before the first case. Signal handlers are not part of it, because drivers
/// depend on theirs.
pub(super) struct State {
    folder: PathBuf,
    variables: Vec<(OsString, OsString)>,
    umask: libc::mode_t,
    blocked: libc::sigset_t,
    float: FloatMode,
}

impl State {
    /// Saves the present state.
    pub(super) fn now() -> Self {
        let mut float = FloatMode([0; 256]);
        // SAFETY: the buffer is large enough for `fenv_t`.
        unsafe { fegetenv((&raw mut float).cast()) };
        // SAFETY: all zero is a valid `sigset_t`, which is overwritten.
        let mut blocked: libc::sigset_t = unsafe { mem::zeroed() };
        // SAFETY: a null set only reads the mask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), &raw mut blocked) };
        // SAFETY: `umask` can only be read by setting it; `restore` sets it back.
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

    /// Restores the state and returns the parts that had changed, variables aside (P10.10). Added
    /// variables stay, because libraries keep notes for themselves there.
    pub(super) fn restore(&self) -> Vec<&'static str> {
        let mut changed = Vec::new();
        let mut float = FloatMode([0; 256]);
        // SAFETY: the buffer is large enough for `fenv_t`.
        unsafe { fegetenv((&raw mut float).cast()) };
        if float.control() != self.float.control() {
            changed.push("floating-point mode");
        }
        // SAFETY: the mode was read by `fegetenv`.
        unsafe { fesetenv((&raw const self.float).cast()) };
        // SAFETY: only sets a number.
        if unsafe { libc::umask(self.umask) } != self.umask {
            changed.push("umask");
        }
        // SAFETY: all zero is a valid `sigset_t`, which is overwritten.
        let mut blocked: libc::sigset_t = unsafe { mem::zeroed() };
        // SAFETY: the set was read by `pthread_sigmask`, and there is room for the old one.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.blocked, &raw mut blocked) };
        if self.masks_differ(&blocked) {
            changed.push("signal mask");
        }
        // SAFETY: only cancels an alarm that a case set, so that it ends no other case.
        unsafe { libc::alarm(0) };
        // SAFETY: a null locale only reads the name, which is live until the next call.
        let locale = unsafe { libc::setlocale(libc::LC_ALL, ptr::null()) };
        // SAFETY: the C library returned a NUL-terminated text or null, and it is not null.
        if !locale.is_null() && unsafe { CStr::from_ptr(locale) } != c"C" {
            // SAFETY: sets the locale that every process starts with.
            unsafe { libc::setlocale(libc::LC_ALL, c"C".as_ptr()) };
            changed.push("locale");
        }
        if env::current_dir().ok().as_ref() != Some(&self.folder) {
            let _ = env::set_current_dir(&self.folder);
            changed.push("folder");
        }
        for (name, value) in &self.variables {
            if env::var_os(name).as_ref() != Some(value) {
                // SAFETY: a plugin that changed variables while other threads read them has broken
                // this requirement already.
                unsafe { env::set_var(name, value) };
            }
        }
        changed
    }

    fn masks_differ(&self, other: &libc::sigset_t) -> bool {
        // SAFETY: both sets are initialized.
        let has = |set: &libc::sigset_t, signal| unsafe { libc::sigismember(set, signal) };
        (1..32).any(|signal| has(&self.blocked, signal) != has(other, signal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUITE-S11. The mode of arithmetic is a thread's; what is the process's is changed by a
    /// plugin, in `isolation`.
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
