//! Tests of the values of relocations, against numbers of the processors' ABI documents.

use object::elf;

use super::super::relocate::*;

fn relocation(kind: u32, place: u64, symbol: u64, addend: i64) -> Relocation {
    Relocation { kind, place, symbol, addend, entry: None, stub: None }
}

fn applied(machine: u16, relocation: &Relocation, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    apply(machine, relocation, &mut bytes).map(|()| bytes)
}

#[test]
fn x86_64_has_its_values() {
    let of = |kind, place, symbol, addend| {
        applied(elf::EM_X86_64, &relocation(kind, place, symbol, addend), &[0xee; 9])
    };
    let long = |value: u64| Some([&value.to_le_bytes()[..], &[0xee]].concat());
    let short = |value: i32| Some([&value.to_le_bytes()[..], &[0xee; 5]].concat());
    assert_eq!(of(elf::R_X86_64_64, 5, 0x1234_5678_9abc, -4), long(0x1234_5678_9ab8));
    assert_eq!(of(elf::R_X86_64_PC64, 0x1_0000_0000, 0x10, 2), long(0x12_u64.wrapping_sub(0x1_0000_0000)));
    assert_eq!(of(elf::R_X86_64_PC32, 0x2000, 0x1000, -4), short(-0x1004));
    assert_eq!(of(elf::R_X86_64_PLT32, 0x1000, 0x2000, -4), short(0xffc));
    assert_eq!(of(elf::R_X86_64_32, 9, 0xffff_fff0, 15), short(-1));
    assert_eq!(of(elf::R_X86_64_32S, 9, 0, -2), short(-2));
    assert_eq!(of(elf::R_X86_64_NONE, 9, 1, 1), Some(vec![0xee; 9]));
    // The last values that fit, and the first that do not.
    assert_eq!(of(elf::R_X86_64_PC32, 0, 0x7fff_ffff, 0), short(i32::MAX));
    assert_eq!(of(elf::R_X86_64_PC32, 0, 0x7fff_ffff, 1), None);
    assert_eq!(of(elf::R_X86_64_PC32, 0x8000_0000, 0, 0), short(i32::MIN));
    assert_eq!(of(elf::R_X86_64_PC32, 0x8000_0001, 0, 0), None);
    assert_eq!(of(elf::R_X86_64_32, 0, 0xffff_ffff, 1), None);
    assert_eq!(of(elf::R_X86_64_32S, 0, 0x8000_0000, 0), None);
    assert_eq!(of(elf::R_X86_64_GOTPCREL, 0, 1, 0), None, "without an entry");
    assert_eq!(of(elf::R_X86_64_TPOFF32, 0, 1, 0), None, "of another kind");
    let mut through =
        Relocation { entry: Some(0x3000), stub: Some(0x4000), ..relocation(0, 0x1000, 1 << 40, -4) };
    for (kind, value) in [
        (elf::R_X86_64_GOTPCREL, 0x1ffc),
        (elf::R_X86_64_GOTPCRELX, 0x1ffc),
        (elf::R_X86_64_REX_GOTPCRELX, 0x1ffc),
        (elf::R_X86_64_PLT32, 0x2ffc),
    ] {
        through.kind = kind;
        assert_eq!(applied(elf::EM_X86_64, &through, &[0xee; 9]), short(value), "{kind}");
    }
}

#[test]
fn aarch64_has_its_values() {
    let of = |kind, place, symbol, addend, word: u32| {
        let bytes = [&word.to_le_bytes()[..], &[0xee; 4]].concat();
        let bytes = applied(elf::EM_AARCH64, &relocation(kind, place, symbol, addend), &bytes)?;
        assert_eq!(bytes[4..], [0xee; 4]);
        Some(u32::from_le_bytes(bytes[..4].try_into().unwrap()))
    };
    // adrp x0, and what an assembler writes for one page ahead, one behind, and five.
    let adrp = 0x9000_0000;
    assert_eq!(of(elf::R_AARCH64_ADR_PREL_PG_HI21, 0x1ffc, 0x2000, 0, adrp), Some(0xb000_0000));
    assert_eq!(of(elf::R_AARCH64_ADR_PREL_PG_HI21, 0x2000, 0x1fff, 0, adrp), Some(0xf0ff_ffe0));
    assert_eq!(of(elf::R_AARCH64_ADR_PREL_PG_HI21, 0, 0x4fff, 1, adrp), Some(0xb000_0020));
    assert_eq!(of(elf::R_AARCH64_ADR_PREL_PG_HI21, 0, 1 << 32, 0, adrp), None);
    assert_eq!(of(elf::R_AARCH64_ADR_PREL_PG_HI21, 1 << 32, 0, 0, adrp), Some(0x9080_0000));
    // add x0, x0, #0; ldr x0, [x0]; ldr q0, [x0]; a field that had a value.
    assert_eq!(of(elf::R_AARCH64_ADD_ABS_LO12_NC, 0, 0x5abc, 0, 0x9100_0000), Some(0x912a_f000));
    assert_eq!(of(elf::R_AARCH64_LDST64_ABS_LO12_NC, 0, 0x5ab8, 0, 0xf940_0000), Some(0xf945_5c00));
    assert_eq!(of(elf::R_AARCH64_LDST128_ABS_LO12_NC, 0, 0x5ab0, 0, 0x3dff_fc00), Some(0x3dc2_ac00));
    assert_eq!(of(elf::R_AARCH64_LDST64_ABS_LO12_NC, 0, 0x5ab4, 0, 0xf940_0000), None, "not aligned");
    // bl and b.
    assert_eq!(of(elf::R_AARCH64_CALL26, 0x1000, 0x2000, 0, 0x9400_0000), Some(0x9400_0400));
    assert_eq!(of(elf::R_AARCH64_JUMP26, 0x2000, 0x1000, 0, 0x1400_0000), Some(0x17ff_fc00));
    assert_eq!(of(elf::R_AARCH64_CALL26, 0, 1 << 27, 0, 0x9400_0000), None);
    assert_eq!(of(elf::R_AARCH64_CALL26, 0, (1 << 27) - 4, 0, 0x9400_0000), Some(0x95ff_ffff));
    assert_eq!(of(elf::R_AARCH64_CALL26, 0, 0x1002, 0, 0x9400_0000), None, "not an instruction");
    assert_eq!(of(elf::R_AARCH64_PREL32, 0x10, 8, 4, 0), Some(4_u32.wrapping_neg()));
    assert_eq!(of(elf::R_AARCH64_ABS32, 0, 1 << 32, 0, 0), None);
    assert_eq!(of(elf::R_AARCH64_LD64_GOT_LO12_NC, 0, 8, 0, 0xf940_0000), None, "without an entry");
    assert_eq!(of(elf::R_AARCH64_MOVW_UABS_G0, 0, 8, 0, 0), None, "of another kind");
}

#[test]
fn a_stub_jumps_through_its_entry() {
    // jmp *0xffa(%rip) at 0x1000 reads 0x2000.
    let code = stub(elf::EM_X86_64, 0x1000, 0x2000).unwrap();
    assert_eq!(code[..7], [0xff, 0x25, 0xfa, 0x0f, 0, 0, 0xcc]);
    assert!(stub(elf::EM_X86_64, 0, (1 << 31) + 5).is_some());
    assert_eq!(stub(elf::EM_X86_64, 0, (1 << 31) + 6), None);
    assert_eq!(stub(elf::EM_X86_64, 0, 1 << 32), None);
    // adrp x16, 0x2000; ldr x16, [x16, #8]; br x16; brk #0
    let code = stub(elf::EM_AARCH64, 0x1000, 0x2008).unwrap();
    let words: Vec<u32> = code.chunks(4).map(|it| u32::from_le_bytes(it.try_into().unwrap())).collect();
    assert_eq!(words, [0xb000_0010, 0xf940_0610, 0xd61f_0200, 0xd420_0000]);
    assert_eq!(stub(elf::EM_AARCH64, 0, 1 << 33), None);
    assert_eq!(stub(elf::EM_RISCV, 0, 8), None);
}

/// LLLINK-N1: the bytes behind a place are those of its section; no more are written.
#[test]
fn a_field_that_is_cut_off_is_refused() {
    for machine in [elf::EM_X86_64, elf::EM_AARCH64] {
        for kind in 0..1100 {
            let all =
                Relocation { entry: Some(0x2000), stub: Some(0x2000), ..relocation(kind, 0x1000, 0x2000, 0) };
            if kind != 0 {
                assert_eq!(applied(machine, &all, &[0; 3]), None, "{machine}: {kind}");
            }
        }
    }
}
