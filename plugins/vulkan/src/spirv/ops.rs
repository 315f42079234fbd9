//! Ops: dispatch to the parts that write them, and operations of a warp.

use chipdock_ir::op::Gives;
use chipdock_ir::{DType, Expr, ExprKind, Op as IrOp};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, Op, Scope, Word};

use super::emitter::{Type, id};
use super::value::{Value, register};
use super::writer::Writer;

impl<'a> Writer<'a> {
    /// A call of an op.
    pub(super) fn op(&mut self, e: &'a Expr, op: IrOp, args: &'a [Expr]) -> Value {
        if !op.takes_count(args.len()) {
            let why = format!("{} expects {} arguments, found {}", op.name(), op.arity(), args.len());
            return self.refuse(e, why);
        }
        match op {
            IrOp::IfThenElse => return self.if_then_else(e, args),
            IrOp::ShiftLeft | IrOp::ShiftRight => return self.shift(e, op, &args[0], &args[1]),
            IrOp::AtomicAdd => return self.atomic_add(e, args),
            _ if op.threads().is_of_warp() => return self.warp_op(e, op, args),
            _ => {}
        }
        if args.is_empty()
            || args.iter().any(|arg| matches!(arg.kind, ExprKind::Str(_)) || arg.dtype.is_handle())
        {
            return self.refuse(e, format!("has no {}", op.name()));
        }
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
        let first = values[0].dtype;
        let expected = match op.info().gives {
            Gives::Stated => e.dtype,
            Gives::Exactly(dtype) => dtype,
            Gives::LanesOf(_, dtype) => dtype.with_lanes(first.lanes),
            Gives::Like(_) | Gives::Nothing => first,
        };
        // An op whose operands have different types is a function that passes lower, or nothing
        // does.
        let is_uniform = values.iter().all(|arg| arg.dtype == first);
        if first.is_float() && !is_uniform {
            return self.refuse(e, format!("has no {} of {first}", op.name()));
        }
        if !self.has_type(e, e.dtype, expected)
            || values.iter().any(|arg| !self.has_type(e, arg.dtype, first))
        {
            return self.placeholder(e.dtype);
        }
        match op {
            IrOp::Reinterpret => self.reinterpretation(e, &values[0]),
            IrOp::Likely | IrOp::ThreadInvariant => values[0].clone(),
            _ if first.is_float() => self.float_op(e, op, &values),
            _ if first.integer_range().is_some() => self.int_op(e, op, &values),
            _ => self.refuse(e, format!("has no {} of {first}", op.name())),
        }
    }

    // -- warps ------------------------------------------------------------------------------------

    /// An operation of a warp as one of a subgroup.
    fn warp_op(&mut self, e: &'a Expr, op: IrOp, args: &'a [Expr]) -> Value {
        if self.environment.subgroup_size.is_none() {
            let why = format!(
                "has {} only where thread_warp_size is the size of a subgroup and supported_subgroup_operations has \
                 basic, ballot and shuffle",
                op.name()
            );
            return self.refuse(e, why);
        }
        self.out.needs(Capability::GroupNonUniform);
        let scope = self.out.word(Scope::Subgroup as u32);
        if op == IrOp::WarpActivemask {
            self.out.needs(Capability::GroupNonUniformBallot);
            let yes = self.out.constant_bool(true);
            let of = self.out.type_of(Type::Words(4));
            let operands = vec![Operand::IdScope(scope), id(yes)];
            let mask = self.out.compute(Op::GroupNonUniformBallot, of, operands);
            return Value::one(DType::UINT32, self.part(mask, 0, Type::Int(32)));
        }
        let [_, value, lane, width, ..] = args else {
            return self.refuse(e, format!("expected 5 arguments of {}", op.name()));
        };
        let (value, lane, width) = (self.value(value), self.value(lane), self.value(width));
        let is_index =
            |value: &Value| value.dtype.is_integer() && value.dtype.bits == 32 && value.dtype.is_scalar();
        if !is_index(&lane) || !is_index(&width) || value.dtype != e.dtype {
            return self.refuse(e, format!("has no {} of {}", op.name(), value.dtype));
        }
        self.out.needs(Capability::GroupNonUniformShuffle);
        let from = self.shuffled_lane(op, lane.first(), width.first());
        let dtype = value.dtype;
        self.map(dtype, &value, |w, lane| w.shuffle_lane(scope, dtype.scalar(), lane, from))
    }

    /// The lane that a shuffle reads: of the caller's group of `width` lanes, its own where the
    /// group has no such lane.
    fn shuffled_lane(&mut self, op: IrOp, lane: Word, width: Word) -> Word {
        let of = Type::Int(32);
        let input = self.out.input(BuiltIn::SubgroupLocalInvocationId, of, "lane");
        let type_id = self.out.type_of(of);
        let own = self.out.compute(Op::Load, type_id, vec![id(input)]);
        let one = self.out.word(1);
        let last = self.out.op(Op::ISub, of, &[width, one]);
        let within = self.out.op(Op::BitwiseAnd, of, &[own, last]);
        let (from, is_there) = match op {
            IrOp::WarpShuffle => {
                let first = self.out.op(Op::ISub, of, &[own, within]);
                let lane = self.out.op(Op::BitwiseAnd, of, &[lane, last]);
                return self.out.op(Op::IAdd, of, &[first, lane]);
            }
            IrOp::WarpShuffleUp => (
                self.out.op(Op::ISub, of, &[own, lane]),
                self.out.op(Op::UGreaterThanEqual, Type::Bool, &[within, lane]),
            ),
            IrOp::WarpShuffleDown => {
                let place = self.out.op(Op::IAdd, of, &[within, lane]);
                (
                    self.out.op(Op::IAdd, of, &[own, lane]),
                    self.out.op(Op::ULessThan, Type::Bool, &[place, width]),
                )
            }
            _ => {
                let place = self.out.op(Op::BitwiseXor, of, &[within, lane]);
                (
                    self.out.op(Op::BitwiseXor, of, &[own, lane]),
                    self.out.op(Op::ULessThan, Type::Bool, &[place, width]),
                )
            }
        };
        self.choose(of, is_there, from, own)
    }

    /// Shuffles a lane of a value as words: other types are an extension.
    fn shuffle_lane(&mut self, scope: Word, dtype: DType, lane: Word, from: Word) -> Word {
        let shuffle = |w: &mut Self, word: Word| {
            let of = w.out.type_of(Type::Int(32));
            w.out.compute(Op::GroupNonUniformShuffle, of, vec![Operand::IdScope(scope), id(word), id(from)])
        };
        if dtype.is_bool() {
            let word = self.cast(&Value::one(dtype, lane), DType::UINT32).first();
            let word = shuffle(self, word);
            return self.cast(&Value::one(DType::UINT32, word), dtype).first();
        }
        if dtype.bits == 64 {
            let words = self.words_of(lane).map(|word| shuffle(self, word));
            return self.joined_words(register(dtype), words);
        }
        let unsigned = DType { code: chipdock_ir::TypeCode::UInt, bits: dtype.bits.max(16), lanes: 1 };
        let word = if dtype.is_float() { self.as_bits(lane, dtype, unsigned) } else { lane };
        let word = shuffle(self, word);
        if dtype.is_float() { self.as_bits(word, unsigned, dtype) } else { word }
    }
}
