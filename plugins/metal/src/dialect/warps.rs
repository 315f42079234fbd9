//! Warp operations through SIMD groups.

use chipdock_codegen_source::c_family::scalar;
use chipdock_codegen_source::{Answer, Code, Refusal, shuffled_lane};
use chipdock_ir::{DType, Op};

use super::{MslDialect, one};

impl MslDialect {
    /// The op as an operation of SIMD groups; `None` if it is not a warp operation.
    pub(super) fn warp_op(&self, op: Op, args: &[(Code, DType)], dtype: DType) -> Option<Answer<Code>> {
        op.threads().is_of_warp().then(|| self.simdgroup_op(op, args, dtype))
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
        if !dtype.is_scalar() || dtype.is_bool() || dtype.bits > 32 || scalar(self, dtype).is_err() {
            return Err(Refusal::new(format!("has no {} of {dtype}", op.name())));
        }
        let (lane, width, own) = (one("uint", lane), one("uint", width), Code::primary("cd_lane"));
        let from = shuffled_lane(self, op, [&own, &lane, &width]);
        Ok(Code::call("simd_shuffle", &[value.clone(), one("ushort", &from)]))
    }
}
