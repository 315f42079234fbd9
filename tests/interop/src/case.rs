//! A call, and what is expected of it (INTEROP-J1).

use chipdock_interpret::{Arg, Array, Interpreter, Outcome, compare};
use chipdock_ir::IrModule;
use serde_json::{Value, json};

use crate::Result;

/// Kinds of tensors: arrays of numpy, tensors of tvm_ffi, tensors of torch, and tensors with
/// `__dlpack__` alone.
pub const KINDS: &[&str] = &["numpy", "tvm_ffi", "torch", "DLPack"];

/// Releases that lose every exception of a call with tensors of a kind, whatever library is called:
/// `control.c` shows it.
pub const LOSING: &[(&str, &str)] = &[("0.1.8.post0", "torch"), ("0.1.8.post1", "torch")];

/// An argument: what Python gets, and what the interpreter gets for it.
#[derive(Clone, Debug)]
pub struct Given {
    /// Of a good call.
    arg: Option<Arg>,
    json: Value,
}

/// Expected of a call.
#[derive(Clone, Debug)]
pub enum Expected {
    /// What the interpreter computes.
    Computes,
    /// An exception of one of these classes, with each of these words in its message.
    Raises(&'static [&'static str], Vec<String>),
}

/// A call.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The function.
    pub function: &'static str,
    /// The arguments.
    pub args: Vec<Given>,
    /// What is expected.
    pub expected: Expected,
    /// The kinds of tensors that can make it.
    pub kinds: &'static [&'static str],
}

fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()).collect()
}

/// Returns a tensor that is compact and aligned.
#[must_use]
pub fn tensor(array: Array) -> Given {
    let json = json!({"dtype": array.dtype.to_string(), "shape": array.shape, "hex": hex(&array.data)});
    Given { json: json!({"tensor": json}), arg: Some(Arg::Tensor(array)) }
}

/// Returns a tensor of float32.
#[must_use]
pub fn floats(values: &[f32]) -> Given {
    tensor(Array::from_f32(&[values.len()], values))
}

/// Returns a tensor that only has `__dlpack__`.
#[must_use]
pub fn foreign(array: Array) -> Given {
    let dtype = array.dtype;
    let code = match dtype.to_string() {
        name if name.starts_with("bfloat") => 4,
        name if name.starts_with("float") => 2,
        name if name.starts_with("uint") => 1,
        name if name.starts_with("bool") => 6,
        _ => 0,
    };
    let dtype = [code, u32::from(dtype.bits), u32::from(dtype.lanes)];
    let json = json!({"dtype": dtype, "shape": array.shape, "hex": hex(&array.data)});
    Given { json: json!({"foreign": json}), arg: Some(Arg::Tensor(array)) }
}

/// Returns an integer.
#[must_use]
pub fn int(value: i64) -> Given {
    Given { arg: Some(Arg::Int(value.into())), json: json!({"int": value}) }
}

/// Returns a boolean.
#[must_use]
pub fn boolean(value: bool) -> Given {
    Given { arg: Some(Arg::Int(value.into())), json: json!({"bool": value}) }
}

/// Returns a float.
#[must_use]
pub fn float(value: f64) -> Given {
    Given { arg: Some(Arg::Float(value)), json: json!({"float": value}) }
}

/// Returns something that no kernel takes, as `driver.py` lists.
#[must_use]
pub fn strange(json: Value) -> Given {
    Given { arg: None, json }
}

impl Given {
    /// Sets a field of a tensor.
    ///
    /// # Panics
    ///
    /// If it is none.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        let (_, fields) = self.json.as_object_mut().and_then(|one| one.iter_mut().next()).expect("one key");
        fields.as_object_mut().expect("a tensor").insert(field.to_owned(), value.into());
        self
    }

    /// Replaces what Python gets.
    #[must_use]
    pub fn replaced(self, json: Value) -> Self {
        Self { json, ..self }
    }

    /// What Python gets, as `driver.py` reads it.
    pub(crate) fn json(&self) -> &Value {
        &self.json
    }

    /// The bytes of a tensor, as Python has them before the call.
    fn bytes(&self) -> Option<&str> {
        let (kind, fields) = self.json.as_object()?.iter().next()?;
        ["tensor", "foreign"].contains(&kind.as_str()).then(|| fields["hex"].as_str())?
    }
}

impl Case {
    /// Returns the case for `driver.py`, for a library and a kind of tensors.
    #[must_use]
    pub fn plan(&self, library: &str, kind: &str) -> Value {
        let args: Vec<&Value> = self.args.iter().map(|given| &given.json).collect();
        // Tensors with `__dlpack__` alone are written one by one, numpy's may stand beside them.
        let made = if kind == "DLPack" { "numpy" } else { kind };
        json!({"name": self.title(library, kind), "library": library, "function": self.function, "kind": made, "args": args})
    }

    /// Returns its name with a library and a kind of tensors.
    #[must_use]
    pub fn title(&self, library: &str, kind: &str) -> String {
        format!("{library}, {kind}: {}", self.name)
    }

    /// Returns what the interpreter computes, if that is expected.
    ///
    /// # Panics
    ///
    /// If the interpreter refuses the call: the case is wrong.
    #[must_use]
    pub fn outcome(&self, module: &IrModule) -> Option<Outcome> {
        if !matches!(self.expected, Expected::Computes) {
            return None;
        }
        let args: Option<Vec<Arg>> = self.args.iter().map(|given| given.arg.clone()).collect();
        let mut args = args.unwrap_or_else(|| panic!("{}: an argument that is no value", self.name));
        let outcome = Interpreter::new(module).with_bounds().run(self.function, &mut args);
        Some(outcome.unwrap_or_else(|error| panic!("{}: {error}", self.name)))
    }

    /// Judges an answer.
    ///
    /// # Errors
    ///
    /// What was expected, and what was found.
    pub fn judge(&self, outcome: Option<&Outcome>, answer: &Value) -> Result<()> {
        let raised = [&answer["raised"], &answer["not_made"]].into_iter().find(|error| error.is_object());
        match (&self.expected, outcome, raised) {
            (Expected::Computes, Some(outcome), None) => self.computed(outcome, answer)?,
            (Expected::Raises(classes, words), _, Some(error)) => {
                let class = error["class"].as_str().unwrap_or_default();
                let message = error["message"].as_str().unwrap_or_default();
                if !classes.contains(&class) || !words.iter().all(|word| message.contains(word)) {
                    return Err(format!(
                        "expected {classes:?} that says {words:?}, found {class}: {message}"
                    ));
                }
                self.untouched(answer)?;
            }
            (expected, ..) => return Err(format!("expected {expected:?}, found {answer}")),
        }
        // Each DLPack tensor that was given away came back once.
        if answer["deleted"] == answer["given"] {
            Ok(())
        } else {
            Err(format!("expected each deleter to be called once, found {answer}"))
        }
    }

    /// Whether TVM-FFI itself has lost the exception of this call: nothing was changed, and nothing
    /// raised.
    #[must_use]
    pub fn is_lost(&self, release: &str, kind: &str, answer: &Value) -> bool {
        LOSING.contains(&(release, kind))
            && matches!(self.expected, Expected::Raises(..))
            && self.args.iter().any(|given| given.bytes().is_some())
            && answer["returned"].get("NoneType").is_some()
            && self.untouched(answer).is_ok()
    }

    fn computed(&self, outcome: &Outcome, answer: &Value) -> Result<()> {
        let found = answer["tensors"].as_array().map_or(&[][..], Vec::as_slice);
        if found.len() != outcome.outputs.len() {
            return Err(format!("expected {} tensors, found {answer}", outcome.outputs.len()));
        }
        for (expected, found) in outcome.outputs.iter().zip(found) {
            let data = found.as_str().and_then(unhex).ok_or_else(|| format!("no bytes: {found}"))?;
            let array = Array { data, ..expected.array.clone() };
            let report = compare(&array, expected).map_err(|error| format!("{}: {error}", expected.name))?;
            if report.n_unbounded > 0 {
                return Err(format!("{}: the interpreter has no bound", expected.name));
            }
        }
        let returned = &answer["returned"];
        let is_right = match &outcome.returned {
            None => returned.get("NoneType").is_some(),
            Some((array, _)) if array.dtype.is_bool() => {
                returned["bool"].as_bool().map(i128::from) == array.int(0)
            }
            Some((array, bound)) if array.dtype.is_float() => {
                let found = returned["float"].as_str().and_then(|text| text.parse::<f64>().ok());
                found.zip(array.float(0)).is_some_and(|(found, expected)| (found - expected).abs() <= *bound)
            }
            Some((array, _)) => returned["int"].as_i64().map(i128::from) == array.int(0),
        };
        if is_right { Ok(()) } else { Err(format!("expected {:?}, found {returned}", outcome.returned)) }
    }

    /// A call that is refused has changed nothing.
    fn untouched(&self, answer: &Value) -> Result<()> {
        let before: Vec<&str> = self.args.iter().filter_map(Given::bytes).collect();
        let Some(after) = answer["tensors"].as_array() else { return Ok(()) };
        let after: Vec<&str> = after.iter().filter_map(Value::as_str).collect();
        if before == after { Ok(()) } else { Err(format!("the call changed {before:?} to {after:?}")) }
    }
}
