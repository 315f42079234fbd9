//! Warp operations through subgroups.

use chipdock_codegen_source::{Answer, Code, Refusal, shuffled_lane};
use chipdock_ir::{DType, Op};

use super::WgslDialect;
use super::types::{call, one, scalar};

impl WgslDialect {
    /// The op as an operation of subgroups; `None` if it is not a warp operation.
    pub(super) fn warp_op(&self, op: Op, args: &[(Code, DType)], dtype: DType) -> Option<Answer<Code>> {
        op.threads().is_of_warp().then(|| self.subgroup_op(op, args, dtype))
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
        let from = shuffled_lane(self, op, [&own, &lane, &width]);
        Ok(call("subgroupShuffle", &[value.clone(), from]))
    }
}
