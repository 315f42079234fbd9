//! Interaction of compiled code with its caller and its host: arguments, errors, workspace.

use chipdock_codegen_source::c_family::{CFamily as _, address, cast, is_half, scalar, short};
use chipdock_codegen_source::{
    Answer, Argument, Assertion, Code, MessagePart, OpCall, Precedence, Prelude, Refusal,
};
use chipdock_ir::{DType, Op, StructField, environment};
use chipdock_plugin_api::abi::{ENV_HEAD, ENV_SLOTS, EnvType, SAFE_CALL_OFFSET_BYTES};

use super::CDialect;

/// The structs of packed calls, as far as compiled code reads them: TVM-FFI's value and DLPack's
/// tensor.
const ABI: &str = "\
typedef struct {
    int32_t device_type;
    int32_t device_id;
} CdDevice;
typedef struct {
    void* data;
    CdDevice device;
    int32_t ndim;
    struct {
        uint8_t code;
        uint8_t bits;
        uint16_t lanes;
    } dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
} CdTensor;
typedef struct {
    int32_t type_index;
    uint32_t small_length;
    union {
        int64_t v_int64;
        double v_float64;
        void* v_ptr;
    } value;
} CdAny;
";

/// The text after the struct of the environment, which is written from the description in
/// chipdock-abi.
const ENV_END: &str = "\
};
// Set by whoever loads this; null: TVM-FFI's functions are looked for, then small fallbacks of our own serve.
__attribute__((visibility(\"default\"))) const ChipdockEnv* __chipdock_env = 0;
";

fn env_parameter(name: &str, kind: EnvType) -> String {
    let pointer = match kind {
        EnvType::Void => return "void".to_owned(),
        EnvType::Int32 => return format!("int32_t {name}"),
        EnvType::Uint32 => return format!("uint32_t {name}"),
        EnvType::Uint64 => return format!("uint64_t {name}"),
        EnvType::Body => return format!("int32_t (*{name})(int32_t, int32_t, void*)"),
        EnvType::Pointer | EnvType::InterfaceOut => "void*",
        EnvType::Text => "const char*",
        EnvType::Int32Out => "int32_t*",
        EnvType::PointerOut => "void**",
        EnvType::FunctionOut => "const CdFunction**",
    };
    format!("{pointer} {name}")
}

/// The struct of the environment, and the part of a function object that is needed to call it.
pub(crate) fn env_text() -> String {
    let mut text = format!(
        "typedef struct {{\n    char header[{SAFE_CALL_OFFSET_BYTES}];\n    int32_t (*safe_call)(void*, const CdAny*, int32_t, \
         CdAny*);\n}} CdFunction;\ntypedef struct ChipdockEnv ChipdockEnv;\nstruct ChipdockEnv {{\n"
    );
    for (name, kind) in ENV_HEAD {
        text.push_str(&format!("    {};\n", env_parameter(name, *kind)));
    }
    for slot in ENV_SLOTS {
        let result = env_parameter("", slot.result);
        let params: String =
            slot.params.iter().map(|(name, kind)| format!(", {}", env_parameter(name, *kind))).collect();
        text.push_str(&format!("    {} (*{})(const ChipdockEnv*{params});\n", result.trim_end(), slot.name));
    }
    text.push_str(ENV_END);
    text
}

const RAISE: &str = "\
extern void* dlsym(void* restrict handle, const char* restrict name);
__attribute__((cold, noinline, unused)) static int32_t cd_raise(const char* kind, const char* message, const char* location) {
    const ChipdockEnv* env = __chipdock_env;
    if (env) {
        env->raise(env, kind, message, location);
        return -1;
    }
    void (*raise)(const char*, const char*);
    void* found = dlsym(0, \"TVMFFIErrorSetRaisedFromCStr\");
    __builtin_memcpy(&raise, &found, sizeof(raise));
    if (raise) raise(kind, message);
    return -1;
}
";

const FAIL: &str = "\
__attribute__((cold, noinline, format(printf, 3, 4))) static int32_t cd_fail(const char* location, const char* kind, const char* format, ...) {
    char small[512], *message = small;
    va_list args;
    va_start(args, format);
    int length = __builtin_vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    if (length >= (int)sizeof(small) && (message = __builtin_malloc((size_t)length + 1))) {
        va_start(args, format);
        __builtin_vsnprintf(message, (size_t)length + 1, format, args);
        va_end(args);
    }
    int32_t status = cd_raise(kind, message ? message : small, location);
    if (message != small) __builtin_free(message);
    return status;
}
";

const WORKSPACE: &str = "\
__attribute__((malloc)) static void* cd_allocate_workspace(int32_t device_type, int32_t device_id, uint64_t size_bytes) {
    const ChipdockEnv* env = __chipdock_env;
    if (env) return env->allocate_workspace(env, device_type, device_id, size_bytes);
    // 64-byte aligned within a larger piece, whose start is kept just before it.
    char* whole = size_bytes < UINT64_MAX - 128 ? __builtin_malloc((size_t)size_bytes + 128) : 0;
    if (!whole) {
        cd_raise(\"OutOfMemory\", \"no memory left for workspace\", 0);
        return 0;
    }
    char* data = (char*)(((uintptr_t)whole + 127) / 64 * 64);
    __builtin_memcpy(data - sizeof(whole), &whole, sizeof(whole));
    return data;
}
";

const FREE_WORKSPACE: &str = "\
static int32_t cd_free_workspace(int32_t device_type, int32_t device_id, void* data) {
    const ChipdockEnv* env = __chipdock_env;
    if (env) return env->free_workspace(env, device_type, device_id, data);
    char* whole = 0;
    if (data) __builtin_memcpy(&whole, (char*)data - sizeof(whole), sizeof(whole));
    __builtin_free(whole);
    return 0;
}
";

// The function is looked up once: a loader makes a new library of each module. Two threads may look
// it up at the same time, and get the same answer.
const CALL_PACKED: &str = "\
static int32_t cd_call_packed(const CdFunction** kept, const char* name, void* values, int32_t count) {
    const CdFunction* function = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!function, 0)) {
        const ChipdockEnv* env = __chipdock_env;
        if (!env) return cd_raise(\"Unavailable\", \"no host to call an imported function through; load this with Chipdock\", 0);
        if (env->imported(env, name, &function)) return -1;
        __atomic_store_n(kept, function, __ATOMIC_RELEASE);
    }
    return function->safe_call((void*)function, (const CdAny*)values, count, (CdAny*)values + count);
}
";

const DEVICE_TYPE: &str = "\
static int32_t cd_device_type(const char* name) {
    const ChipdockEnv* env = __chipdock_env;
    int32_t device_type = -1;
    if (!env) return cd_raise(\"Unavailable\", \"no host to ask for a device; load this with Chipdock\", 0);
    return env->device_type(env, name, &device_type) ? -1 : device_type;
}
";

const SET_DEVICE: &str = "\
static int32_t cd_set_device(int32_t device_type, int32_t device_id) {
    const ChipdockEnv* env = __chipdock_env;
    if (!env) return cd_raise(\"Unavailable\", \"no host to ask for a device; load this with Chipdock\", 0);
    return env->set_device(env, device_type, device_id) ? -1 : 0;
}
";

// Not cold: compilers optimise a loop whose iterations call a cold function for size. The interface
// is asked for once. Two threads may ask at the same time, and get the same answer; the second
// store of each comes after the first, so that who sees a function sees what it is called with.
const GO_ON: &str = "\
static int32_t (*cd_interrupt)(void*);
static void* cd_interrupt_self;
static int32_t cd_goes_on(void* self) {
    (void)self;
    return 0;
}
__attribute__((noinline)) static int32_t cd_go_on(void) {
    int32_t (*go_on)(void*) = __atomic_load_n(&cd_interrupt, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!go_on, 0)) {
        const ChipdockEnv* env = __chipdock_env;
        struct {
            void* self;
            int32_t (*const* table)(void*);
            uint64_t table_size_bytes, features;
        } found = {0};
        go_on = cd_goes_on;
        if (env && !env->query(env, \"interrupt\", 1, &found) && found.table) {
            go_on = *found.table;
            __atomic_store_n(&cd_interrupt_self, found.self, __ATOMIC_RELAXED);
        }
        __atomic_store_n(&cd_interrupt, go_on, __ATOMIC_RELEASE);
    }
    return go_on(__atomic_load_n(&cd_interrupt_self, __ATOMIC_RELAXED));
}
";

const PARALLEL_LAUNCH: &str = "\
static int32_t cd_parallel_launch(int32_t (*body)(int32_t, int32_t, void*), void* data, int32_t tasks_max) {
    const ChipdockEnv* env = __chipdock_env;
    return env ? env->parallel_launch(env, body, data, tasks_max) : body(0, 1, data);
}
";

/// Defines the structs of packed calls.
pub(super) fn define_abi(prelude: &mut Prelude) {
    prelude.define("cd_abi", |_| ABI.to_owned());
}

/// Defines the environment pointer, which every loadable text has and loaders set.
pub(super) fn define_env(prelude: &mut Prelude) {
    prelude.define("cd_env", |prelude| {
        define_abi(prelude);
        env_text()
    });
}

fn define_raise(prelude: &mut Prelude) {
    prelude.define("cd_raise", |prelude| {
        define_env(prelude);
        RAISE.to_owned()
    });
}

/// A text as a string literal of C that is also safe as a format.
fn format_literal(text: &str) -> String {
    let mut literal = String::new();
    for byte in text.bytes() {
        match byte {
            b'%' => literal.push_str("%%"),
            // `??` would begin a trigraph.
            b'"' | b'\\' | b'?' => {
                literal.push('\\');
                literal.push(char::from(byte));
            }
            b'\n' => literal.push_str("\\n"),
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => literal.push_str(&format!("\\{byte:03o}")),
        }
    }
    literal
}

/// A text as a string literal of C.
pub(super) fn literal(text: &str) -> String {
    format_literal(text).replace("%%", "%")
}

fn returns_status(ret: Option<DType>, what: &str) -> Answer<()> {
    if ret == Some(DType::INT32) {
        return Ok(());
    }
    Err(Refusal::new(format!("has {what} only in a function that returns int32, 0 or -1")))
}

pub(super) fn assert(assertion: &Assertion<'_>, prelude: &mut Prelude) -> Answer<String> {
    returns_status(assertion.ret, "an assertion")?;
    let (mut format, mut args) = (String::new(), Vec::new());
    for part in assertion.message {
        match part {
            MessagePart::Text(text) => format.push_str(&format_literal(text)),
            MessagePart::Integer(code, DType::UINT64) => {
                format.push_str("%llu");
                args.push(Code::prefix("(unsigned long long)", code).text);
            }
            MessagePart::Integer(code, dtype)
                if dtype.is_scalar() && (dtype.is_integer() || dtype.is_bool()) =>
            {
                format.push_str("%lld");
                args.push(Code::prefix("(long long)", code).text);
            }
            MessagePart::Integer(_, dtype) => {
                return Err(Refusal::new(format!("has messages of strings and integers, not of {dtype}")));
            }
        }
    }
    prelude.define("cd_fail", |prelude| {
        define_raise(prelude);
        FAIL.to_owned()
    });
    let condition = super::unlikely(&Code::not(assertion.condition)).text;
    let args: String = args.iter().map(|arg| format!(", {arg}")).collect();
    let (kind, location) = (literal(assertion.kind), literal(assertion.location));
    Ok(format!(
        "if ({condition}) {{\n    return cd_fail(\"{location}\", \"{kind}\", \"{format}\"{args});\n}}"
    ))
}

fn value<'c>(call: &'c OpCall<'_>, position: usize) -> Answer<(&'c Code, DType)> {
    match call.args.get(position) {
        Some(Argument::Value(code, dtype)) => Ok((code, *dtype)),
        _ => Err(Refusal::new(format!("{} takes a value as argument {position}", call.op.name()))),
    }
}

/// The field of a struct that a handle points to, and its type.
fn field(call: &OpCall<'_>, is_set: bool, prelude: &mut Prelude) -> Answer<(String, DType)> {
    define_abi(prelude);
    let (handle, _) = value(call, 0)?;
    let (index, _) = value(call, 1)?;
    let code = call.constants.get(2).copied().flatten();
    let field = code.and_then(StructField::by_code).ok_or_else(|| {
        Refusal::new(format!("{} takes a constant that names a field as argument 2", call.op.name()))
    })?;
    let constant = if is_set { "" } else { "const " };
    let at = |type_name: &str| {
        let pointer = Code::new(
            format!("({constant}{type_name}*){}", handle.at_least(Precedence::Unary)),
            Precedence::Unary,
        );
        // The first element of an array of structs is more readable with an arrow.
        let is_first = index.text == "0" && type_name.starts_with("Cd");
        if is_first {
            format!("({})->", pointer.text)
        } else {
            format!("({})[{}].", pointer.text, index.text)
        }
    };
    let any_value = match call.args.get(3) {
        Some(Argument::Text(_)) => DType::HANDLE,
        _ if is_set => value(call, 3)?.1,
        _ => call.dtype,
    };
    let (name, dtype) = match field {
        StructField::Address => {
            return Ok((
                format!("(void*)((CdTensor*){} + {})", handle.operand(), index.operand()),
                DType::HANDLE,
            ));
        }
        StructField::Int64Element => {
            return Ok((at("int64_t").trim_end_matches('.').to_owned(), DType::INT64));
        }
        StructField::AnyTypeIndex => return Ok((format!("{}type_index", at("CdAny")), DType::INT32)),
        StructField::AnyPadding => return Ok((format!("{}small_length", at("CdAny")), DType::UINT32)),
        StructField::AnyValue => {
            let (member, dtype) = match any_value {
                dtype if dtype.is_float() => ("v_float64", DType::FLOAT64),
                dtype if dtype.is_handle() => ("v_ptr", DType::HANDLE),
                _ => ("v_int64", DType::INT64),
            };
            return Ok((format!("{}value.{member}", at("CdAny")), dtype));
        }
        StructField::Data => ("data", DType::HANDLE),
        StructField::Shape => ("shape", DType::HANDLE),
        StructField::Strides => ("strides", DType::HANDLE),
        StructField::Ndim => ("ndim", DType::INT32),
        StructField::TypeCode => ("dtype.code", DType::UINT8),
        StructField::TypeBits => ("dtype.bits", DType::UINT8),
        StructField::TypeLanes => ("dtype.lanes", DType::UINT16),
        StructField::ByteOffset => ("byte_offset", DType::UINT64),
        StructField::DeviceId => ("device.device_id", DType::INT32),
        StructField::DeviceType => ("device.device_type", DType::INT32),
    };
    Ok((format!("{}{name}", at("CdTensor")), dtype))
}

/// Ops that no row of the table can express.
pub(super) fn op(dialect: &CDialect, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
    let answer = match call.op {
        Op::StructGet => field(call, false, prelude).and_then(|(text, dtype)| {
            let precedence = if dtype.is_handle() && text.starts_with("(void*)(") {
                Precedence::Unary
            } else {
                Precedence::Primary
            };
            cast(dialect, &Code::new(text, precedence), dtype, call.dtype, prelude)
        }),
        Op::StructSet => struct_set(dialect, call, prelude),
        Op::HandleLoad => handle_load(dialect, call, prelude),
        Op::AllocateWorkspace => {
            prelude.define("cd_allocate_workspace", |prelude| {
                define_raise(prelude);
                WORKSPACE.to_owned()
            });
            workspace(call, "cd_allocate_workspace")
        }
        Op::FreeWorkspace => {
            prelude.define("cd_free_workspace", |prelude| {
                define_env(prelude);
                FREE_WORKSPACE.to_owned()
            });
            workspace(call, "cd_free_workspace")
        }
        Op::ThrowLastError => {
            returns_status(call.function_ret, "tvm_throw_last_error").map(|()| Code::primary("return -1"))
        }
        Op::CallPacked => call_packed(call, prelude),
        Op::ParallelLaunch => parallel_launch(call, prelude),
        Op::AtomicAdd => atomic_add(dialect, call, prelude),
        Op::WarpActivemask
        | Op::WarpShuffle
        | Op::WarpShuffleUp
        | Op::WarpShuffleDown
        | Op::WarpShuffleXor
        | Op::ThreadAllreduce
        | Op::ThreadReturn => Err(Refusal::new(format!(
            "has no {}: there are neither threads nor warps; build the kernel for a target with threads",
            call.op.name()
        ))),
        _ => return None,
    };
    Some(answer)
}

/// A packed call of an imported function: its name, the packed values, their number.
fn call_packed(call: &OpCall<'_>, prelude: &mut Prelude) -> Answer<Code> {
    let Some(Argument::Text(name)) = call.args.first() else {
        return Err(Refusal::new("has packed calls of functions by name only"));
    };
    if call.args.len() != 3 {
        return Err(Refusal::new("has packed calls of a buffer of values only; lower with make_packed_api"));
    }
    let ((values, _), (count, _)) = (value(call, 1)?, value(call, 2)?);
    prelude.define("cd_call_packed", |prelude| {
        define_raise(prelude);
        CALL_PACKED.to_owned()
    });
    let kept = kept_name(name);
    prelude.define(&kept, |_| format!("static const CdFunction* {kept};\n"));
    let place = Code::primary(format!("&{kept}"));
    Ok(Code::call("cd_call_packed", &[place, text(name), values.clone(), count.clone()]))
}

/// The variable that caches an imported function: a distinct identifier for each name.
fn kept_name(name: &str) -> String {
    let mut kept = "cd_imported_".to_owned();
    for byte in name.bytes() {
        match byte {
            b'_' => kept.push_str("__"),
            byte if byte.is_ascii_alphanumeric() => kept.push(char::from(byte)),
            byte => kept.push_str(&format!("_{byte:02x}")),
        }
    }
    kept
}

/// A string as an argument.
pub(super) fn text(text: &str) -> Code {
    Code::primary(format!("\"{}\"", literal(text)))
}

/// A call of [`chipdock_ir::environment`]; `None` for other functions.
pub(super) fn environment_call(
    name: &str,
    args: &[(Code, DType)],
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let types: Vec<DType> = args.iter().map(|(_, dtype)| *dtype).collect();
    let (helper, body, takes) = match name {
        environment::DEVICE_TYPE => ("cd_device_type", DEVICE_TYPE, &[DType::HANDLE][..]),
        environment::SET_DEVICE => ("cd_set_device", SET_DEVICE, &[DType::INT32, DType::INT32][..]),
        environment::GO_ON => ("cd_go_on", GO_ON, &[][..]),
        _ => return None,
    };
    if types != takes {
        return Some(Err(Refusal::new(format!("takes other arguments in a call of {name}"))));
    }
    prelude.define(helper, |prelude| {
        if name == environment::GO_ON {
            define_env(prelude)
        } else {
            define_raise(prelude)
        }
        body.to_owned()
    });
    let args: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
    Some(Ok(Code::call(helper, &args)))
}

/// Launches a function as the tasks of a parallel region: on the host's pool, or as one task
/// without a host.
fn parallel_launch(call: &OpCall<'_>, prelude: &mut Prelude) -> Answer<Code> {
    let Some(Argument::Text(body)) = call.args.first() else {
        return Err(Refusal::new("has parallel launches of functions by name only"));
    };
    let ((data, _), (tasks_max, _)) = (value(call, 1)?, value(call, 2)?);
    prelude.define("cd_parallel_launch", |prelude| {
        define_env(prelude);
        PARALLEL_LAUNCH.to_owned()
    });
    Ok(Code::call("cd_parallel_launch", &[Code::primary(*body), data.clone(), tasks_max.clone()]))
}

/// An atomic addition that returns the previous value: integers by an instruction, floats by a
/// compare-and-exchange loop.
fn atomic_add(dialect: &CDialect, call: &OpCall<'_>, prelude: &mut Prelude) -> Answer<Code> {
    let (addend, dtype) = value(call, 1)?;
    let address = match call.args.first() {
        Some(Argument::Address(access)) => address(dialect, access, prelude)?,
        _ => value(call, 0)?.0.clone(),
    };
    let (name, c_type) = (format!("cd_atomic_add_{}", short(dtype)), scalar(dialect, dtype)?);
    let bits = match dtype.bits {
        16 => "uint16_t",
        32 => "uint32_t",
        64 => "uint64_t",
        _ => return Err(Refusal::new(format!("has no {} of {dtype}", call.op.name()))),
    };
    prelude.define(&name, |prelude| {
        let head = format!(
            "static inline {c_type} {name}(void* p, {c_type} x) {{\n    typedef {bits} any __attribute__((may_alias));\n"
        );
        if dtype.is_integer() {
            return format!(
                "{head}    return ({c_type})__atomic_fetch_add((any*)p, ({bits})x, __ATOMIC_RELAXED);\n}}\n"
            );
        }
        let old = Code::primary("old");
        let (before, after) = if is_half(dtype) {
            let before = dialect.half_value(&old, dtype, prelude).text;
            let after = dialect.half_bits(&Code::primary("before + x"), dtype, prelude).text;
            (format!("before = {before};"), format!("bits = {after};"))
        } else {
            (
                "__builtin_memcpy(&before, &old, sizeof(before));".to_owned(),
                format!("{c_type} after = before + x;\n        __builtin_memcpy(&bits, &after, sizeof(bits));"),
            )
        };
        format!(
            "{head}    {c_type} before;\n    {bits} old = __atomic_load_n((any*)p, __ATOMIC_RELAXED), bits;\n    do {{\n        \
             {before}\n        {after}\n    }} while (!__atomic_compare_exchange_n((any*)p, &old, bits, 1, \
             __ATOMIC_RELAXED, __ATOMIC_RELAXED));\n    return before;\n}}\n"
        )
    });
    Ok(Code::call(&name, &[address, addend.clone()]))
}

fn struct_set(dialect: &CDialect, call: &OpCall<'_>, prelude: &mut Prelude) -> Answer<Code> {
    let (place, dtype) = field(call, true, prelude)?;
    if let Some(Argument::Text(text)) = call.args.get(3) {
        return Ok(Code::new(format!("{place} = (void*)\"{}\"", literal(text)), Precedence::Conditional));
    }
    let (code, from) = value(call, 3)?;
    let value = cast(dialect, code, from, dtype, prelude)?;
    Ok(Code::new(format!("{place} = {}", value.text), Precedence::Conditional))
}

/// The value at a number of bytes from a handle, without regard to alignment.
fn handle_load(dialect: &CDialect, call: &OpCall<'_>, prelude: &mut Prelude) -> Answer<Code> {
    let ((handle, _), (offset, _)) = (value(call, 0)?, value(call, 1)?);
    if !call.dtype.is_scalar() || is_half(call.dtype) {
        return Err(Refusal::new(format!("has no {} of {}", call.op.name(), call.dtype)));
    }
    let name = format!("cd_load_{}_at", short(call.dtype));
    let element = dialect.memory_type(call.dtype)?;
    let ret = scalar(dialect, call.dtype)?;
    prelude.define(&name, |_| {
        format!(
            "static inline {ret} {name}(const void* handle, int64_t offset_bytes) {{\n    {element} x;\n    \
             __builtin_memcpy(&x, (const char*)handle + offset_bytes, sizeof(x));\n    return x;\n}}\n"
        )
    });
    Ok(Code::call(&name, &[handle.clone(), offset.clone()]))
}

fn workspace(call: &OpCall<'_>, function: &str) -> Answer<Code> {
    let args = (0..3).map(|position| value(call, position).map(|(code, _)| code.clone()));
    Ok(Code::call(function, &args.collect::<Answer<Vec<Code>>>()?))
}
