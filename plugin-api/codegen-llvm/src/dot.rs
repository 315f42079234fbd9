//! Dot products (`dot_add`) by the instructions that processors have for them.

use chipdock_ir::op::DotProduct;
use chipdock_ir::{DType, Expr};

use crate::constants::integer;
use crate::types::register;
use crate::value::Value;
use crate::writer::Writer;

/// The instructions of a processor that add up products of groups of lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DotInstructions {
    /// None.
    #[default]
    None,
    /// Those of x86 from AVX2 on, whose `vpmaddwd` adds pairs of products of int16.
    X86 {
        /// Greatest width of a vector of integers, 256 or 512 bits.
        bits: u16,
        /// Greatest width for `vpdpbusd` and `vpdpwssd`, 256 (AVX-VNNI) or 512 bits; 0 without
        /// them.
        vnni_bits: u16,
        /// Whether it has `vdpbf16ps`.
        has_bf16: bool,
    },
    /// Those of AArch64, on vectors of 128 bits.
    AArch64 {
        /// Whether it has `sdot` and `udot` (feature dotprod).
        has_dot: bool,
        /// Whether it has `usdot` (feature i8mm).
        has_mixed: bool,
        /// Whether it has `bfdot` (feature bf16).
        has_bf16: bool,
    },
}

impl DotInstructions {
    /// Returns true if this crate writes that dot product by such instructions.
    #[must_use]
    pub fn has(self, dot: DotProduct) -> bool {
        match (self, dot.a) {
            (Self::X86 { has_bf16, .. }, DType::BFLOAT16) => has_bf16,
            (Self::X86 { .. }, _) => dot.sum == DType::INT32,
            (Self::AArch64 { has_bf16, .. }, DType::BFLOAT16) => has_bf16,
            (Self::AArch64 { has_dot, .. }, DType::INT8 | DType::UINT8) => has_dot,
            _ => false,
        }
    }

    /// Numbers of sums in one instruction, the greatest first.
    fn widths(self) -> &'static [u16] {
        match self {
            Self::X86 { bits: 512, .. } => &[16, 8, 4],
            Self::X86 { .. } => &[8, 4],
            _ => &[4],
        }
    }
}

impl<'a> Writer<'a> {
    /// `dot_add(c, a, b)`.
    pub(crate) fn dot_add(&mut self, e: &'a Expr, args: &'a [Expr]) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
        let [c, a, b] = values.as_slice() else { return self.refuse(e, "dot_add takes three arguments") };
        let set = self.target.dot_instructions();
        let Some(dot) = DotProduct::of(c.dtype, a.dtype, b.dtype).filter(|dot| set.has(*dot)) else {
            let message = format!(
                "has no dot_add of {} and {}; lower it with the pass lower_intrinsics first",
                a.dtype, b.dtype
            );
            return self.refuse(e, message);
        };
        if !self.has_type(e, e.dtype, c.dtype) {
            return Value::new("poison", e.dtype);
        }
        let widths = set.widths();
        let (lanes, mut at) = (c.dtype.lanes, 0);
        let mut sum: Option<Value> = None;
        while at < lanes {
            let left = lanes - at;
            let width = widths.iter().copied().find(|width| *width <= left).unwrap_or(4);
            let c = self.taken(c, at, width);
            let [a, b] = [a, b].map(|factor| self.taken(factor, at * dot.group, width * dot.group));
            let part = self.dot_part(set, dot, &c, &a, &b);
            sum = Some(self.placed(sum, &part, at, e.dtype));
            at += width;
        }
        sum.unwrap_or_else(|| Value::new("poison", e.dtype))
    }

    /// The lanes of a value from `from` on, zeros where it has no more.
    fn taken(&mut self, value: &Value, from: u16, lanes: u16) -> Value {
        let dtype = value.dtype.with_lanes(lanes);
        if value.dtype.lanes == 1 {
            let zeros = Value::new("zeroinitializer", dtype);
            let text = format!("insertelement {}, {}, i64 0", zeros.typed(), value.typed());
            return self.compute(dtype, text);
        }
        if from == 0 && lanes == value.dtype.lanes {
            return value.clone();
        }
        let all = usize::from(value.dtype.lanes);
        let picks: Vec<Option<usize>> =
            (0..lanes).map(|lane| Some(usize::from(from + lane).min(all))).collect();
        self.shuffled(value, &Value::new("zeroinitializer", value.dtype), &picks, dtype)
    }

    /// The lanes so far, and those of a part from `at` on, as many as the type has.
    fn placed(&mut self, before: Option<Value>, part: &Value, at: u16, dtype: DType) -> Value {
        if dtype.lanes == 1 {
            return self.compute(dtype, format_args!("extractelement {}, i64 0", part.typed()));
        }
        if at == 0 && part.dtype.lanes == dtype.lanes {
            return part.clone();
        }
        let end = dtype.lanes.min(at + part.dtype.lanes);
        let own = |lane: u16| (at..end).contains(&lane).then(|| usize::from(lane - at));
        let spread: Vec<Option<usize>> = (0..dtype.lanes).map(own).collect();
        let part = self.shuffled(part, &Value::new("poison", part.dtype), &spread, dtype);
        let Some(before) = before else { return part };
        let both: Vec<Option<usize>> = (0..end)
            .map(|lane| Some(usize::from(if lane < at { lane } else { dtype.lanes + lane })))
            .chain((end..dtype.lanes).map(|_| None))
            .collect();
        self.shuffled(&before, &part, &both, dtype)
    }

    /// A sum of as many lanes as an instruction has.
    fn dot_part(&mut self, set: DotInstructions, dot: DotProduct, c: &Value, a: &Value, b: &Value) -> Value {
        let bits = 32 * c.dtype.lanes;
        match set {
            DotInstructions::X86 { .. } if dot.a == DType::BFLOAT16 => {
                let name = format!("llvm.x86.avx512bf16.dpbf16ps.{bits}");
                self.bfloat_dot(&name, c, a, b)
            }
            DotInstructions::X86 { vnni_bits, .. } if vnni_bits >= bits => self.vnni(dot, c, a, b),
            DotInstructions::X86 { .. } => self.pairs(dot, c, a, b),
            DotInstructions::AArch64 { .. } if dot.a == DType::BFLOAT16 => {
                self.bfloat_dot("llvm.aarch64.neon.bfdot.v4f32.v8bf16", c, a, b)
            }
            DotInstructions::AArch64 { has_mixed, .. } => self.neon(dot, has_mixed, c, a, b),
            DotInstructions::None => Value::new("poison", c.dtype),
        }
    }

    fn bfloat_dot(&mut self, name: &str, c: &Value, a: &Value, b: &Value) -> Value {
        let factors = format!("<{} x bfloat>", a.dtype.lanes);
        let [a, b] =
            [a, b].map(|half| self.instruction(format_args!("bitcast {} to {factors}", half.typed())));
        let sums = register(c.dtype);
        let callee = self.declare(&sums, name, &format!("{sums}, {factors}, {factors}"));
        self.compute(
            c.dtype,
            format_args!("call {sums} {callee}({}, {factors} {a}, {factors} {b})", c.typed()),
        )
    }

    /// By `vpdpbusd`, of uint8 and int8: another type is moved by 128, and what that adds is taken
    /// away again.
    fn vnni(&mut self, dot: DotProduct, c: &Value, a: &Value, b: &Value) -> Value {
        let bits = 32 * c.dtype.lanes;
        if dot.group == 2 {
            return self.int_dot(&format!("llvm.x86.avx512.vpdpwssd.{bits}"), c, a, b, true);
        }
        let name = format!("llvm.x86.avx512.vpdpbusd.{bits}");
        let high = |dtype: DType| integer(-128, DType::INT8.with_lanes(dtype.lanes));
        let (moved_a, moved_b, extra) = match (dot.a, dot.b) {
            (DType::UINT8, DType::INT8) => return self.int_dot(&name, c, a, b, true),
            (DType::INT8, _) => {
                (self.operation("xor", a, &high(a.dtype)), b.clone(), [high(a.dtype), b.clone()])
            }
            _ => (a.clone(), self.operation("xor", b, &high(b.dtype)), [a.clone(), high(b.dtype)]),
        };
        let zeros = Value::new("zeroinitializer", c.dtype);
        let extra = self.int_dot(&name, &zeros, &extra[0], &extra[1], true);
        let sum = self.int_dot(&name, c, &moved_a, &moved_b, true);
        self.operation("sub", &sum, &extra)
    }

    /// A call of an intrinsic on integers; `in_words` where its factors have the type of the sum.
    fn int_dot(&mut self, name: &str, c: &Value, a: &Value, b: &Value, in_words: bool) -> Value {
        let sums = register(c.dtype);
        let factors = if in_words { sums.clone() } else { register(a.dtype) };
        let [a, b] = [a, b].map(|factor| {
            if register(factor.dtype) == factors {
                return factor.text.clone();
            }
            self.instruction(format_args!("bitcast {} to {factors}", factor.typed()))
        });
        let callee = self.declare(&sums, name, &format!("{sums}, {factors}, {factors}"));
        self.compute(
            c.dtype,
            format_args!("call {sums} {callee}({}, {factors} {a}, {factors} {b})", c.typed()),
        )
    }

    /// By `vpmaddwd`: bytes as int16, those in even places and those in odd ones.
    fn pairs(&mut self, dot: DotProduct, c: &Value, a: &Value, b: &Value) -> Value {
        if dot.group == 2 {
            let products = self.multiply_add(a, b, c.dtype);
            return self.operation("add", c, &products);
        }
        let words = DType::INT16.with_lanes(2 * c.dtype.lanes);
        let [a, b] = [(a, dot.a), (b, dot.b)].map(|(factor, dtype)| {
            let words_text = register(words);
            let both = self.compute(words, format_args!("bitcast {} to {words_text}", factor.typed()));
            let eight = integer(8, words);
            if dtype.is_uint() {
                let even = self.operation("and", &both, &integer(255, words));
                return [even, self.operation("lshr", &both, &eight)];
            }
            let even = self.operation("shl", &both, &eight);
            [self.operation("ashr", &even, &eight), self.operation("ashr", &both, &eight)]
        });
        let products = [0, 1].map(|place| self.multiply_add(&a[place], &b[place], c.dtype));
        let sum = self.operation("add", &products[0], &products[1]);
        self.operation("add", c, &sum)
    }

    fn multiply_add(&mut self, a: &Value, b: &Value, dtype: DType) -> Value {
        let name = match dtype.lanes {
            4 => "llvm.x86.sse2.pmadd.wd",
            8 => "llvm.x86.avx2.pmadd.wd",
            _ => "llvm.x86.avx512.pmaddw.d.512",
        };
        let (sums, factors) = (register(dtype), register(a.dtype));
        let callee = self.declare(&sums, name, &format!("{factors}, {factors}"));
        self.compute(dtype, format_args!("call {sums} {callee}({}, {})", a.typed(), b.typed()))
    }

    /// By `sdot` and `udot`; uint8 times int8 by `usdot`, or with 128 taken away and added again in
    /// two halves.
    fn neon(&mut self, dot: DotProduct, has_mixed: bool, c: &Value, a: &Value, b: &Value) -> Value {
        let of = |name: &str| format!("llvm.aarch64.neon.{name}.v4i32.v16i8");
        match (dot.a, dot.b) {
            (DType::INT8, _) => self.int_dot(&of("sdot"), c, a, b, false),
            (_, DType::UINT8) => self.int_dot(&of("udot"), c, a, b, false),
            _ if has_mixed => self.int_dot(&of("usdot"), c, a, b, false),
            _ => {
                let bytes = DType::INT8.with_lanes(a.dtype.lanes);
                let moved = self.operation("xor", a, &integer(-128, bytes));
                let mut sum = self.int_dot(&of("sdot"), c, &moved, b, false);
                for _ in 0..2 {
                    sum = self.int_dot(&of("sdot"), &sum, &integer(64, bytes), b, false);
                }
                sum
            }
        }
    }
}
