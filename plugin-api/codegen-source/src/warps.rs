//! The lane of a warp that a shuffle reads.

use chipdock_ir::Op;

use crate::{Code, Expressions, Infix};

/// The lane that a shuffle reads, computed from this thread's lane, the shuffle's argument and the
/// number of lanes in a group, a power of two; all are unsigned integers of 32 bits. A lane outside
/// the group is replaced by this thread's own.
#[must_use]
pub fn shuffled_lane<E: Expressions + ?Sized>(dialect: &E, op: Op, [own, lane, width]: [&Code; 3]) -> Code {
    // A lane's number within its group.
    let last = Code::infix(Infix::Sub, width, &Code::primary("1u"));
    let within = Code::infix(Infix::BitAnd, own, &last);
    let (from, is_there) = match op {
        Op::WarpShuffle => {
            let base = Code::infix(Infix::Sub, own, &within);
            return Code::infix(Infix::Add, &base, &Code::infix(Infix::BitAnd, lane, &last));
        }
        Op::WarpShuffleUp => {
            (Code::infix(Infix::Sub, own, lane), Code::infix(Infix::GreaterEqual, &within, lane))
        }
        Op::WarpShuffleDown => {
            let target = Code::infix(Infix::Add, &within, lane);
            (Code::infix(Infix::Add, own, lane), Code::infix(Infix::Less, &target, width))
        }
        _ => {
            let target = Code::infix(Infix::BitXor, &within, lane);
            (Code::infix(Infix::BitXor, own, lane), Code::infix(Infix::Less, &target, width))
        }
    };
    dialect.choice(&is_there, &from, own)
}
