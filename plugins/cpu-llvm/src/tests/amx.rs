//! The tiles of x86 (AMX) in software, for processors without them: such an instruction raises a
//! signal, whose handler does its work. Only what LLVM writes for products of tiles is known;
//! anything else ends the process, as it would without a handler.
//!
//! Source: Intel's manual of instructions, volume 2, `LDTILECFG`, `TILELOADD`, `TILESTORED`,
//! `TDPBSSD`, `TDPBF16PS`.

use core::cell::RefCell;
use std::sync::Once;

/// Rows of 64 bytes of a tile.
type Tile = [[u8; 64]; 16];

struct Tiles {
    is_configured: bool,
    tiles: [Tile; 8],
    /// Number of products of tiles so far.
    products: usize,
}

thread_local! {
    static TILES: RefCell<Tiles> =
        const { RefCell::new(Tiles { is_configured: false, tiles: [[[0; 64]; 16]; 8], products: 0 }) };
}

/// Number of products of tiles that this thread has computed.
pub(super) fn products() -> usize {
    TILES.with_borrow(|tiles| tiles.products)
}

/// Installs the handler.
pub(super) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: a zeroed action is a valid one; the handler has the type that SA_SIGINFO asks
        // for.
        unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_sigaction = on_illegal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(libc::sigaction(libc::SIGILL, &raw const action, core::ptr::null_mut()), 0);
        }
    });
}

extern "C" fn on_illegal(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's context of the thread, which waits for this handler.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let mut registers = Registers(&mut context.uc_mcontext.gregs);
    let done =
        TILES.try_with(|tiles| tiles.try_borrow_mut().ok().and_then(|mut tiles| tiles.step(&mut registers)));
    if done.ok().flatten().is_none() {
        // SAFETY: the usual action: the instruction runs again, and ends the process.
        unsafe { libc::signal(libc::SIGILL, libc::SIG_DFL) };
    }
}

struct Registers<'a>(&'a mut [libc::greg_t; 23]);

/// A memory operand: base and displacement, index times scale, and the number of bytes of the
/// instruction.
struct Operand {
    base: usize,
    index: usize,
    size: usize,
}

impl Registers<'_> {
    fn next(&self) -> usize {
        self.0[libc::REG_RIP as usize] as usize
    }

    fn byte(&self, at: usize) -> u8 {
        // SAFETY: a byte of the instruction that was just fetched.
        unsafe { *((self.next() + at) as *const u8) }
    }

    fn signed_32(&self, at: usize) -> usize {
        i32::from_le_bytes([0, 1, 2, 3].map(|byte| self.byte(at + byte))) as usize
    }

    fn number(&self, number: u8) -> usize {
        use libc::*;
        let places = [
            REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10,
            REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
        ];
        self.0[places[usize::from(number)] as usize] as usize
    }

    /// The operand after the ModRM byte, which is the fifth; `x` and `b` are the fourth bits of
    /// index and base.
    fn operand(&self, x: u8, b: u8) -> Operand {
        let (mode, rm) = (self.byte(4) >> 6, self.byte(4) & 7);
        let mut size = 5;
        let (mut base, mut index) = (0, 0);
        if rm == 4 {
            let sib = self.byte(5);
            size = 6;
            let of_index = (sib >> 3 & 7) | x << 3;
            if of_index != 4 {
                index = self.number(of_index).wrapping_shl((sib >> 6).into());
            }
            if sib & 7 == 5 && mode == 0 {
                base = self.signed_32(size);
                size += 4;
            } else {
                base = self.number(sib & 7 | b << 3);
            }
        } else if rm == 5 && mode == 0 {
            size += 4;
            base = self.next().wrapping_add(size).wrapping_add(self.signed_32(5));
        } else {
            base = base.wrapping_add(self.number(rm | b << 3));
        }
        if mode == 1 {
            base = base.wrapping_add(self.byte(size) as i8 as usize);
            size += 1;
        } else if mode == 2 {
            base = base.wrapping_add(self.signed_32(size));
            size += 4;
        }
        Operand { base, index, size }
    }
}

impl Tiles {
    /// Does the work of the next instruction, and moves on; `None` if it is no instruction of
    /// tiles.
    fn step(&mut self, registers: &mut Registers<'_>) -> Option<()> {
        let [vex, first, second, code, modrm] = [0, 1, 2, 3, 4].map(|at| registers.byte(at));
        // Three bytes of VEX, map 0F38, W 0, 128 bits.
        (vex == 0xc4 && first & 31 == 2 && second & 0x84 == 0).then_some(())?;
        let (x, b, third) = (!first >> 6 & 1, !first >> 5 & 1, usize::from(!second >> 3 & 15));
        let (prefix, is_register) = (second & 3, modrm >> 6 == 3);
        let (reg, rm) = (usize::from(modrm >> 3 & 7), usize::from(modrm & 7));
        let mut size = 5;
        match (code, prefix, is_register) {
            (0x49, 0, true) if modrm == 0xc0 => self.is_configured = false,
            (0x49, 0, false) => {
                let operand = registers.operand(x, b);
                size = operand.size;
                self.configure(operand.base.wrapping_add(operand.index))?;
            }
            (0x49, 3, true) if self.is_configured => self.tiles[reg] = [[0; 64]; 16],
            (0x4b, 2 | 3, false) if self.is_configured => {
                let operand = registers.operand(x, b);
                size = operand.size;
                for (row, number) in self.tiles[reg].iter_mut().zip(0_usize..) {
                    let at = operand.base.wrapping_add(operand.index.wrapping_mul(number)) as *mut [u8; 64];
                    // SAFETY: memory that the instruction would access.
                    unsafe { if prefix == 3 { *row = at.read_unaligned() } else { at.write_unaligned(*row) } }
                }
            }
            (0x5e, _, true) if self.is_configured => self.bytes(prefix, [reg, rm, third]),
            (0x5c, 2, true) if self.is_configured => self.halves([reg, rm, third]),
            _ => return None,
        }
        registers.0[libc::REG_RIP as usize] += size as i64;
        Some(())
    }

    /// Expects the configuration of eight whole tiles.
    fn configure(&mut self, at: usize) -> Option<()> {
        // SAFETY: memory that the instruction would read.
        let bytes = unsafe { (at as *const [u8; 64]).read_unaligned() };
        let mut expected = [0; 64];
        expected[0] = 1;
        for tile in 0..8 {
            (expected[16 + 2 * tile], expected[48 + tile]) = (64, 16);
        }
        self.is_configured = true;
        self.tiles = [[[0xaa; 64]; 16]; 8];
        (bytes == expected).then_some(())
    }

    /// `TDPB..D`: the prefix says which of the factors are signed.
    fn bytes(&mut self, prefix: u8, [to, a, b]: [usize; 3]) {
        let wide =
            |byte: u8, is_signed: bool| if is_signed { i32::from(byte as i8) } else { i32::from(byte) };
        let (is_a_signed, is_b_signed) = (matches!(prefix, 2 | 3), matches!(prefix, 1 | 3));
        for m in 0..16 {
            for n in 0..16 {
                let place = 4 * n..4 * n + 4;
                let mut sum =
                    i32::from_le_bytes(self.tiles[to][m][place.clone()].try_into().unwrap_or_default());
                for at in 0..64 {
                    let (k, t) = (at / 4, at % 4);
                    let factors = (self.tiles[a][m][at], self.tiles[b][k][4 * n + t]);
                    let product = wide(factors.0, is_a_signed) * wide(factors.1, is_b_signed);
                    sum = sum.wrapping_add(product);
                }
                self.tiles[to][m][place].copy_from_slice(&sum.to_le_bytes());
            }
        }
        self.products += 1;
    }

    /// `TDPBF16PS`: even and odd products of a sum apart, without subnormal numbers.
    fn halves(&mut self, [to, a, b]: [usize; 3]) {
        let flushed = |value: f32| if value.is_subnormal() { 0.0 } else { value };
        let wide = |row: &[u8; 64], at: usize| {
            flushed(f32::from_bits(u32::from(u16::from_le_bytes([row[2 * at], row[2 * at + 1]])) << 16))
        };
        for m in 0..16 {
            for n in 0..16 {
                let mut parts = [0.0_f32; 2];
                for at in 0..32 {
                    let (k, t) = (at / 2, at % 2);
                    let factors = (wide(&self.tiles[a][m], at), wide(&self.tiles[b][k], 2 * n + t));
                    parts[t] = flushed(factors.0.mul_add(factors.1, parts[t]));
                }
                let place = 4 * n..4 * n + 4;
                let sum = f32::from_le_bytes(self.tiles[to][m][place.clone()].try_into().unwrap_or_default());
                let sum = flushed(flushed(sum) + flushed(parts[0] + parts[1]));
                self.tiles[to][m][place].copy_from_slice(&sum.to_le_bytes());
            }
        }
        self.products += 1;
    }
}
