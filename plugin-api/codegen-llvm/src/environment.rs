//! The environment that compiled code reaches its host through, and what serves where there is none (rule V8).
//!
//! Offsets are those of `ChipdockEnv` of chipdock-abi. A DLDevice is two 32-bit integers, held as one of 64 bits. What
//! depends on the target stands in the texts as words that begin with `$`; see `Layout::fill_in`.

use crate::layout::Layout;
use crate::writer::{Label, Writer};

const ENVIRONMENT: &str = "@__chipdock_env = global ptr null, align 8\n";

/// A function that the writer brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Helper {
    /// (kind, message) -> -1.
    Raise,
    /// (text, values) -> -1: words a [`Message`], and raises it.
    Fail,
    /// (device, size in bytes) -> pointer.
    AllocateWorkspace,
    /// (device, pointer) -> status.
    FreeWorkspace,
    /// (name, values, count) -> status.
    CallPacked,
    /// (body, data, most tasks) -> status.
    ParallelLaunch,
}

const RAISE: &str = "\
define internal i32 @cd.h.raise(ptr %kind, ptr %message) cold noinline optnone #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %find, label %host
host:
  %slot = getelementptr i8, ptr %env, i64 $slot.1
  %raise = load ptr, ptr %slot, align $pointer
  call void %raise(ptr %env, ptr %kind, ptr %message)
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
  br label %kind
kind:
  %k = phi ptr [ %text, %entry ], [ %k.next, %kind ]
  %k.byte = load i8, ptr %k, align 1
  %k.next = getelementptr i8, ptr %k, i64 1
  %k.ends = icmp eq i8 %k.byte, 0
  br i1 %k.ends, label %measure, label %kind
measure:
  %m = phi ptr [ %k.next, %kind ], [ %m.next, %measure ]
  %size = phi i64 [ 1, %kind ], [ %size.next, %measure ]
  %m.byte = load i8, ptr %m, align 1
  %m.next = getelementptr i8, ptr %m, i64 1
  %m.integer = icmp ult i8 %m.byte, 3
  %m.size = select i1 %m.integer, i64 20, i64 1
  %size.next = add i64 %size, %m.size
  %m.ends = icmp eq i8 %m.byte, 0
  br i1 %m.ends, label %measured, label %measure
measured:
  $malloc %out %size.next
  %none = icmp eq ptr %out, null
  br i1 %none, label %full, label %next
full:
  %unworded = call i32 @cd.h.raise(ptr %text, ptr @cd.no_memory)
  ret i32 %unworded
next:
  %s = phi ptr [ %k.next, %measured ], [ %s.next, %plain ], [ %e.next, %escaped ], [ %s.next, %wrote ]
  %o = phi ptr [ %out, %measured ], [ %o.plain, %plain ], [ %o.escaped, %escaped ], [ %o.end, %wrote ]
  %v = phi ptr [ %values, %measured ], [ %v, %plain ], [ %v, %escaped ], [ %v.next, %wrote ]
  %byte = load i8, ptr %s, align 1
  %s.next = getelementptr i8, ptr %s, i64 1
  switch i8 %byte, label %plain [
    i8 0, label %ready
    i8 1, label %integer
    i8 2, label %integer
    i8 3, label %escaped
  ]
escaped:
  %e.byte = load i8, ptr %s.next, align 1
  %e.char = sub i8 %e.byte, 64
  store i8 %e.char, ptr %o, align 1
  %e.next = getelementptr i8, ptr %s, i64 2
  %o.escaped = getelementptr i8, ptr %o, i64 1
  br label %next
plain:
  store i8 %byte, ptr %o, align 1
  %o.plain = getelementptr i8, ptr %o, i64 1
  br label %next
integer:
  %x = load i64, ptr %v, align 8
  %v.next = getelementptr i8, ptr %v, i64 8
  %is_signed = icmp eq i8 %byte, 1
  %is_below = icmp slt i64 %x, 0
  %is_negative = and i1 %is_signed, %is_below
  %minus = sub i64 0, %x
  %magnitude = select i1 %is_negative, i64 %minus, i64 %x
  store i8 45, ptr %o, align 1
  %sign = zext i1 %is_negative to i64
  %o.first = getelementptr i8, ptr %o, i64 %sign
  br label %count
count:
  %c.rest = phi i64 [ %magnitude, %integer ], [ %c.less, %count ]
  %c.at = phi ptr [ %o.first, %integer ], [ %c.next, %count ]
  %c.next = getelementptr i8, ptr %c.at, i64 1
  %c.less = udiv i64 %c.rest, 10
  %c.ends = icmp eq i64 %c.less, 0
  br i1 %c.ends, label %digits, label %count
digits:
  %d.rest = phi i64 [ %magnitude, %count ], [ %d.less, %digits ]
  %d.end = phi ptr [ %c.next, %count ], [ %d.at, %digits ]
  %d.at = getelementptr i8, ptr %d.end, i64 -1
  %d.less = udiv i64 %d.rest, 10
  %d.tens = mul i64 %d.less, 10
  %d.digit = sub i64 %d.rest, %d.tens
  %d.small = trunc i64 %d.digit to i8
  %d.char = add i8 %d.small, 48
  store i8 %d.char, ptr %d.at, align 1
  %d.ends = icmp eq i64 %d.less, 0
  br i1 %d.ends, label %wrote, label %digits
wrote:
  %o.end = phi ptr [ %c.next, %digits ]
  br label %next
ready:
  store i8 0, ptr %o, align 1
  %status = call i32 @cd.h.raise(ptr %text, ptr %out)
  call void @free(ptr %out)
  ret i32 %status
}
";

const ALLOCATE_WORKSPACE: &str = "\
define internal noalias align 64 ptr @cd.h.allocate_workspace(i64 %device, i64 %size_bytes) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  %slot = getelementptr i8, ptr %env, i64 $slot.2
  %allocate = load ptr, ptr %slot, align $pointer
  $split
  %given = call ptr %allocate(ptr %env, $device, i64 %size_bytes)
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
define internal i32 @cd.h.free_workspace(i64 %device, ptr %data) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  %slot = getelementptr i8, ptr %env, i64 $slot.3
  %free = load ptr, ptr %slot, align $pointer
  $split
  %status = call i32 %free(ptr %env, $device, ptr %data)
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

const CALL_PACKED: &str = "\
define internal i32 @cd.h.call_packed(ptr %name, ptr %values, i32 %count) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %none, label %host
host:
  %slot = getelementptr i8, ptr %env, i64 $slot.6
  %call = load ptr, ptr %slot, align $pointer
  %wide = sext i32 %count to i64
  %bytes = shl i64 %wide, 4
  %result = getelementptr i8, ptr %values, i64 %bytes
  %status = call i32 %call(ptr %env, ptr %name, ptr %values, i32 %count, ptr %result)
  ret i32 %status
none:
  %raised = call i32 @cd.h.raise(ptr @cd.unavailable, ptr @cd.no_host)
  ret i32 %raised
}
";

const PARALLEL_LAUNCH: &str = "\
define internal i32 @cd.h.parallel_launch(ptr %body, ptr %data, i32 %tasks_max) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  %slot = getelementptr i8, ptr %env, i64 $slot.7
  %launch = load ptr, ptr %slot, align $pointer
  %status = call i32 %launch(ptr %env, ptr %body, ptr %data, i32 %tasks_max)
  ret i32 %status
own:
  %serial = call i32 %body(i32 0, i32 1, ptr %data)
  ret i32 %serial
}
";

impl Helper {
    /// Its symbol.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Raise => "cd.h.raise",
            Self::Fail => "cd.h.fail",
            Self::AllocateWorkspace => "cd.h.allocate_workspace",
            Self::FreeWorkspace => "cd.h.free_workspace",
            Self::CallPacked => "cd.h.call_packed",
            Self::ParallelLaunch => "cd.h.parallel_launch",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Raise => RAISE,
            Self::Fail => FAIL,
            Self::AllocateWorkspace => ALLOCATE_WORKSPACE,
            Self::FreeWorkspace => FREE_WORKSPACE,
            Self::CallPacked => CALL_PACKED,
            Self::ParallelLaunch => PARALLEL_LAUNCH,
        }
    }

    /// Other helpers that it calls.
    fn needs(self) -> &'static [Self] {
        match self {
            Self::Fail | Self::AllocateWorkspace | Self::CallPacked => &[Self::Raise],
            Self::Raise | Self::FreeWorkspace | Self::ParallelLaunch => &[],
        }
    }

    /// C functions that it calls: result, name, parameters.
    fn functions(self) -> &'static [(&'static str, &'static str, &'static str)] {
        const MALLOC: (&str, &str, &str) = ("ptr", "malloc", "$size");
        const FREE: (&str, &str, &str) = ("void", "free", "ptr");
        match self {
            Self::Raise => &[("ptr", "dlsym", "ptr, ptr")],
            Self::Fail => &[MALLOC, FREE],
            Self::AllocateWorkspace => &[MALLOC],
            Self::FreeWorkspace => &[FREE],
            Self::CallPacked | Self::ParallelLaunch => &[],
        }
    }

    /// Texts that it mentions, by name.
    fn texts(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Raise => &[("cd.ffi_raise", "TVMFFIErrorSetRaisedFromCStr")],
            Self::Fail => &[("cd.no_memory", "no memory left to word an error")],
            Self::AllocateWorkspace => {
                &[("cd.out_of_memory", "OutOfMemory"), ("cd.no_workspace", "no memory left for workspace")]
            }
            Self::FreeWorkspace | Self::ParallelLaunch => &[],
            Self::CallPacked => &[
                ("cd.unavailable", "Unavailable"),
                ("cd.no_host", "no host to call an imported function through; load this with Chipdock"),
            ],
        }
    }
}

impl Writer<'_> {
    /// Defines the environment: every loadable text has it, for loaders to set.
    pub(crate) fn environment(&mut self) {
        self.around.globals.entry("@__chipdock_env".to_owned()).or_insert_with(|| ENVIRONMENT.to_owned());
    }

    /// Brings a helper, with what it needs.
    pub(crate) fn helper(&mut self, helper: Helper) {
        if self.around.helpers.contains_key(helper.symbol()) {
            return;
        }
        self.environment();
        let layout = Layout::of(self.target);
        self.around.helpers.insert(helper.symbol().to_owned(), layout.fill_in(helper.text()));
        for (ret, name, params) in helper.functions() {
            self.declare(ret, name, &layout.fill_in(params));
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

    /// A constant that holds the bytes and a zero: `@cd.message.3`. Equal ones are one.
    pub(crate) fn constant_text(&mut self, hint: &str, bytes: &[u8]) -> String {
        if let Some(known) = self.around.texts.get(bytes) {
            return known.clone();
        }
        let name = format!("@cd.{hint}.{}", self.around.texts.len());
        self.around.globals.insert(name.clone(), definition(&name, bytes));
        self.around.texts.insert(bytes.to_vec(), name.clone());
        name
    }
}

fn definition(name: &str, bytes: &[u8]) -> String {
    let mut literal = String::with_capacity(bytes.len() + 8);
    for byte in bytes {
        match byte {
            b'"' | b'\\' => literal.push_str(&format!("\\{byte:02X}")),
            b' '..=b'~' => literal.push(char::from(*byte)),
            _ => literal.push_str(&format!("\\{byte:02X}")),
        }
    }
    format!("{name} = private unnamed_addr constant [{} x i8] c\"{literal}\\00\"\n", bytes.len() + 1)
}

/// An assertion's text, as `cd.h.fail` reads it: the kind, a zero, then the message, in which byte 1 stands for a signed
/// integer and byte 2 for an unsigned one. Bytes below 4 of texts stand behind a byte 3, 64 greater.
#[derive(Debug)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// The message of an error of a kind.
    pub(crate) fn new(kind: &str) -> Self {
        let mut bytes: Vec<u8> = kind.bytes().filter(|byte| *byte != 0).collect();
        bytes.push(0);
        Self(bytes)
    }

    /// Goes on with a text.
    pub(crate) fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            if byte < 4 {
                self.0.extend([3, byte + 64]);
            } else {
                self.0.push(byte);
            }
        }
    }

    /// Goes on with an integer.
    pub(crate) fn integer(&mut self, is_unsigned: bool) {
        self.0.push(if is_unsigned { 2 } else { 1 });
    }

    /// The bytes, without the zero behind them.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Where the assertions of a function leave it.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    /// Messages, and the blocks that they come from.
    pub(crate) from: Vec<(String, Label)>,
    values: usize,
}

impl Failure {
    /// The block that words the error.
    pub(crate) fn label(&self) -> Label {
        Label::named("failed")
    }

    /// Makes room for so many integers, at [`Failure::values_operand`].
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
