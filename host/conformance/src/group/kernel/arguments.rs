//! Arguments of compiled functions: unsuitable ones are refused by name before anything is written,
//! suitable ones are accepted.

use chipdock_host::{Any, AnyView, Device, Error, Function, Tensor};
use chipdock_ir::DType;
use chipdock_plugin_api::{ChipdockDevice, TensorParts};

use crate::execute::{self, Ready};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

const MODULE: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def take(A: T.Buffer((\"n\", 4), \"float32\"), B: T.Buffer((n, 4), \"float32\"), c: T.int8, u: T.uint8, i: T.int32, x: T.float32, t: T.bool):
        n = T.int32()
        for a, b in T.grid(n, 4):
            B[a, b] = A[a, b] * x + T.Cast(\"float32\", c) + T.Cast(\"float32\", u) + T.Cast(\"float32\", i)
            if t:
                B[a, b] = B[a, b] + T.float32(0.5)

    @T.prim_func(s_tir=True)
    def strided(a: T.handle, b: T.handle):
        n = T.int32()
        s = T.int32()
        r = T.int32()
        A = T.match_buffer(a, (n,), \"float32\", strides=(s,))
        B = T.match_buffer(b, (n,), \"float32\", strides=(r,))
        for i in range(n):
            B[i] = A[i] * T.float32(2)
";

/// An argument of a call.
enum Given {
    Tensor(Tensor),
    Raw(chipdock_plugin_api::Tensor),
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(Any),
    None,
}

impl Given {
    fn view(&self) -> AnyView<'_> {
        match self {
            Self::Tensor(tensor) => AnyView::from(tensor),
            Self::Raw(tensor) => AnyView::from(tensor),
            Self::Int(value) => AnyView::from(*value),
            Self::Float(value) => AnyView::from(*value),
            Self::Bool(value) => AnyView::from(*value),
            Self::Text(value) => value.view(),
            Self::None => AnyView::from(()),
        }
    }
}

/// Index of B among the arguments.
const B: usize = 1;

/// Value of every element of B before a call.
const BEFORE: f32 = -77.0;

/// Creates suitable arguments: A of 2 × 4 numbers from 1, B, c = 1, u = 2, i = 3, x = 2, t.
fn good(device: &Device) -> Verdict<Vec<Given>> {
    let numbers: Vec<f32> = (1..9_u8).map(f32::from).collect();
    Ok(vec![
        Given::Tensor(Tensor::from_slice(device, &[2, 4], &numbers)?),
        Given::Tensor(Tensor::from_slice(device, &[2, 4], &[BEFORE; 8])?),
        Given::Int(1),
        Given::Int(2),
        Given::Int(3),
        Given::Float(2.0),
        Given::Bool(true),
    ])
}

fn zeros(device: &Device, shape: &[i64], dtype: DType) -> Verdict<Given> {
    Ok(Given::Tensor(Tensor::zeros(device, shape, dtype)?))
}

/// Creates a tensor that describes the memory of a valid tensor differently.
fn raw(tensor: &Tensor, change: impl FnOnce(&mut TensorParts<'_>)) -> Verdict<Given> {
    let view = tensor.view();
    let shape = tensor.shape().to_vec();
    let strides = tensor.strides().to_vec();
    let mut parts = TensorParts {
        data: view.data(),
        device: view.device(),
        dtype: view.dtype(),
        shape: &shape,
        strides: Some(&strides),
        byte_offset: view.byte_offset(),
    };
    change(&mut parts);
    // SAFETY: the owner keeps the memory alive; a correct function reads no element of it.
    Ok(Given::Raw(unsafe { chipdock_plugin_api::Tensor::from_owner(parts, tensor.clone()) }?))
}

type Change = fn(&Device, &mut Vec<Given>) -> Verdict;

/// Unsuitable change of the arguments: its name, the change, the expected error kinds, and words of
/// the message.
type Wrong = (&'static str, Change, &'static [&'static str], &'static [&'static str]);

const TYPE: &[&str] = &["TypeError"];
const VALUE: &[&str] = &["ValueError"];

fn set(args: &mut [Given], index: usize, given: Given) -> Verdict {
    args[index] = given;
    Ok(())
}

fn replace(device: &Device, args: &mut [Given], index: usize, shape: &[i64]) -> Verdict {
    set(args, index, zeros(device, shape, DType::FLOAT32)?)
}

const WRONG: &[Wrong] = &[
    (
        "count/none",
        |_, args| {
            args.clear();
            Ok(())
        },
        TYPE,
        &["7 arguments", "0"],
    ),
    (
        "count/few",
        |_, args| {
            args.pop();
            Ok(())
        },
        TYPE,
        &["7 arguments", "6"],
    ),
    (
        "count/many",
        |_, args| {
            args.push(Given::Int(1));
            Ok(())
        },
        TYPE,
        &["7 arguments", "8"],
    ),
    ("type/int-for-tensor", |_, args| set(args, 0, Given::Int(4)), TYPE, &["argument #0", "Tensor"]),
    ("type/none-for-tensor", |_, args| set(args, 1, Given::None), TYPE, &["argument #1", "Tensor"]),
    (
        "type/text-for-tensor",
        |_, args| set(args, 1, Given::Text(Any::from("a"))),
        TYPE,
        &["argument #1", "Tensor"],
    ),
    ("type/float-for-int", |_, args| set(args, 4, Given::Float(3.0)), TYPE, &["argument #4", "int"]),
    ("type/text-for-int", |_, args| set(args, 4, Given::Text(Any::from("3"))), TYPE, &["argument #4", "int"]),
    ("type/none-for-int", |_, args| set(args, 4, Given::None), TYPE, &["argument #4", "int"]),
    (
        "type/text-for-float",
        |_, args| set(args, 5, Given::Text(Any::from("2"))),
        TYPE,
        &["argument #5", "float"],
    ),
    ("type/none-for-float", |_, args| set(args, 5, Given::None), TYPE, &["argument #5", "float"]),
    ("type/float-for-bool", |_, args| set(args, 6, Given::Float(1.0)), TYPE, &["argument #6"]),
    ("type/tensor-for-int", |device, args| replace(device, args, 4, &[1]), TYPE, &["argument #4", "int"]),
    ("rank/less", |device, args| replace(device, args, 1, &[8]), VALUE, &["B.ndim", "2", "1"]),
    ("rank/more", |device, args| replace(device, args, 1, &[2, 4, 1]), VALUE, &["B.ndim", "2", "3"]),
    ("rank/none", |device, args| replace(device, args, 0, &[]), VALUE, &["A.ndim", "2", "0"]),
    ("shape/constant", |device, args| replace(device, args, 0, &[2, 5]), VALUE, &["A.shape[1]", "4", "5"]),
    ("shape/constant-of-zero", |device, args| replace(device, args, 0, &[2, 0]), VALUE, &["A.shape[1]"]),
    ("shape/symbol", |device, args| replace(device, args, 1, &[3, 4]), VALUE, &["B.shape[0]", "2", "3"]),
    ("shape/symbol-of-zero", |device, args| replace(device, args, 1, &[0, 4]), VALUE, &["B.shape[0]"]),
    (
        "strides/steps",
        |device, args| {
            let wide = Tensor::zeros(device, &[2, 8], DType::FLOAT32)?;
            set(args, 0, Given::Tensor(wide.strided(&[2, 4], &[8, 2], 0)?))
        },
        VALUE,
        &["A.strides"],
    ),
    (
        "strides/padded-rows",
        |device, args| {
            let wide = Tensor::zeros(device, &[2, 5], DType::FLOAT32)?;
            set(args, 0, Given::Tensor(wide.strided(&[2, 4], &[5, 1], 0)?))
        },
        VALUE,
        &["A.strides"],
    ),
    (
        "strides/transposed",
        |device, args| {
            let tall = Tensor::zeros(device, &[4, 2], DType::FLOAT32)?;
            set(args, 0, Given::Tensor(tall.strided(&[2, 4], &[1, 2], 0)?))
        },
        VALUE,
        &["A.strides"],
    ),
    (
        "offset/part-of-an-element",
        |device, args| {
            let tensor = Tensor::zeros(device, &[3, 4], DType::FLOAT32)?;
            set(
                args,
                0,
                raw(&tensor, |parts| {
                    parts.byte_offset += 2;
                    parts.shape = &[2, 4];
                })?,
            )
        },
        VALUE,
        &["A"],
    ),
    (
        "device/another-type",
        |device, args| {
            let tensor = Tensor::zeros(device, &[2, 4], DType::FLOAT32)?;
            let other = ChipdockDevice { device_type: 4242, device_id: 0 };
            set(args, 0, raw(&tensor, |parts| parts.device = other)?)
        },
        VALUE,
        &["A", "device"],
    ),
    ("range/int8-above", |_, args| set(args, 2, Given::Int(128)), VALUE, &["c", "argument #2", "128"]),
    ("range/int8-below", |_, args| set(args, 2, Given::Int(-129)), VALUE, &["c", "argument #2", "-129"]),
    ("range/int8-far", |_, args| set(args, 2, Given::Int(i64::MAX)), VALUE, &["c", "argument #2"]),
    ("range/uint8-above", |_, args| set(args, 3, Given::Int(256)), VALUE, &["u", "argument #3", "256"]),
    ("range/uint8-below", |_, args| set(args, 3, Given::Int(-1)), VALUE, &["u", "argument #3", "-1"]),
    ("range/int32-above", |_, args| set(args, 4, Given::Int(1 << 31)), VALUE, &["i", "argument #4"]),
    ("range/int32-below", |_, args| set(args, 4, Given::Int(i64::MIN)), VALUE, &["i", "argument #4"]),
];

/// Suitable change of the arguments: its name, the change, and the amount added to each expected
/// element.
type Right = (&'static str, Change, f32);

const RIGHT: &[Right] = &[
    ("as-they-are", |_, _| Ok(()), 0.0),
    ("int-for-float", |_, args| set(args, 5, Given::Int(2)), 0.0),
    ("int-for-bool", |_, args| set(args, 6, Given::Int(0)), -0.5),
    ("bool-for-int", |_, args| set(args, 4, Given::Bool(true)), -2.0),
    ("int8-least", |_, args| set(args, 2, Given::Int(-128)), -129.0),
    ("int8-greatest", |_, args| set(args, 2, Given::Int(127)), 126.0),
    ("uint8-greatest", |_, args| set(args, 3, Given::Int(255)), 253.0),
    ("int32-greatest", |_, args| set(args, 4, Given::Int(i64::from(i32::MAX))), i32::MAX as f32 - 3.0),
    ("object-tensor", |device, args| as_object(device, args), 0.0),
];

/// Passes the tensor as an object instead of a pointer to its description.
fn as_object(_: &Device, args: &mut [Given]) -> Verdict {
    let Some(Given::Tensor(tensor)) = args.first() else { return Ok(()) };
    let object = tensor.to_value()?;
    set(args, 0, Given::Raw(object))
}

/// Body of a case that runs if the kernels can be called.
type Run = Box<dyn Fn(&Context, &Device) -> Verdict + Send + Sync>;

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: String, clause, run: Run| {
        cases.case(Group::Kernel, format!("arguments/{name}"), clause, Subject::Codegen).run(move |c| {
            match &*ready(c)? {
                Ready::Callable(_, device) => run(c, device),
                Ready::Built(why) => {
                    c.not_run(why.as_str());
                    Ok(())
                }
            }
        });
    };
    for (name, change, kinds, words) in WRONG {
        let run = move |c: &Context, device: &Device| is_refused(c, device, *change, kinds, words);
        let clause = if name.starts_with("range/") { "V.15" } else { "C.19" };
        case(format!("wrong/{name}"), clause, Box::new(run));
    }
    for &dtype in DType::SCALARS.iter().filter(|dtype| **dtype != DType::FLOAT32) {
        let run = move |c: &Context, device: &Device| {
            let mut args = good(device)?;
            args[0] = zeros(device, &[2, 4], dtype)?;
            refused(c, &args, TYPE, &["A.dtype", "argument #0", "float32"])
        };
        case(format!("wrong/dtype/{dtype}"), "C.19", Box::new(run));
    }
    for (name, change, added) in RIGHT {
        let run = move |c: &Context, device: &Device| is_taken(c, device, *change, *added);
        let clause = if *name == "object-tensor" { "V.4" } else { "C.20" };
        case(format!("right/{name}"), clause, Box::new(run));
    }
    for offset in [0, 1, 2, 3, 5, 7, 16] {
        let run = move |c: &Context, device: &Device| offsets(c, device, offset);
        case(format!("right/offset/{offset}"), "C.20", Box::new(run));
    }
    for (from, to) in [(1, 1), (2, 1), (1, 3), (5, 2), (-1, 1), (1, -2)] {
        let run = move |c: &Context, device: &Device| strides(c, device, from, to);
        case(format!("right/strides/{from}-to-{to}"), "C.20", Box::new(run));
    }
    case("right/empty".to_owned(), "C.20", Box::new(empty));
    case("right/stride-of-one-row".to_owned(), "C.20", Box::new(one_row));
}

fn ready(c: &Context) -> Verdict<std::rc::Rc<Ready>> {
    c.cached("kernel/arguments", || {
        let module = chipdock_script::parse(MODULE, "take.py").map_err(Stop::suite)?;
        execute::build(c, &module)
    })
}

fn function(c: &Context, name: &str) -> Verdict<Function> {
    match &*ready(c)? {
        Ready::Callable(module, _) => Ok(module.function(name)?),
        Ready::Built(why) => Err(Stop::suite(why)),
    }
}

fn call(c: &Context, name: &str, args: &[Given]) -> Verdict<Result<(), Error>> {
    let views: Vec<AnyView<'_>> = args.iter().map(Given::view).collect();
    Ok(function(c, name)?.call(&views).map(drop))
}

fn is_refused(c: &Context, device: &Device, change: Change, kinds: &[&str], words: &[&str]) -> Verdict {
    let mut args = good(device)?;
    change(device, &mut args)?;
    refused(c, &args, kinds, words)?;
    // The function still works after the refusal.
    is_taken(c, device, |_, _| Ok(()), 0.0)
}

fn refused(c: &Context, args: &[Given], kinds: &[&str], words: &[&str]) -> Verdict {
    let expected = || format!("{} that says {}", kinds.join(" or "), words.join(", "));
    match call(c, "take", args)? {
        Ok(()) => return Err(Stop::failed(expected(), "success")),
        Err(error) => {
            let text = error.to_string();
            let fits = kinds.contains(&error.kind().as_str()) && words.iter().all(|word| text.contains(word));
            ensure(fits, expected(), format!("{}: {text}", error.kind().as_str()))?;
        }
    }
    // Checks that nothing was written to B or its replacement.
    let Some(Given::Tensor(tensor)) = args.get(B) else { return Ok(()) };
    let values = tensor.to_vec::<f32>()?;
    let untouched = values.iter().all(|value| *value == BEFORE || *value == 0.0);
    ensure(untouched, "B as it was before the call that was refused", format!("{values:?}"))
}

/// Returns the expected result for suitable arguments: A·2 + 1 + 2 + 3 + 0.5.
fn expected(added: f32) -> Vec<f32> {
    (1..9_u8).map(|value| f32::from(value) * 2.0 + 6.5 + added).collect()
}

fn is_taken(c: &Context, device: &Device, change: Change, added: f32) -> Verdict {
    let mut args = good(device)?;
    change(device, &mut args)?;
    call(c, "take", &args)??;
    let Some(Given::Tensor(tensor)) = args.get(B) else { return Err(Stop::suite("B is a tensor")) };
    let (found, wanted) = (tensor.to_vec::<f32>()?, expected(added));
    // Tolerance of one rounding of a sum of four terms, one of which may be large.
    let near = |(a, b): (&f32, &f32)| (a - b).abs() <= added.abs() * 1e-6;
    ensure(found.iter().zip(&wanted).all(near), format!("B = {wanted:?}"), format!("{found:?}"))
}

fn offsets(c: &Context, device: &Device, offset: i64) -> Verdict {
    let mut args = good(device)?;
    let mut numbers = vec![0.0; offset as usize];
    numbers.extend((1..9_u8).map(f32::from));
    let whole = Tensor::from_slice(device, &[numbers.len() as i64], &numbers)?;
    args[0] = Given::Tensor(whole.strided(&[2, 4], &[4, 1], offset)?);
    let room = Tensor::from_slice(device, &[8 + 2 * offset], &vec![BEFORE; 8 + 2 * offset as usize])?;
    args[B] = Given::Tensor(room.strided(&[2, 4], &[4, 1], offset)?);
    call(c, "take", &args)??;
    let mut wanted = vec![BEFORE; offset as usize];
    wanted.extend(expected(0.0));
    wanted.resize(wanted.len() + offset as usize, BEFORE);
    let found = room.to_vec::<f32>()?;
    ensure(found == wanted, format!("the memory about B to be {wanted:?}"), format!("{found:?}"))
}

/// Creates a tensor of 6 elements with a stride of `step`, which may be negative; also returns the
/// whole memory.
fn stepped(device: &Device, step: i64, values: &[f32; 6]) -> Verdict<(Tensor, Tensor)> {
    let size = 5 * step.abs() + 1;
    let start = if step < 0 { size - 1 } else { 0 };
    let mut memory = vec![BEFORE; size as usize];
    for (index, value) in (0..).zip(values) {
        memory[(start + index * step) as usize] = *value;
    }
    let memory = Tensor::from_slice(device, &[size], &memory)?;
    Ok((memory.strided(&[6], &[step], start)?, memory))
}

fn strides(c: &Context, device: &Device, from: i64, to: i64) -> Verdict {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let (a, _) = stepped(device, from, &values)?;
    let (b, found) = stepped(device, to, &[0.0; 6])?;
    call(c, "strided", &[Given::Tensor(a), Given::Tensor(b)])??;
    let (_, wanted) = stepped(device, to, &values.map(|value| value * 2.0))?;
    let (found, wanted) = (found.to_vec::<f32>()?, wanted.to_vec::<f32>()?);
    ensure(found == wanted, format!("the memory of B to be {wanted:?}"), format!("{found:?}"))
}

fn empty(c: &Context, device: &Device) -> Verdict {
    let mut args = good(device)?;
    for index in [0, B] {
        let tensor = Tensor::zeros(device, &[0, 4], DType::FLOAT32)?;
        args[index] = raw(&tensor, |parts| parts.data = std::ptr::null_mut())?;
    }
    Ok(call(c, "take", &args)??)
}

fn one_row(c: &Context, device: &Device) -> Verdict {
    let mut args = good(device)?;
    let numbers: Vec<f32> = (1..5_u8).map(f32::from).collect();
    let a = Tensor::from_slice(device, &[1, 4], &numbers)?;
    let b = Tensor::from_slice(device, &[1, 4], &[BEFORE; 4])?;
    args[0] = raw(&a, |parts| parts.strides = Some(&[12345, 1]))?;
    args[B] = raw(&b, |parts| parts.strides = Some(&[-9, 1]))?;
    call(c, "take", &args)??;
    let (found, wanted) = (b.to_vec::<f32>()?, &expected(0.0)[..4]);
    ensure(found == wanted, format!("B = {wanted:?}"), format!("{found:?}"))
}
