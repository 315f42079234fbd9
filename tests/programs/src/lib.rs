//! Small random well-formed programs with inputs, for differential tests.
//!
//! [`program`] is a proptest strategy of [`Case`]s: a module with one function `kernel`, and arguments for it. What it
//! promises, whatever is drawn and however far it is shrunk:
//!
//! - **G1** the module validates at [`chipdock_ir::Stage::Blocks`];
//! - **G2** it runs on the interpreter without an error: every access is in bounds, no two iterations of a parallel loop
//!   meet, nothing is read before it is written, every loop ends;
//! - **G3** its reductions stand in blocks as `C[..] = C[..] op x`, so that any order of them is within the bounds;
//! - **G4** a case prints as TVMScript with its inputs, which is also its `Debug` text.
//!
//! A test of a pass runs the module before and after; a test of a backend compares with [`Case::check`].
//!
//! ```
//! use chipdock_ir::interpret::{Arg, Interpreter};
//! use proptest::strategy::{Strategy, ValueTree};
//! use proptest::test_runner::TestRunner;
//!
//! let case = chipdock_test_programs::program().new_tree(&mut TestRunner::deterministic()).unwrap().current();
//! let mut args = case.args.clone();
//! let outcome = Interpreter::new(&case.module).run(&case.function, &mut args).unwrap();
//! let outputs: Vec<_> = outcome.outputs.into_iter().map(|output| output.array).collect();
//! case.check(&outputs).unwrap();
//! ```

mod generate;
mod recipe;

use std::fmt;

use chipdock_ir::interpret::{Arg, Array, InterpretError, Interpreter, Outcome, compare};
use chipdock_ir::{DType, IrModule, Op, print};
use proptest::strategy::Strategy;

/// A program and its inputs.
#[derive(Clone)]
pub struct Case {
    /// The module.
    pub module: IrModule,
    /// The name of its function.
    pub function: String,
    /// One argument per parameter: tensors to read, numbers, then tensors to write (which hold 77 at first).
    pub args: Vec<Arg>,
}

impl Case {
    /// The module as TVMScript and, as comments before it, the arguments.
    #[must_use]
    pub fn text(&self) -> String {
        let names = self.module.function(&self.function).into_iter().flat_map(|function| &function.params);
        let mut text = String::new();
        for (param, arg) in names.zip(&self.args) {
            text.push_str(&match arg {
                Arg::Tensor(array) => format!("# {} = {array:?}\n", param.name()),
                Arg::Int(value) => format!("# {} = {value}\n", param.name()),
                Arg::Float(value) => format!("# {} = {value:?}\n", param.name()),
            });
        }
        text + &print::module(&self.module)
    }

    /// What the interpreter makes of it, with bounds.
    ///
    /// # Errors
    ///
    /// The interpreter's; by G2 there is none, so it is a defect of this crate or of the interpreter.
    pub fn expected(&self) -> Result<Outcome, InterpretError> {
        Interpreter::new(&self.module).with_bounds().run(&self.function, &mut self.args.clone())
    }

    /// Holds the tensors that another left, all of them in the order of the parameters, against the interpreter.
    ///
    /// # Errors
    ///
    /// A text with the first tensor that is off and where, and the whole case.
    pub fn check(&self, actual: &[Array]) -> Result<(), String> {
        let outcome = self.expected().map_err(|error| format!("{error}\n{}", self.text()))?;
        if actual.len() != outcome.outputs.len() {
            return Err(format!("expected {} tensors, found {}", outcome.outputs.len(), actual.len()));
        }
        for (array, output) in actual.iter().zip(&outcome.outputs) {
            compare(array, output)
                .map_err(|mismatch| format!("tensor {}: {mismatch}\n{}", output.name, self.text()))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.text())
    }
}

/// What programs are made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Types of tensors and of what is computed; not empty.
    pub types: Vec<DType>,
    /// Functions of one float that give one.
    pub functions: Vec<Op>,
    /// Whether inputs may be NaN, infinite, subnormal, minus zero.
    pub special_values: bool,
    /// Whether there may be vectorized loops.
    pub vectorized: bool,
    /// Whether there may be `while` loops.
    pub while_loops: bool,
    /// Whether shapes may have a symbolic size.
    pub symbolic: bool,
}

impl Default for Config {
    /// The types and functions that every backend has.
    fn default() -> Self {
        Self {
            types: vec![
                DType::FLOAT32,
                DType::INT32,
                DType::FLOAT16,
                DType::INT64,
                DType::UINT8,
                DType::INT8,
                DType::BOOL,
            ],
            functions: vec![
                Op::Abs,
                Op::Sqrt,
                Op::Exp,
                Op::Tanh,
                Op::Rsqrt,
                Op::Floor,
                Op::Ceil,
                Op::Trunc,
                Op::Round,
            ],
            special_values: true,
            vectorized: true,
            while_loops: true,
            symbolic: true,
        }
    }
}

/// Programs of the default [`Config`].
pub fn program() -> impl Strategy<Value = Case> {
    program_with(Config::default())
}

/// Programs of what `config` allows.
pub fn program_with(config: Config) -> impl Strategy<Value = Case> {
    recipe::recipe(&config).prop_map(move |recipe| generate::case(&recipe, &config))
}
