//! Values of relocations, written into the bytes of an object (LLLINK-N1, LLLINK-N2).

use object::elf;

/// A relocation, with the addresses that it computes with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relocation {
    /// ELF's number of its kind.
    pub(super) kind: u32,
    /// The address of the bytes that are written.
    pub(super) place: u64,
    /// The address of the symbol.
    pub(super) symbol: u64,
    pub(super) addend: i64,
    /// The address of the symbol's entry in the table, if it has one.
    pub(super) entry: Option<u64>,
    /// The address of the code that jumps to the symbol, if there is any.
    pub(super) stub: Option<u64>,
}

/// What a relocation needs besides its symbol's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// An entry in the table.
    Entry,
    /// A stub, where the symbol is of another library.
    Stub,
}

/// What a relocation of this kind needs.
pub(super) fn needs(machine: u16, kind: u32) -> Needs {
    match (machine, kind) {
        (elf::EM_X86_64, elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX)
        | (elf::EM_AARCH64, elf::R_AARCH64_ADR_GOT_PAGE | elf::R_AARCH64_LD64_GOT_LO12_NC) => Needs::Entry,
        (elf::EM_X86_64, elf::R_X86_64_PLT32)
        | (elf::EM_AARCH64, elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26) => Needs::Stub,
        _ => Needs::Nothing,
    }
}

/// The number of bytes that hold a stub.
pub(super) const STUB_BYTES: usize = 16;

/// The code at `place` that jumps to the address in the entry; `None` if it is too far away.
pub(super) fn stub(machine: u16, place: u64, entry: u64) -> Option<[u8; STUB_BYTES]> {
    let mut code = [0; STUB_BYTES];
    let words: Vec<u32> = match machine {
        elf::EM_X86_64 => {
            // jmp *entry(%rip), and a trap behind it.
            code.fill(0xcc);
            let distance = i32::try_from(entry.wrapping_sub(place.wrapping_add(6)) as i64).ok()?;
            code[..2].copy_from_slice(&[0xff, 0x25]);
            code[2..6].copy_from_slice(&distance.to_le_bytes());
            return Some(code);
        }
        elf::EM_AARCH64 => {
            let page = adr(0x9000_0010, page_distance(entry, place)?);
            // adrp x16, entry; ldr x16, [x16, entry]; br x16; brk
            vec![page, 0xf940_0210 | low_part(entry, 3)?, 0xd61f_0200, 0xd420_0000]
        }
        _ => return None,
    };
    for (bytes, word) in code.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Some(code)
}

/// Writes a relocation into the bytes from its place on, of which it touches its field alone;
/// `None` where it is of a kind that is not known here, its value does not fit, or the bytes are
/// too few.
pub(super) fn apply(machine: u16, relocation: &Relocation, bytes: &mut [u8]) -> Option<()> {
    match machine {
        elf::EM_X86_64 => x86_64(relocation, bytes),
        elf::EM_AARCH64 => aarch64(relocation, bytes),
        _ => None,
    }
}

fn put<const N: usize>(bytes: &mut [u8], value: [u8; N]) -> Option<()> {
    bytes.get_mut(..N)?.copy_from_slice(&value);
    Some(())
}

fn x86_64(relocation: &Relocation, bytes: &mut [u8]) -> Option<()> {
    let Relocation { kind, place, symbol, addend, entry, stub } = *relocation;
    let value = symbol.wrapping_add_signed(addend);
    let near = |target: u64| {
        let distance = target.wrapping_add_signed(addend).wrapping_sub(place) as i64;
        i32::try_from(distance).ok().map(i32::to_le_bytes)
    };
    match kind {
        elf::R_X86_64_NONE => Some(()),
        elf::R_X86_64_64 => put(bytes, value.to_le_bytes()),
        elf::R_X86_64_PC64 => put(bytes, value.wrapping_sub(place).to_le_bytes()),
        elf::R_X86_64_PC32 => put(bytes, near(symbol)?),
        elf::R_X86_64_PLT32 => put(bytes, near(stub.unwrap_or(symbol))?),
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
            put(bytes, near(entry?)?)
        }
        elf::R_X86_64_32 => put(bytes, u32::try_from(value).ok()?.to_le_bytes()),
        elf::R_X86_64_32S => put(bytes, i32::try_from(value as i64).ok()?.to_le_bytes()),
        _ => None,
    }
}

fn aarch64(relocation: &Relocation, bytes: &mut [u8]) -> Option<()> {
    let Relocation { kind, place, symbol, addend, entry, stub } = *relocation;
    let value = symbol.wrapping_add_signed(addend);
    // An entry and a stub are of the symbol itself.
    let entry = || entry.filter(|_| addend == 0);
    let distance = value.wrapping_sub(place);
    let old = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    let low = |scale: u32, value: u64| Some(old & !(0xfff << 10) | low_part(value, scale)?);
    let word = match kind {
        elf::R_AARCH64_NONE => return Some(()),
        elf::R_AARCH64_ABS64 => return put(bytes, value.to_le_bytes()),
        elf::R_AARCH64_PREL64 => return put(bytes, distance.to_le_bytes()),
        elf::R_AARCH64_ABS32 => u32::try_from(value).ok()?,
        elf::R_AARCH64_PREL32 => i32::try_from(distance as i64).ok()? as u32,
        elf::R_AARCH64_ADR_PREL_PG_HI21 => adr(old, page_distance(value, place)?),
        elf::R_AARCH64_ADR_GOT_PAGE => adr(old, page_distance(entry()?, place)?),
        elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => low(0, value)?,
        elf::R_AARCH64_LDST16_ABS_LO12_NC => low(1, value)?,
        elf::R_AARCH64_LDST32_ABS_LO12_NC => low(2, value)?,
        elf::R_AARCH64_LDST64_ABS_LO12_NC => low(3, value)?,
        elf::R_AARCH64_LDST128_ABS_LO12_NC => low(4, value)?,
        elf::R_AARCH64_LD64_GOT_LO12_NC => low(3, entry()?)?,
        elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => {
            let target = stub.map_or(Some(value), |stub| (addend == 0).then_some(stub))?;
            let distance = target.wrapping_sub(place) as i64;
            let is_near = (-(1 << 27)..1 << 27).contains(&distance) && distance % 4 == 0;
            is_near.then_some(old & !0x03ff_ffff | (distance >> 2) as u32 & 0x03ff_ffff)?
        }
        _ => return None,
    };
    put(bytes, word.to_le_bytes())
}

/// The number of pages of 4096 bytes from the one of `place` to that of `address`, in 21 bits.
fn page_distance(address: u64, place: u64) -> Option<i64> {
    let pages = (address >> 12).wrapping_sub(place >> 12) as i64;
    (-(1 << 20)..1 << 20).contains(&pages).then_some(pages)
}

/// The instruction `adrp` with another number of pages.
fn adr(old: u32, pages: i64) -> u32 {
    let pages = pages as u32;
    old & !(3 << 29 | 0x7_ffff << 5) | (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5
}

/// The low twelve bits of an address as the field of an instruction that counts in units of that
/// many bits.
fn low_part(address: u64, scale: u32) -> Option<u32> {
    let low = (address & 0xfff) as u32;
    low.is_multiple_of(1 << scale).then_some(low >> scale << 10)
}
