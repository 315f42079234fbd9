//! The floating-point mode of a thread: rounding, subnormal numbers, traps.

use std::fmt;

use super::part::{Found, Part};

/// The control bits of this thread's floating-point units, without the flags of exceptions that
/// happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatMode(here::Words);

impl FloatMode {
    /// Returns the mode of this thread.
    #[inline]
    pub(crate) fn now() -> Self {
        Self(here::read())
    }

    /// Makes it the mode of this thread; returns the one before, where that was another.
    #[inline]
    pub(crate) fn put_back(self) -> Option<Self> {
        let now = Self::now();
        if now == self {
            return None;
        }
        here::write(self.0);
        Some(now)
    }
}

impl fmt::Display for FloatMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&here::words(self.0).join(", "))
    }
}

impl Part for FloatMode {
    fn settle(&mut self, found: &mut Found) {
        if let Some(after) = self.put_back() {
            found.add("the floating-point mode", self.to_string(), after.to_string(), true);
        }
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const ROUNDING: [&str; 4] = ["rounds to nearest", "rounds down", "rounds up", "rounds toward zero"];

#[cfg(target_arch = "x86_64")]
mod here {
    use std::arch::asm;

    /// MXCSR and the control word of the x87.
    pub(super) type Words = (u32, u16);

    /// Exceptions that happened.
    const HAPPENED: u32 = 0x3f;
    const DENORMALS_ARE_ZERO: u32 = 1 << 6;
    const MASKS: u32 = 0x3f << 7;
    const FLUSH_TO_ZERO: u32 = 1 << 15;

    fn mxcsr() -> u32 {
        let mut mode = 0_u32;
        // SAFETY: stores the control register in a local.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
        mode
    }

    #[inline]
    pub(super) fn read() -> Words {
        let mut x87 = 0_u16;
        // SAFETY: stores the control word in a local.
        unsafe { asm!("fnstcw [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags)) };
        (mxcsr() & !HAPPENED, x87)
    }

    pub(super) fn write((mode, x87): Words) {
        let mode = mode | mxcsr() & HAPPENED;
        // SAFETY: words that the registers had before; the flags stay. Code of ours relies on none
        // of them.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags, readonly));
            asm!("fldcw [{}]", in(reg) &raw const x87, options(nostack, preserves_flags, readonly));
        }
    }

    pub(super) fn words((mode, x87): Words) -> Vec<String> {
        let mut words = vec![super::ROUNDING[(mode >> 13 & 3) as usize].to_owned()];
        words.push(match (mode & FLUSH_TO_ZERO != 0, mode & DENORMALS_ARE_ZERO != 0) {
            (false, false) => "keeps subnormals".to_owned(),
            (true, false) => "flushes subnormal results to zero".to_owned(),
            (false, true) => "takes subnormals for zero".to_owned(),
            (true, true) => "flushes subnormals to zero".to_owned(),
        });
        if mode & MASKS != MASKS {
            words.push("traps exceptions".to_owned());
        }
        words.push(format!("MXCSR {mode:#06x} and x87 {x87:#05x}"));
        words
    }
}

#[cfg(target_arch = "aarch64")]
mod here {
    use std::arch::asm;

    /// FPCR.
    pub(super) type Words = u64;

    const FLUSH_TO_ZERO: u64 = 1 << 24;
    const TRAPS: u64 = 0x9f00;

    #[inline]
    pub(super) fn read() -> Words {
        let mode: u64;
        // SAFETY: reads the control register.
        unsafe { asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack, preserves_flags)) };
        mode
    }

    pub(super) fn write(mode: Words) {
        // SAFETY: a word that the register had before.
        unsafe { asm!("msr fpcr, {}", in(reg) mode, options(nomem, nostack, preserves_flags)) };
    }

    pub(super) fn words(mode: Words) -> Vec<String> {
        // ARM counts up before down.
        let rounding = super::ROUNDING[[0, 2, 1, 3][(mode >> 22 & 3) as usize]];
        let small = if mode & FLUSH_TO_ZERO == 0 { "keeps subnormals" } else { "flushes subnormals to zero" };
        let mut words = vec![rounding.to_owned(), small.to_owned()];
        if mode & TRAPS != 0 {
            words.push("traps exceptions".to_owned());
        }
        words.push(format!("FPCR {mode:#x}"));
        words
    }
}

/// Other processors: the mode is not watched.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod here {
    pub(super) type Words = ();

    pub(super) fn read() -> Words {}

    pub(super) fn write((): Words) {}

    pub(super) fn words((): Words) -> Vec<String> {
        Vec::new()
    }
}
