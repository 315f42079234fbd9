//! Operations of a warp as those of a SIMD group.

use chipdock_codegen_source::{Answer, Code, Infix, Refusal};
use chipdock_ir::{DType, Op};

use super::MslDialect;
use super::types::{one, scalar};

impl MslDialect {
    /// The op as one of SIMD groups; `None` where it is none of a warp.
    pub(super) fn warp_op(&self, op: Op, args: &[(Code, DType)], dtype: DType) -> Option<Answer<Code>> {
        let is_of_warp = matches!(
            op,
            Op::WarpActivemask
                | Op::WarpShuffle
                | Op::WarpShuffleUp
                | Op::WarpShuffleDown
                | Op::WarpShuffleXor
        );
        is_of_warp.then(|| self.simdgroup_op(op, args, dtype))
    }

    fn simdgroup_op(&self, op: Op, args: &[(Code, DType)], dtype: DType) -> Answer<Code> {
        if !self.has_simdgroups {
            return Err(Refusal::new(format!("has {} only with the option supports_simdgroups", op.name())));
        }
        if op == Op::WarpActivemask {
            return Ok(Code::primary("uint(simd_vote::vote_t(simd_active_threads_mask()))"));
        }
        let [_, (value, _), (lane, _), (width, _), ..] = args else {
            return Err(Refusal::new(format!("expected 5 arguments of {}", op.name())));
        };
        if !dtype.is_scalar() || dtype.is_bool() || dtype.bits > 32 || scalar(dtype).is_err() {
            return Err(Refusal::new(format!("has no {} of {dtype}", op.name())));
        }
        let (lane, width, own) = (one("uint", lane), one("uint", width), Code::primary("cd_lane"));
        // A lane's number within its group of `width`, which is a power of two.
        let last = Code::infix(Infix::Sub, &width, &Code::primary("1u"));
        let within = Code::infix(Infix::BitAnd, &own, &last);
        let from = match op {
            Op::WarpShuffle => {
                let base = Code::infix(Infix::Sub, &own, &within);
                Code::infix(Infix::Add, &base, &Code::infix(Infix::BitAnd, &lane, &last))
            }
            Op::WarpShuffleUp => {
                let is_there = Code::infix(Infix::GreaterEqual, &within, &lane);
                Code::ternary(&is_there, &Code::infix(Infix::Sub, &own, &lane), &own)
            }
            Op::WarpShuffleDown => {
                let target = Code::infix(Infix::Add, &within, &lane);
                let is_there = Code::infix(Infix::Less, &target, &width);
                Code::ternary(&is_there, &Code::infix(Infix::Add, &own, &lane), &own)
            }
            _ => {
                let target = Code::infix(Infix::BitXor, &within, &lane);
                let is_there = Code::infix(Infix::Less, &target, &width);
                Code::ternary(&is_there, &Code::infix(Infix::BitXor, &own, &lane), &own)
            }
        };
        Ok(Code::call("simd_shuffle", &[value.clone(), one("ushort", &from)]))
    }
}
