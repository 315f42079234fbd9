//! Runs calls of functions that every host has: reads their arguments as values (INT-I11).

use super::{Frame, Machine, Stop};
use crate::code::{HostArg, HostArgs, Reg};
use crate::error::ErrorKind;
use crate::memory::{self, Fault};
use crate::scalar::{self, Lane};
use crate::sort::{self, HostFunction, Tensor, Value};
use chipdock_ir::{DType, TypeCode};

/// Type indices of TVM-FFI.
const INT: i32 = 1;
const BOOL: i32 = 2;
const FLOAT: i32 = 3;
const DLTENSOR: i32 = 7;
const RAW_STR: i32 = 8;
/// Size of a packed value in bytes.
const ANY_BYTES: usize = 16;
/// The greatest size of a text in bytes, and number of axes of a tensor: an argument with more is
/// no text or no tensor.
const TEXT_BYTES_MAX: usize = 256;
const AXES_MAX: usize = 64;

impl<'c> Machine<'c> {
    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn text<const B: bool>(&mut self, frame: &mut Frame<'c>, dst: Reg, text: u32) -> Stop<()> {
        let text = frame.function.texts.get(text as usize).cloned().unwrap_or_default();
        let bytes = text.bytes().chain([0]).collect();
        let space = self.memory.fill(bytes, 1).map_err(|wanted| self.memory_limit(frame, wanted))?;
        frame.set::<B>(dst, (memory::pointer(space, 0), 0.0));
        Ok(())
    }

    /// Gives the address of a constant: one memory, however often it is reached.
    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn constant<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        dst: Reg,
        constant: u32,
    ) -> Stop<()> {
        let Some(data) = frame.function.arrays.get(constant as usize) else { return Ok(()) };
        let key = data.bytes().as_ptr() as usize;
        let space = match self.constants.get(&key) {
            Some(space) => *space,
            None => {
                let filled = self.memory.fill_constant(data.bytes());
                let space = filled.map_err(|wanted| self.memory_limit(frame, wanted))?;
                // Arrays without bytes may have one address.
                if !data.bytes().is_empty() {
                    self.constants.insert(key, space);
                }
                space
            }
        };
        frame.set::<B>(dst, (memory::pointer(space, 0), 0.0));
        Ok(())
    }

    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn call_host<const B: bool>(&mut self, frame: &Frame<'c>, call: u32) -> Stop<()> {
        let Some(call) = frame.function.calls.get(call as usize) else {
            return Err(self.error(frame, ErrorKind::Malformed { what: "a call of no function".into() }));
        };
        let args = match &call.args {
            HostArgs::Written(args) => {
                args.iter().map(|arg| self.written(frame, arg)).collect::<Stop<Vec<Value>>>()?
            }
            HostArgs::Packed { values, count } => self.packed(frame, *values, *count)?,
        };
        let refused =
            |message| self.error(frame, ErrorKind::HostCall { function: call.function.name(), message });
        let plan = call.function.plan(&args).map_err(refused)?;
        let n = plan.n_elements();
        self.steps_left = self
            .steps_left
            .checked_sub(n)
            .ok_or_else(|| self.error(frame, ErrorKind::StepLimit { steps_max: self.limits.steps_max }))?;
        for line in plan.lines() {
            self.sort_line::<B>(frame, call.function, &plan, &line)?;
        }
        Ok(())
    }

    /// Sorts the elements of one line, and stores the requested results.
    fn sort_line<const B: bool>(
        &mut self,
        frame: &Frame<'c>,
        function: HostFunction,
        plan: &sort::Plan,
        line: &[usize],
    ) -> Stop<()> {
        let fail = |machine: &Self, message| {
            machine.error(frame, ErrorKind::HostCall { function: function.name(), message })
        };
        let mut n = plan.extent();
        if let Some(counts) = &plan.counts {
            let (register, bound) = self.element::<B>(frame, counts, &plan.count_at(line))?;
            self.lost |= bound > 0.0;
            n = plan
                .counted(scalar::to_int(register, counts.dtype))
                .map_err(|message| fail(self, message))?;
        }
        let elements: Vec<(u64, f64)> = (0..n)
            .map(|at| self.element::<B>(frame, &plan.input, &plan.at(line, at)))
            .collect::<Stop<_>>()?;
        let order = sort::order(&elements, plan.input.dtype, plan.is_ascending);
        let bound = elements.iter().fold(0.0_f64, |most, (_, bound)| most.max(*bound));
        let taken = plan.taken.unwrap_or(plan.extent());
        for rank in 0..taken.min(plan.extent()) {
            let index = order.get(rank).copied().unwrap_or(rank);
            let at = plan.at(line, rank);
            if let (Some(values), Some((value, _))) = (&plan.values, elements.get(index)) {
                self.put::<B>(frame, values, &at, (*value, bound))?;
            }
            if let Some(indices) = &plan.indices {
                let value = scalar::from_int(index as i128, indices.dtype);
                let bound = if bound > 0.0 { f64::INFINITY } else { 0.0 };
                self.put::<B>(frame, indices, &at, (value, bound))?;
            }
        }
        Ok(())
    }

    fn place(&self, frame: &Frame<'c>, tensor: &Tensor, at: &[usize]) -> Stop<(usize, usize, Lane)> {
        let outside = || self.bad_address(frame, Fault::Outside, None);
        let lane = Lane::of(tensor.dtype).ok_or_else(outside)?;
        let (space, begin) = memory::pointee(tensor.data).ok_or_else(outside)?;
        let bytes = tensor.element(at).and_then(|element| element.checked_mul(lane.size_bytes() as i64));
        let offset =
            bytes.and_then(|bytes| usize::try_from(begin as i64 + bytes).ok()).ok_or_else(outside)?;
        if space >= self.memory.spaces.len() {
            return Err(outside());
        }
        Ok((space, offset, lane))
    }

    fn element<const B: bool>(&self, frame: &Frame<'c>, tensor: &Tensor, at: &[usize]) -> Stop<(u64, f64)> {
        let (space, offset, lane) = self.place(frame, tensor, at)?;
        let loaded = self.memory.spaces[space].load::<B>(offset, lane);
        loaded.map_err(|fault| self.bad_address(frame, fault, Some((space, offset, lane))))
    }

    fn put<const B: bool>(
        &mut self,
        frame: &Frame<'c>,
        tensor: &Tensor,
        at: &[usize],
        value: (u64, f64),
    ) -> Stop<()> {
        let (space, offset, lane) = self.place(frame, tensor, at)?;
        let stored = self.memory.spaces[space].store::<B>(offset, lane, value);
        stored.map_err(|fault| self.bad_address(frame, fault, Some((space, offset, lane))))
    }

    fn written(&self, frame: &Frame<'c>, arg: &HostArg) -> Stop<Value> {
        Ok(match arg {
            HostArg::Text(text) => Value::Text(text.to_string()),
            HostArg::Number(reg, dtype) if dtype.is_float() => {
                Value::Float(scalar::to_f64(frame.get(*reg), *dtype))
            }
            HostArg::Number(reg, dtype) => Value::Int(scalar::to_int(frame.get(*reg), *dtype)),
            HostArg::Tensor { data, dtype, shape, strides, offset } => {
                let size = |reg: &Reg| frame.get(*reg) as i64;
                let sizes = |regs: &[Reg]| regs.iter().map(size).collect::<Vec<i64>>();
                let extents = self.extents_of(frame, &sizes(shape))?;
                let strides = strides.as_deref().map(sizes);
                Value::Tensor(Tensor::new(frame.get(*data), *dtype, extents, strides, size(offset)))
            }
        })
    }

    fn extents_of(&self, frame: &Frame<'c>, shape: &[i64]) -> Stop<Vec<usize>> {
        let extents = shape.iter().map(|extent| usize::try_from(*extent)).collect::<Result<_, _>>();
        extents.map_err(|_| {
            self.error(
                frame,
                ErrorKind::BadExtent { buffer: "of a packed call".into(), shape: shape.to_vec() },
            )
        })
    }

    /// Reads the packed values at an address.
    fn packed(&self, frame: &Frame<'c>, values: Reg, count: Reg) -> Stop<Vec<Value>> {
        let count = usize::try_from(frame.get(count) as i64).unwrap_or(0);
        let at = |offset: usize, lane| self.behind_pointer(frame, frame.get(values), offset, lane);
        let mut all = Vec::new();
        for slot in 0..count {
            let value = at(slot * ANY_BYTES + 8, Lane::U64)?;
            all.push(match at(slot * ANY_BYTES, Lane::I32)? as i32 {
                INT | BOOL => Value::Int(i128::from(value as i64)),
                FLOAT => Value::Float(f64::from_bits(value)),
                DLTENSOR => Value::Tensor(self.packed_tensor(frame, value)?),
                RAW_STR => Value::Text(self.packed_text(frame, value)?),
                type_index => Value::Other(type_index),
            });
        }
        Ok(all)
    }

    fn packed_text(&self, frame: &Frame<'c>, pointer: u64) -> Stop<String> {
        let mut bytes = Vec::new();
        while bytes.len() < TEXT_BYTES_MAX {
            match self.behind_pointer(frame, pointer, bytes.len(), Lane::U8)? as u8 {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Reads the DLTensor at an address.
    fn packed_tensor(&self, frame: &Frame<'c>, pointer: u64) -> Stop<Tensor> {
        let field = |offset, lane| self.behind_pointer(frame, pointer, offset, lane);
        let axes = usize::try_from(field(16, Lane::I32)? as i64).unwrap_or(usize::MAX);
        let (code, bits, lanes) = (field(20, Lane::U8)?, field(21, Lane::U8)?, field(22, Lane::U16)?);
        let code = match code {
            0 => TypeCode::Int,
            1 => TypeCode::UInt,
            2 => TypeCode::Float,
            4 => TypeCode::BFloat,
            6 => TypeCode::Bool,
            _ => TypeCode::Handle,
        };
        let dtype = DType { code, bits: bits as u8, lanes: lanes as u16 };
        if axes > AXES_MAX {
            return Err(self.bad_address(frame, Fault::Outside, None));
        }
        let list = |pointer: u64| -> Stop<Vec<i64>> {
            (0..axes)
                .map(|axis| self.behind_pointer(frame, pointer, axis * 8, Lane::I64).map(|size| size as i64))
                .collect()
        };
        let shape = list(field(24, Lane::Handle)?)?;
        let strides = match field(32, Lane::Handle)? {
            0 => None,
            pointer => Some(list(pointer)?),
        };
        let offset =
            field(40, Lane::U64)? as i64 / Lane::of(dtype).map_or(1, |lane| lane.size_bytes() as i64);
        let extents = self.extents_of(frame, &shape)?;
        Ok(Tensor::new(field(0, Lane::Handle)?, dtype, extents, strides, offset))
    }

    fn behind_pointer(&self, frame: &Frame<'c>, pointer: u64, offset: usize, lane: Lane) -> Stop<u64> {
        let place = memory::pointee(pointer).filter(|(space, _)| *space < self.memory.spaces.len());
        let Some((space, begin)) = place else {
            return Err(self.bad_address(frame, Fault::Outside, None));
        };
        let at = begin.saturating_add(offset);
        let loaded = self.memory.spaces[space].load::<false>(at, lane);
        loaded
            .map(|(value, _)| value)
            .map_err(|fault| self.bad_address(frame, fault, Some((space, at, lane))))
    }
}
