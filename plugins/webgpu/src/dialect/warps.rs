//! Operations of a warp as those of a subgroup.

use chipdock_codegen_source::{Answer, Code, Infix, Refusal};
use chipdock_ir::{DType, Op};

use super::WgslDialect;
use super::types::{call, one, scalar};

impl WgslDialect {
    /// The op as one of subgroups; `None` where it is none of a warp.
    pub(super) fn warp_op(&self, op: Op, args: &[(Code, DType)], dtype: DType) -> Option<Answer<Code>> {
        let is_of_warp = matches!(
            op,
            Op::WarpActivemask
                | Op::WarpShuffle
                | Op::WarpShuffleUp
                | Op::WarpShuffleDown
                | Op::WarpShuffleXor
        );
        is_of_warp.then(|| self.subgroup_op(op, args, dtype))
    }

    fn subgroup_op(&self, op: Op, args: &[(Code, DType)], dtype: DType) -> Answer<Code> {
        if self.subgroup_size.is_none() {
            return Err(Refusal::new(format!("has {} only with the option supports_subgroups", op.name())));
        }
        self.uses_subgroups.set(true);
        if op == Op::WarpActivemask {
            return Ok(Code::primary("subgroupBallot(true).x"));
        }
        let [_, (value, _), (lane, lane_type), (width, width_type), ..] = args else {
            return Err(Refusal::new(format!("expected 5 arguments of {}", op.name())));
        };
        if scalar(dtype)? == "bool" || !dtype.is_scalar() {
            return Err(Refusal::new(format!("has no {} of {dtype}", op.name())));
        }
        let unsigned = |code: &Code, dtype: &DType| -> Answer<Code> {
            Ok(if scalar(*dtype)? == "u32" { code.clone() } else { one("u32", code) })
        };
        let (lane, width) = (unsigned(lane, lane_type)?, unsigned(width, width_type)?);
        let own = Code::primary("cd_lane");
        // A lane's number within its group of `width`, which is a power of two.
        let last = Code::infix(Infix::Sub, &width, &Code::primary("1u"));
        let within = Code::infix(Infix::BitAnd, &own, &last);
        let base = Code::infix(Infix::Sub, &own, &within);
        let (from, is_there) = match op {
            Op::WarpShuffle => {
                let from = Code::infix(Infix::Add, &base, &Code::infix(Infix::BitAnd, &lane, &last));
                return Ok(call("subgroupShuffle", &[value.clone(), from]));
            }
            Op::WarpShuffleUp => {
                (Code::infix(Infix::Sub, &own, &lane), Code::infix(Infix::GreaterEqual, &within, &lane))
            }
            Op::WarpShuffleDown => {
                let target = Code::infix(Infix::Add, &within, &lane);
                (Code::infix(Infix::Add, &own, &lane), Code::infix(Infix::Less, &target, &width))
            }
            _ => {
                let target = Code::infix(Infix::BitXor, &within, &lane);
                let is_there = Code::infix(Infix::Less, &target, &width);
                (Code::infix(Infix::BitXor, &own, &lane), is_there)
            }
        };
        let from = call("select", &[own, from, is_there]);
        Ok(call("subgroupShuffle", &[value.clone(), from]))
    }
}
