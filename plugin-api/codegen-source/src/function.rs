//! Functions: signatures, launches, and the declarations before the body.

use chipdock_ir::{AttrValue, Buffer, DType, Expr, Param, Span, Stmt, ThreadAxis, Var, attr};

use crate::memory::Memory;
use crate::writer::{Known, Writer};
use crate::{
    Allocation, AllocationPlace, Answer, Code, DynamicShared, Launch, Parameter, Refusal, Signature,
};

/// Value of `calling_conv` for a kernel.
pub(crate) const KERNEL: i64 = 2;

impl<'a> Writer<'a> {
    /// Writes the current function.
    pub(crate) fn function(&mut self, name: &str, is_called: bool) {
        let is_noalias = self.is_set(attr::NOALIAS);
        self.memory = Memory::of(&self.function.body, is_noalias);
        let signature = self.signature(name, is_called);
        for (position, param) in self.function.params.iter().enumerate() {
            let code = self.dialect.parameter(&signature, position, &mut self.prelude);
            self.know(data_of(param), code);
            if is_called && self.has_viewed_arguments {
                self.view(data_of(param));
            }
        }
        let lines = self.dialect.module_lines(&signature, &mut self.prelude);
        for line in self.expect_function(lines) {
            self.text.line(line);
        }
        let header = self.dialect.signature(&signature, &mut self.prelude);
        let header = self.expect_function(header);
        let hoisted = self.hoisted_allocations();
        for line in hoisted.iter().filter(|(place, _)| *place == AllocationPlace::Module) {
            self.text.line(&line.1);
        }
        if let Some(place) = self.dialect.place(None) {
            self.text.line(place);
        }
        self.text.open(&header);
        for line in self.dialect.preamble(&signature, &mut self.prelude) {
            self.text.line(line);
        }
        for line in hoisted.iter().filter(|(place, _)| *place == AllocationPlace::Function) {
            self.text.line(&line.1);
        }
        for buffer in &self.function.alloc_buffers {
            if self.hoisted.contains(&buffer.data.address()) {
                continue;
            }
            if let Some(line) = self.allocation_of_function(buffer, AllocationPlace::Here) {
                self.text.line(line);
            }
        }
        let body = &self.function.body;
        self.stmt(body);
        if self.function.ret.is_none() {
            self.store_fence();
        }
        self.text.close("");
    }

    fn expect_function<T: Default>(&mut self, answer: Answer<T>) -> T {
        answer.unwrap_or_else(|refusal| {
            self.refuse_function(&refusal.0);
            T::default()
        })
    }

    fn refuse_function(&mut self, message: &str) {
        let message = format!("target {}: {message}", self.dialect.name());
        self.report(Span::NONE, String::new(), message);
    }

    fn is_set(&self, name: &str) -> bool {
        matches!(self.function.attrs.get(name), Some(AttrValue::Bool(true) | AttrValue::Int(1)))
    }

    pub(crate) fn calling_conv(&self) -> i64 {
        match self.function.attrs.get(attr::CALLING_CONV) {
            Some(AttrValue::Int(value)) => *value,
            _ => 0,
        }
    }

    fn signature(&mut self, name: &str, is_called: bool) -> Signature {
        let (function, calling_conv) = (self.function, self.calling_conv());
        let is_of_module = self.dialect.are_parameters_of_module(calling_conv);
        let mut params = Vec::with_capacity(function.params.len());
        for param in &function.params {
            let var = data_of(param);
            let hint = param.name();
            let name = if is_of_module { self.declare_in_module(hint) } else { self.declare(hint) };
            self.positions.bind(var);
            let uses = self.memory.uses(var.address());
            params.push(Parameter {
                name,
                dtype: var.dtype,
                pointer: var.pointer.clone(),
                is_written: uses.is_written,
                is_read: uses.is_read,
                is_atomic: uses.is_atomic,
            });
        }
        let launch = (calling_conv == KERNEL).then(|| self.launch());
        Signature {
            name: name.to_owned(),
            calling_conv,
            params,
            ret: function.ret,
            is_noalias: self.is_set(attr::NOALIAS),
            is_called,
            is_cold: self.is_set(attr::COLD),
            is_no_inline: self.is_set(attr::NO_INLINE),
            launch,
        }
    }

    // -- launches ---------------------------------------------------------------------------------

    fn launch(&mut self) -> Launch {
        let told: Vec<&str> = match self.function.attrs.get(attr::KERNEL_LAUNCH_PARAMS) {
            Some(AttrValue::List(list)) => list
                .iter()
                .filter_map(|value| if let AttrValue::Str(text) = value { Some(&**text) } else { None })
                .collect(),
            _ => Vec::new(),
        };
        let (mut block, mut axes) = ([Some(1); 3], Vec::new());
        for (axis, extent) in self.memory.launched.clone() {
            if !told.contains(&axis.name()) {
                self.refuse_function(&format!("the launch does not tell the extent of {axis}"));
            }
            axes.push(axis);
            let extent = extent.and_then(|extent| u64::try_from(extent).ok());
            match axis {
                ThreadAxis::ThreadX => block[0] = extent,
                ThreadAxis::ThreadY => block[1] = extent,
                ThreadAxis::ThreadZ => block[2] = extent,
                _ => {}
            }
        }
        Launch {
            block,
            axes,
            is_cooperative: told.contains(&attr::COOPERATIVE_LAUNCH),
            dynamic_shared: self.dynamic_shared(told.contains(&attr::DYNAMIC_SHARED_MEMORY)),
            uses_warp: self.memory.uses_warp,
        }
    }

    /// Returns the only buffer whose size is given at launch, and declares its name.
    fn dynamic_shared(&mut self, is_told: bool) -> Option<DynamicShared> {
        let all = self.function.alloc_buffers.iter().chain(&self.memory.allocations);
        let dynamic: Vec<Buffer> = all.filter(|buffer| buffer.scope.is_dynamic_shared()).cloned().collect();
        if dynamic.len() > 1 {
            self.refuse_function("has one buffer of dynamic shared memory in a kernel; merge them first");
        }
        let Some(buffer) = dynamic.first() else {
            return is_told.then(|| DynamicShared {
                name: self.declare_in_module("dynamic_shared"),
                element: DType::UINT8,
                count: None,
                uses: Default::default(),
            });
        };
        if !is_told {
            self.refuse_function(&format!(
                "the launch does not tell the bytes of dynamic shared memory of buffer {}",
                buffer.name
            ));
        }
        let (name, address) = (self.declare_in_module(&buffer.name), buffer.data.address());
        let element = buffer.dtype.scalar();
        self.vars.insert(address, Known { code: Code::primary(name.clone()), element: Some(element) });
        self.hoisted.insert(address);
        let count = buffer.constant_size().map(|count| count.saturating_mul(buffer.dtype.lanes.into()));
        Some(DynamicShared { name, element, count, uses: self.memory.uses(address) })
    }

    /// Declares a constant for the index of a thread.
    pub(crate) fn thread(&mut self, s: &Stmt, var: &'a Var, axis: ThreadAxis, extent: &Expr, body: &'a Stmt) {
        let answer = self.dialect.thread_index(axis, var.dtype, &mut self.prelude).and_then(|code| {
            if self.calling_conv() != KERNEL {
                return Err(Refusal::new(format!("launches {axis} in kernels alone")));
            }
            Ok((code, self.dialect.value_type(var.dtype, &mut self.prelude)?))
        });
        let code = match self.expect_stmt(s, answer) {
            Some((code, value_type)) if self.usage.uses(var.address()) => {
                let name = self.declare(&var.name);
                self.text.line(self.dialect.constant(&value_type, &name, &code));
                Code::primary(name)
            }
            Some((code, _)) => code,
            None => Code::primary("0"),
        };
        self.know(var, code);
        let last = self.ranges.of(extent).1.saturating_sub(1);
        self.ranges.bind(var, (0, last.max(0)));
        self.positions.bind(var);
        self.stmt(body);
    }

    // -- allocations ------------------------------------------------------------------------------

    /// Declares the buffers that the dialect declares elsewhere than at their allocation.
    fn hoisted_allocations(&mut self) -> Vec<(AllocationPlace, String)> {
        let mut lines = Vec::new();
        let all: Vec<Buffer> =
            self.function.alloc_buffers.iter().chain(&self.memory.allocations).cloned().collect();
        for buffer in all {
            let (place, address) = (self.dialect.allocation_place(&buffer.scope), buffer.data.address());
            let is_declared = self.hoisted.contains(&address) || !self.usage.uses(address);
            if place == AllocationPlace::Here || is_declared {
                continue;
            }
            lines.extend(self.allocation_of_function(&buffer, place).map(|line| (place, line)));
        }
        lines
    }

    fn allocation_of_function(&mut self, buffer: &Buffer, place: AllocationPlace) -> Option<String> {
        match self.allocate(buffer, place) {
            Ok(line) => Some(line),
            Err(refusal) => {
                let message = format!("target {}: {}", self.dialect.name(), refusal.0);
                self.report(Span::NONE, buffer.name.to_string(), message);
                None
            }
        }
    }

    /// The declaration of a buffer.
    pub(crate) fn allocate(&mut self, buffer: &Buffer, place: AllocationPlace) -> Answer<String> {
        let address = buffer.data.address();
        if place != AllocationPlace::Here {
            self.hoisted.insert(address);
        }
        let hint = &buffer.name;
        let is_of_module = place == AllocationPlace::Module;
        let name = if is_of_module { self.declare_in_module(hint) } else { self.declare(hint) };
        let known = Known { code: Code::primary(name.clone()), element: Some(buffer.dtype.scalar()) };
        self.vars.insert(address, known);
        let Some(count) = buffer.constant_size() else {
            return Err(Refusal::new(format!(
                "buffer {} is allocated with a size that is not constant; lower it to workspace",
                buffer.name
            )));
        };
        let count = count.max(0).saturating_mul(buffer.dtype.lanes.into()).max(1);
        let allocation = Allocation { name: &name, buffer, count, uses: self.memory.uses(address) };
        self.dialect.allocation(&allocation, &mut self.prelude)
    }
}

/// The variable that a parameter binds: a scalar, or a pointer.
pub(crate) fn data_of(param: &Param) -> &Var {
    match param {
        Param::Buffer(buffer) => &buffer.data,
        Param::Var(var) => var,
    }
}
