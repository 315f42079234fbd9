//! How this machine's processor describes itself to a program, without libLLVM.

/// The description of this machine's processor, and whether Linux lets this process use its tiles:
/// everything on which LLVM's answer about it depends. `None` on a machine that is not known here.
///
/// It asks Linux for the permission to use tiles where the processor has them (LLKIND-K10).
#[cfg(target_arch = "x86_64")]
pub(crate) fn description() -> Option<String> {
    use core::arch::x86_64::{__cpuid_count, CpuidResult};
    use core::fmt::Write as _;

    /// What LLVM asks of the leaves: the registers that it reads, without those that differ between
    /// cores of one processor or change while it runs.
    type Masks = [u32; 4];
    const ALL: u32 = u32::MAX;
    const LEAVES: &[(u32, u32, Masks)] = &[
        (0, 0, [ALL; 4]),
        (1, 0, [ALL, 0xff, ALL, ALL]),
        (7, 0, [ALL; 4]),
        (7, 1, [ALL; 4]),
        (0xd, 1, [ALL, 0, 0, 0]),
        (0x14, 0, [ALL, ALL, ALL, 0]),
        (0x19, 0, [ALL; 4]),
        (0x24, 0, [ALL; 4]),
        (0x8000_0000, 0, [ALL; 4]),
        (0x8000_0001, 0, [ALL, 0, ALL, ALL]),
        (0x8000_0008, 0, [0, ALL, 0, 0]),
    ];
    let mut text = String::from("x86_64");
    let mut last = [0, 0];
    for (leaf, part, masks) in LEAVES {
        let extended = usize::from(*leaf >= 0x8000_0000);
        if leaf & 0x7fff_ffff > last[extended] {
            continue;
        }
        let CpuidResult { eax, ebx, ecx, edx } = __cpuid_count(*leaf, *part);
        if leaf & 0x7fff_ffff == 0 {
            last[extended] = eax & 0x7fff_ffff;
        }
        let registers = [eax, ebx, ecx, edx];
        let _ = write!(text, " {leaf:x}.{part}");
        registers.iter().zip(masks).for_each(|(register, mask)| {
            let _ = write!(text, ":{:x}", register & mask);
        });
        // Bit 27: the system has said which registers it saves.
        if *leaf == 1 && ecx & 1 << 27 != 0 {
            let (low, high): (u32, u32);
            // SAFETY: the processor has the instruction, which reads a register.
            unsafe {
                core::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
            }
            let _ = write!(text, " saved {high:x}:{low:x}");
        }
        // Bit 24 of this register: amx-tile.
        if (*leaf, *part) == (7, 0) && edx & 1 << 24 != 0 {
            let _ = write!(text, " tiles {}", super::machine::may_use_tiles());
        }
    }
    Some(text)
}

/// The description of this machine's processor; `None` on a machine that is not known here.
#[cfg(target_arch = "aarch64")]
pub(crate) fn description() -> Option<String> {
    // What LLVM itself reads on Linux.
    std::fs::read_to_string("/proc/cpuinfo").ok().filter(|text| !text.is_empty())
}

/// The description of this machine's processor; `None` on a machine that is not known here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn description() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    /// LLKEPT-P2: the same on every core, whichever it is asked on.
    #[test]
    fn llkept_p2_a_description_does_not_change() {
        let Some(first) = super::description() else {
            return chipdock_test_support::skipped("a description of this processor");
        };
        assert!(first.len() > 20, "{first}");
        let others = std::thread::scope(|scope| {
            let ask = |_| scope.spawn(super::description);
            (0..16).map(ask).collect::<Vec<_>>().into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(others.iter().all(|other| *other == Some(first.clone())));
    }
}
