//! The environment through which compiled code reaches its host, and fallbacks without one (rule
//! LLVM-V8).
//!
//! Offsets and types of its functions come from the description of `ChipdockEnv` in chipdock-abi.
//! Parts of the texts that depend on the target are words that begin with `$`; see
//! `Layout::fill_in`.

use chipdock_ir::ConstantData;

use crate::layout::Layout;
use crate::writer::{Label, Writer};

const ENVIRONMENT: &str = "@__chipdock_env = global ptr null, align 8\n";

/// A function that the writer adds to a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Helper {
    /// (kind, message) -> -1.
    Raise,
    /// (text, values) -> -1: formats a [`Message`], and raises it.
    Fail,
    /// (type and id of the device, size in bytes) -> pointer.
    AllocateWorkspace,
    /// (type and id of the device, pointer) -> status.
    FreeWorkspace,
    /// (location that caches the function, name, values, count) -> status.
    CallPacked,
    /// (name) -> number, or -1.
    DeviceType,
    /// (type and id of the device) -> status.
    SetDevice,
    /// () -> status: asks whether to go on.
    GoOn,
    /// (body, data, most tasks) -> status.
    ParallelLaunch,
    /// (table, texts, frame) -> status, or [`crate::checks::GOES_ON`]: runs a table of
    /// [`crate::checks`].
    Check,
}

const RAISE: &str = "\
define internal i32 @cd.h.raise(ptr %kind, ptr %message) cold noinline optnone #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %find, label %host
host:
  $call - raise %kind, %message, null
  ret i32 -1
find:
  %found = call ptr @dlsym(ptr null, ptr @cd.ffi_raise)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %done, label %ffi
ffi:
  call void %found(ptr %kind, ptr %message)
  br label %done
done:
  ret i32 -1
}
";

const FAIL: &str = "\
define internal i32 @cd.h.fail(ptr %text, ptr %values) cold noinline optnone #0 {
entry:
  br label %measure
";

// The rest of a function that formats an error message: from the text `%text`, with the integers at
// `%values`. Written from the end of the message, as digits are produced. It raises the error
// itself: each further function costs compile time in every module.
const WORD: &str = "\
measure:
  %m = phi ptr [ %text, %$from ], [ %m.next, %measure ]
  %size = phi i64 [ 0, %$from ], [ %size.next, %measure ]
  %values.end = phi ptr [ %values, %$from ], [ %values.next, %measure ]
  %m.byte = load i8, ptr %m, align 1
  %m.next = getelementptr i8, ptr %m, i64 1
  %m.integer = icmp ugt i8 %m.byte, -3
  %m.values = select i1 %m.integer, i64 8, i64 0
  %values.next = getelementptr i8, ptr %values.end, i64 %m.values
  %m.size = select i1 %m.integer, i64 20, i64 1
  %size.next = add i64 %size, %m.size
  %m.ends = icmp eq i8 %m.byte, 0
  br i1 %m.ends, label %measured, label %measure
measured:
  $malloc %out %size.next
  %none = icmp eq ptr %out, null
  br i1 %none, label %raise, label %begin
begin:
  %out.last = getelementptr i8, ptr %out, i64 %size
  store i8 0, ptr %out.last, align 1
  br label %compose
compose:
  %s = phi ptr [ %m, %begin ], [ %s.less, %plain ], [ %s.less, %sign ]
  %o = phi ptr [ %out.last, %begin ], [ %o.plain, %plain ], [ %o.sign, %sign ]
  %v = phi ptr [ %values.end, %begin ], [ %v, %plain ], [ %v.less, %sign ]
  %is_done = icmp eq ptr %s, %text
  br i1 %is_done, label %raise, label %byte
byte:
  %s.less = getelementptr i8, ptr %s, i64 -1
  %byte.value = load i8, ptr %s.less, align 1
  %is_integer = icmp ugt i8 %byte.value, -3
  br i1 %is_integer, label %integer, label %plain
plain:
  %o.plain = getelementptr i8, ptr %o, i64 -1
  store i8 %byte.value, ptr %o.plain, align 1
  br label %compose
integer:
  %v.less = getelementptr i8, ptr %v, i64 -8
  %integer.value = load i64, ptr %v.less, align 8
  %is_signed = icmp eq i8 %byte.value, -1
  %is_below = icmp slt i64 %integer.value, 0
  %is_negative = and i1 %is_signed, %is_below
  %minus = sub i64 0, %integer.value
  %magnitude = select i1 %is_negative, i64 %minus, i64 %integer.value
  br label %digits
digits:
  %d.rest = phi i64 [ %magnitude, %integer ], [ %d.less, %digits ]
  %d.end = phi ptr [ %o, %integer ], [ %d.at, %digits ]
  %d.at = getelementptr i8, ptr %d.end, i64 -1
  %d.less = udiv i64 %d.rest, 10
  %d.tens = mul i64 %d.less, 10
  %d.digit = sub i64 %d.rest, %d.tens
  %d.small = trunc i64 %d.digit to i8
  %d.char = add i8 %d.small, 48
  store i8 %d.char, ptr %d.at, align 1
  %d.ends = icmp eq i64 %d.less, 0
  br i1 %d.ends, label %sign, label %digits
sign:
  %o.minus = getelementptr i8, ptr %d.at, i64 -1
  %o.sign = select i1 %is_negative, ptr %o.minus, ptr %d.at
  %first = select i1 %is_negative, i8 45, i8 %d.char
  store i8 %first, ptr %o.sign, align 1
  br label %compose
raise:
  %message = phi ptr [ @cd.no_memory, %measured ], [ %o, %compose ]
  %kind = getelementptr i8, ptr %m.next, i64 1
  %kind.byte = load i8, ptr %m.next, align 1
  %kind.size = zext i8 %kind.byte to i64
  %location = getelementptr i8, ptr %kind, i64 %kind.size
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %find, label %host
host:
  $call - raise %kind, %message, %location
  br label %raised
find:
  %found = call ptr @dlsym(ptr null, ptr @cd.ffi_raise)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %raised, label %ffi
ffi:
  call void %found(ptr %kind, ptr %message)
  br label %raised
raised:
  call void @free(ptr %out)
  ret $status -1
}
";

const ALLOCATE_WORKSPACE: &str = "\
define internal noalias align 64 ptr @cd.h.allocate_workspace(i32 %device_type, i32 %device_id, i64 %size_bytes) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  $call %given allocate_workspace %device_type, %device_id, %size_bytes
  ret ptr %given
own:
  ; 64-byte aligned within a larger piece, whose start is kept just before it.
  %fits = icmp ult i64 %size_bytes, $larger
  br i1 %fits, label %ask, label %none
ask:
  %larger = add i64 %size_bytes, 128
  $malloc %whole %larger
  %failed = icmp eq ptr %whole, null
  br i1 %failed, label %none, label %got
got:
  %start = ptrtoint ptr %whole to i64
  %odd = and i64 %start, 63
  %skip = sub i64 128, %odd
  %data = getelementptr i8, ptr %whole, i64 %skip
  %kept = getelementptr i8, ptr %data, i64 -8
  store ptr %whole, ptr %kept, align $pointer
  ret ptr %data
none:
  %status = call i32 @cd.h.raise(ptr @cd.out_of_memory, ptr @cd.no_workspace)
  ret ptr null
}
";

const FREE_WORKSPACE: &str = "\
define internal i32 @cd.h.free_workspace(i32 %device_type, i32 %device_id, ptr %data) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  $call %status free_workspace %device_type, %device_id, %data
  ret i32 %status
own:
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %done, label %release
release:
  %kept = getelementptr i8, ptr %data, i64 -8
  %whole = load ptr, ptr %kept, align $pointer
  call void @free(ptr %whole)
  br label %done
done:
  ret i32 0
}
";

// The function is looked up once: each loaded module is linked anew. Two threads may look it up at
// the same time, and get the same answer.
const CALL_PACKED: &str = "\
define internal i32 @cd.h.call_packed(ptr %kept, ptr %name, ptr %values, i32 %count) #0 {
entry:
  %place = alloca ptr, align $pointer
  %known = load atomic ptr, ptr %kept acquire, align $pointer
  %is_known = icmp ne ptr %known, null
  br i1 %is_known, label %call, label %ask
ask:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %none, label %host
host:
  $call %asked imported %name, %place
  %failed = icmp ne i32 %asked, 0
  br i1 %failed, label %fail, label %keep
fail:
  ret i32 -1
keep:
  %found = load ptr, ptr %place, align $pointer
  store atomic ptr %found, ptr %kept release, align $pointer
  br label %call
call:
  %function = phi ptr [ %known, %entry ], [ %found, %keep ]
  %slot = getelementptr i8, ptr %function, i64 $safe_call
  %safe_call = load ptr, ptr %slot, align $pointer
  %wide = sext i32 %count to i64
  %bytes = shl i64 %wide, 4
  %result = getelementptr i8, ptr %values, i64 %bytes
  %status = call i32 %safe_call(ptr %function, ptr %values, i32$int32 %count, ptr %result)
  ret i32 %status
none:
  %raised = call i32 @cd.h.raise(ptr @cd.unavailable, ptr @cd.no_host)
  ret i32 %raised
}
";

const DEVICE_TYPE: &str = "\
define internal i32 @cd.h.device_type(ptr %name) #0 {
entry:
  %place = alloca i32, align 4
  store i32 -1, ptr %place, align 4
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %none, label %host
host:
  $call %status device_type %name, %place
  %failed = icmp ne i32 %status, 0
  %number = load i32, ptr %place, align 4
  %answer = select i1 %failed, i32 -1, i32 %number
  ret i32 %answer
none:
  %raised = call i32 @cd.h.raise(ptr @cd.unavailable, ptr @cd.no_device)
  ret i32 %raised
}
";

const SET_DEVICE: &str = "\
define internal i32 @cd.h.set_device(i32 %device_type, i32 %device_id) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %none, label %host
host:
  $call %status set_device %device_type, %device_id
  ret i32 %status
none:
  %raised = call i32 @cd.h.raise(ptr @cd.unavailable, ptr @cd.no_device)
  ret i32 %raised
}
";

// The interface is asked for once. Two threads may ask at the same time, and get the same answer;
// who sees a function sees what it is called with.
const GO_ON: &str = "\
define internal i32 @cd.h.goes_on(ptr %self) #0 {
  ret i32 0
}
define internal i32 @cd.h.go_on() noinline #0 {
entry:
  %found = alloca [4 x i64], align 8
  %known = load atomic ptr, ptr @cd.interrupt acquire, align $pointer
  %is_known = icmp ne ptr %known, null
  br i1 %is_known, label %call, label %ask
ask:
  store ptr null, ptr %found, align 8
  %place = getelementptr i8, ptr %found, i64 $pointer
  store ptr null, ptr %place, align $pointer
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %keep, label %host
host:
  $call %asked query @cd.interrupt_name, 1, %found
  %failed = icmp ne i32 %asked, 0
  %table = load ptr, ptr %place, align $pointer
  %none = icmp eq ptr %table, null
  %missing = or i1 %failed, %none
  br i1 %missing, label %keep, label %take
take:
  %self = load ptr, ptr %found, align 8
  store atomic ptr %self, ptr @cd.interrupt_self monotonic, align $pointer
  %go_on = load ptr, ptr %table, align $pointer
  br label %keep
keep:
  %answer = phi ptr [ @cd.h.goes_on, %ask ], [ @cd.h.goes_on, %host ], [ %go_on, %take ]
  store atomic ptr %answer, ptr @cd.interrupt release, align $pointer
  br label %call
call:
  %function = phi ptr [ %known, %entry ], [ %answer, %keep ]
  %with = load atomic ptr, ptr @cd.interrupt_self monotonic, align $pointer
  %status = call i32 %function(ptr %with)
  ret i32 %status
}
";

/// The answer to the question for the interface: its function, and what it is called with.
const INTERRUPT: [(&str, &str); 2] = [
    ("@cd.interrupt", "@cd.interrupt = internal global ptr null, align 8\n"),
    ("@cd.interrupt_self", "@cd.interrupt_self = internal global ptr null, align 8\n"),
];

const PARALLEL_LAUNCH: &str = "\
define internal i32 @cd.h.parallel_launch(ptr %body, ptr %data, i32 %tasks_max) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  $call %status parallel_launch %body, %data, %tasks_max
  ret i32 %status
own:
  %serial = call i32 %body(i32 0, i32 1, ptr %data)
  ret i32 %serial
}
";

const CHECK: &str = "\
define internal i64 @cd.h.check(ptr %table, ptr %texts, ptr %frame) cold noinline optnone #0 {
entry:
  %results = alloca [13 x i64], align 8
  br label %next
next:
  %at = phi ptr [ %table, %entry ], [ %to, %next ]
  %word = load i64, ptr %at, align 8
  %at.number = getelementptr i8, ptr %at, i64 8
  %number = load i64, ptr %at.number, align 8
  %following = getelementptr i8, ptr %at, i64 16
  %code = and i64 %word, 65535
  %d.high = lshr i64 %word, 16
  %d = and i64 %d.high, 65535
  %a.high = lshr i64 %word, 32
  %a = and i64 %a.high, 65535
  %b = lshr i64 %word, 48
  %at.a = getelementptr i64, ptr %frame, i64 %a
  %x = load i64, ptr %at.a, align 8
  %at.b = getelementptr i64, ptr %frame, i64 %b
  %y = load i64, ptr %at.b, align 8
  %is_load = icmp eq i64 %code, 3
  %pointer = inttoptr i64 %x to ptr
  %field = getelementptr i8, ptr %pointer, i64 %number
  %readable = select i1 %is_load, ptr %field, ptr %frame
  %r3 = load i64, ptr %readable, align 1
  %at.r3 = getelementptr i64, ptr %results, i64 3
  store i64 %r3, ptr %at.r3, align 8
  %sum = add i64 %x, %y
  %r4 = add i64 %sum, %number
  %at.r4 = getelementptr i64, ptr %results, i64 4
  store i64 %r4, ptr %at.r4, align 8
  %r5 = mul i64 %x, %y
  %at.r5 = getelementptr i64, ptr %results, i64 5
  store i64 %r5, ptr %at.r5, align 8
  %r6 = and i64 %x, %y
  %at.r6 = getelementptr i64, ptr %results, i64 6
  store i64 %r6, ptr %at.r6, align 8
  %r7 = xor i64 %x, %y
  %at.r7 = getelementptr i64, ptr %results, i64 7
  store i64 %r7, ptr %at.r7, align 8
  %by = and i64 %number, 63
  %r8 = shl i64 %x, %by
  %at.r8 = getelementptr i64, ptr %results, i64 8
  store i64 %r8, ptr %at.r8, align 8
  %r9 = ashr i64 %x, %by
  %at.r9 = getelementptr i64, ptr %results, i64 9
  store i64 %r9, ptr %at.r9, align 8
  %equal = icmp eq i64 %x, %y
  %r10 = zext i1 %equal to i64
  %at.r10 = getelementptr i64, ptr %results, i64 10
  store i64 %r10, ptr %at.r10, align 8
  %less = icmp slt i64 %x, %y
  %r11 = zext i1 %less to i64
  %at.r11 = getelementptr i64, ptr %results, i64 11
  store i64 %r11, ptr %at.r11, align 8
  %below = icmp ult i64 %x, %y
  %r12 = zext i1 %below to i64
  %at.r12 = getelementptr i64, ptr %results, i64 12
  store i64 %r12, ptr %at.r12, align 8
  %at.old = getelementptr i64, ptr %frame, i64 %d
  %old = load i64, ptr %at.old, align 8
  %at.r2 = getelementptr i64, ptr %results, i64 2
  store i64 %old, ptr %at.r2, align 8
  %at.result = getelementptr i64, ptr %results, i64 %code
  %result = load i64, ptr %at.result, align 8
  store i64 %result, ptr %at.old, align 8
  %target = getelementptr i8, ptr %table, i64 %number
  %is_jump = icmp eq i64 %code, 2
  %is_zero = icmp eq i64 %x, 0
  %jumps = and i1 %is_jump, %is_zero
  %to = select i1 %jumps, ptr %target, ptr %following
  %goes_on = icmp ugt i64 %code, 1
  br i1 %goes_on, label %next, label %ends
ends:
  %fails = icmp eq i64 %code, 1
  br i1 %fails, label %fail, label %return
return:
  ret i64 %x
fail:
  %text = getelementptr i8, ptr %texts, i64 %number
  %values = getelementptr i8, ptr %at.a, i64 0
  br label %measure
";

impl Helper {
    /// The symbol of the helper.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Raise => "cd.h.raise",
            Self::Fail => "cd.h.fail",
            Self::AllocateWorkspace => "cd.h.allocate_workspace",
            Self::FreeWorkspace => "cd.h.free_workspace",
            Self::CallPacked => "cd.h.call_packed",
            Self::DeviceType => "cd.h.device_type",
            Self::SetDevice => "cd.h.set_device",
            Self::GoOn => "cd.h.go_on",
            Self::ParallelLaunch => "cd.h.parallel_launch",
            Self::Check => "cd.h.check",
        }
    }

    fn text(self) -> String {
        let word = |from: &str, status: &str| WORD.replace("$from", from).replace("$status", status);
        match self {
            Self::Fail => return format!("{FAIL}{}", word("entry", "i32")),
            Self::Check => return format!("{CHECK}{}", word("fail", "i64")),
            Self::Raise => RAISE,
            Self::AllocateWorkspace => ALLOCATE_WORKSPACE,
            Self::FreeWorkspace => FREE_WORKSPACE,
            Self::CallPacked => CALL_PACKED,
            Self::DeviceType => DEVICE_TYPE,
            Self::SetDevice => SET_DEVICE,
            Self::GoOn => GO_ON,
            Self::ParallelLaunch => PARALLEL_LAUNCH,
        }
        .to_owned()
    }

    /// Other helpers that the helper calls.
    fn needs(self) -> &'static [Self] {
        match self {
            Self::AllocateWorkspace | Self::CallPacked | Self::DeviceType | Self::SetDevice => &[Self::Raise],
            Self::Raise
            | Self::Fail
            | Self::Check
            | Self::FreeWorkspace
            | Self::GoOn
            | Self::ParallelLaunch => &[],
        }
    }

    /// C functions that the helper calls: result, name, parameters.
    fn functions(self) -> &'static [(&'static str, &'static str, &'static str)] {
        const MALLOC: (&str, &str, &str) = ("ptr", "malloc", "$size");
        const FREE: (&str, &str, &str) = ("void", "free", "ptr");
        const DLSYM: (&str, &str, &str) = ("ptr", "dlsym", "ptr, ptr");
        match self {
            Self::Raise => &[DLSYM],
            Self::Fail | Self::Check => &[DLSYM, MALLOC, FREE],
            Self::AllocateWorkspace => &[MALLOC],
            Self::FreeWorkspace => &[FREE],
            Self::CallPacked | Self::DeviceType | Self::SetDevice | Self::GoOn | Self::ParallelLaunch => &[],
        }
    }

    /// Texts that the helper refers to, by name.
    fn texts(self) -> &'static [(&'static str, &'static str)] {
        const FFI_RAISE: (&str, &str) = ("cd.ffi_raise", "TVMFFIErrorSetRaisedFromCStr");
        const UNAVAILABLE: (&str, &str) = ("cd.unavailable", "Unavailable");
        match self {
            Self::Raise => &[FFI_RAISE],
            Self::Fail | Self::Check => &[FFI_RAISE, ("cd.no_memory", "no memory left to word an error")],
            Self::AllocateWorkspace => {
                &[("cd.out_of_memory", "OutOfMemory"), ("cd.no_workspace", "no memory left for workspace")]
            }
            Self::FreeWorkspace | Self::ParallelLaunch => &[],
            Self::GoOn => &[("cd.interrupt_name", "interrupt")],
            Self::DeviceType | Self::SetDevice => {
                &[UNAVAILABLE, ("cd.no_device", "no host to ask for a device; load this with Chipdock")]
            }
            Self::CallPacked => &[
                UNAVAILABLE,
                ("cd.no_host", "no host to call an imported function through; load this with Chipdock"),
            ],
        }
    }
}

impl Writer<'_> {
    /// Defines the environment pointer, which every loadable module has and loaders set.
    pub(crate) fn environment(&mut self) {
        self.around.globals.entry("@__chipdock_env".to_owned()).or_insert_with(|| ENVIRONMENT.to_owned());
    }

    /// Adds a helper and everything that it needs.
    pub(crate) fn helper(&mut self, helper: Helper) {
        if self.around.helpers.contains_key(helper.symbol()) {
            return;
        }
        self.environment();
        let layout = Layout::new(self.target);
        self.around.helpers.insert(helper.symbol().to_owned(), layout.fill_in(&helper.text()));
        for (ret, name, params) in helper.functions() {
            self.declare(ret, name, &layout.fill_in(params));
        }
        for (name, definition) in INTERRUPT.iter().filter(|_| helper == Helper::GoOn) {
            self.around.globals.insert((*name).to_owned(), (*definition).to_owned());
        }
        for (name, text) in helper.texts() {
            let name = format!("@{name}");
            let definition = definition(&name, text.as_bytes());
            self.around.globals.insert(name, definition);
        }
        for other in helper.needs() {
            self.helper(*other);
        }
    }

    /// Defines a constant with the bytes and a terminating zero, `@cd.message.3`; equal constants
    /// are shared.
    pub(crate) fn constant_text(&mut self, hint: &str, bytes: &[u8]) -> String {
        if let Some(known) = self.around.texts.get(bytes) {
            return known.clone();
        }
        let name = format!("@cd.{hint}.{}", self.around.texts.len());
        self.around.globals.insert(name.clone(), definition(&name, bytes));
        self.around.texts.insert(bytes.to_vec(), name.clone());
        name
    }

    /// Returns the name of an array with the bytes of a constant (IR-B8); equal ones are one array.
    pub(crate) fn constant_array(&mut self, data: &ConstantData, alignment_bytes: u32) -> String {
        let name = format!("@cd.constant.{alignment_bytes}.{}", data.digest());
        let definition = || {
            let (count, literal) = (data.bytes().len(), literal(data.bytes()));
            let head = format!("{name} = private unnamed_addr constant [{count} x i8]");
            format!("{head} c\"{literal}\", align {alignment_bytes}\n")
        };
        self.around.globals.entry(name.clone()).or_insert_with(definition);
        name
    }
}

fn definition(name: &str, bytes: &[u8]) -> String {
    let literal = literal(bytes);
    format!("{name} = private unnamed_addr constant [{} x i8] c\"{literal}\\00\"\n", bytes.len() + 1)
}

fn literal(bytes: &[u8]) -> String {
    let mut literal = String::with_capacity(bytes.len() + 8);
    for byte in bytes {
        match byte {
            b'"' | b'\\' => literal.push_str(&format!("\\{byte:02X}")),
            b' '..=b'~' => literal.push(char::from(*byte)),
            _ => literal.push_str(&format!("\\{byte:02X}")),
        }
    }
    literal
}

/// An assertion's text, as `cd.h.fail` reads it: the message, a zero, the length of the kind with
/// its zero as one byte, the kind, a zero, the location. In the message byte 255 is a placeholder
/// for a signed integer and byte 254 for an unsigned one; neither byte occurs in text.
#[derive(Debug)]
pub(crate) struct Message {
    text: Vec<u8>,
    kind: Vec<u8>,
    location: Vec<u8>,
    is_over: bool,
}

impl Message {
    /// An empty message for an error of a kind, in a function.
    pub(crate) fn new(kind: &str, location: &str) -> Self {
        let kind = until_zero(kind);
        let kind = kind[..kind.len().min(KIND_BYTES_MAX)].to_vec();
        Self { text: Vec::new(), kind, location: until_zero(location).to_vec(), is_over: false }
    }

    /// Appends a text. A zero in it ends the message, as in C.
    pub(crate) fn text(&mut self, text: &str) {
        if !self.is_over {
            self.text.extend(until_zero(text));
            self.is_over = text.contains('\0');
        }
    }

    /// Appends an integer.
    pub(crate) fn integer(&mut self, is_unsigned: bool) {
        if !self.is_over {
            self.text.push(if is_unsigned { 254 } else { 255 });
        }
    }

    /// The bytes, without the terminating zero.
    pub(crate) fn bytes(mut self) -> Vec<u8> {
        self.text.push(0);
        self.text.push(u8::try_from(self.kind.len() + 1).unwrap_or(u8::MAX));
        self.text.extend(self.kind);
        self.text.push(0);
        self.text.extend(self.location);
        self.text
    }
}

/// Maximum length of a kind in bytes: with its zero, the length is one byte.
const KIND_BYTES_MAX: usize = 254;

fn until_zero(text: &str) -> &[u8] {
    text.split('\0').next().unwrap_or("").as_bytes()
}

/// Blocks from which the assertions of a function leave it.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    /// Messages, with the blocks that they come from.
    pub(crate) from: Vec<(String, Label)>,
    values: usize,
}

impl Failure {
    /// The block that raises the error.
    pub(crate) fn label(&self) -> Label {
        Label::named("failed")
    }

    /// Reserves room for `count` integers at [`Failure::values_operand`].
    pub(crate) fn make_room(&mut self, count: usize) {
        self.values = self.values.max(count);
    }

    pub(crate) fn values_operand(&self) -> &'static str {
        if self.values == 0 { "null" } else { "%values" }
    }

    pub(crate) fn allocation(&self) -> String {
        if self.values == 0 {
            return String::new();
        }
        format!("  %values = alloca [{} x i64], align 8\n", self.values)
    }
}

#[cfg(test)]
mod tests {
    use chipdock_abi::{ENV_SLOTS, EnvType, env_slot};

    use super::Helper;

    const ALL: [Helper; 10] = [
        Helper::Raise,
        Helper::Fail,
        Helper::AllocateWorkspace,
        Helper::FreeWorkspace,
        Helper::CallPacked,
        Helper::DeviceType,
        Helper::SetDevice,
        Helper::GoOn,
        Helper::ParallelLaunch,
        Helper::Check,
    ];

    /// Each call of the environment names one of its functions, with as many arguments as that
    /// takes and a result where it has one.
    #[test]
    fn helpers_call_the_environment_as_it_is_described() {
        let mut called = Vec::new();
        for helper in ALL {
            for line in helper.text().lines().filter(|line| line.contains("$call")) {
                let words: Vec<&str> = line.split_whitespace().collect();
                let [_, result, name, args @ ..] = &words[..] else { panic!("{line}") };
                let slot = env_slot(name).unwrap_or_else(|| panic!("{line}"));
                assert_eq!(slot.params.len(), args.len(), "{line}");
                assert_eq!(*result == "-", slot.result == EnvType::Void, "{line}");
                called.push(slot.name);
            }
        }
        called.sort_unstable();
        called.dedup();
        // The others are called by loaders.
        assert_eq!(called.len() + 3, ENV_SLOTS.len(), "{called:?}");
    }
}
