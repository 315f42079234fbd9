//! Requests for unsupported things, and invalid texts.

use chipdock_abi::{CHIPDOCK_OK, ChipdockDataSpaceRequest, ChipdockStr};
use chipdock_plugin_api::Any;

use super::device::{no_space, request};
use super::{OutSlot, typed, usable};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    for (name, alignment) in
        [("0", 0_u64), ("3", 3), ("48", 48), ("4-gib-and-1", (1 << 32) + 1), ("max", u64::MAX)]
    {
        let name = format!("alignment/{name}");
        cases.case(Group::Misuse, name, "D.4", Subject::DeviceApi).run(move |c: &Context| {
            let device = c.device()?;
            let request = ChipdockDataSpaceRequest { alignment_bytes: alignment, ..request(64) };
            no_space(&device, 0, &request, &["ValueError"], &[&alignment.to_string()])?;
            usable(&device)
        });
    }
    for (name, kind) in [("minus-1", -1), ("4", 4), ("1000", 1000), ("max", i32::MAX)] {
        let name = format!("space-kind/{name}");
        cases.case(Group::Misuse, name, "P3.6", Subject::DeviceApi).run(move |c: &Context| {
            let device = c.device()?;
            let request = ChipdockDataSpaceRequest { kind, ..request(64) };
            no_space(&device, 0, &request, &["Unsupported"], &[&kind.to_string()])?;
            usable(&device)
        });
    }
    let scopes: [(&str, &[u8], &[&str]); 6] = [
        ("unknown", b"no-such-scope", &["Unsupported"]),
        ("upper-case", b"GLOBAL", &["Unsupported"]),
        ("nul-behind", b"global\0", &["Unsupported", "ValueError"]),
        ("nul-before", b"\0global", &["Unsupported", "ValueError"]),
        ("blank", b" ", &["Unsupported", "ValueError"]),
        ("not-utf8", b"glob\xFFal", &["Unsupported", "ValueError"]),
    ];
    for (name, scope, kinds) in scopes {
        let name = format!("scope/{name}");
        cases.case(Group::Misuse, name, "D.9", Subject::DeviceApi).run(move |c: &Context| {
            let device = c.device()?;
            let request = ChipdockDataSpaceRequest { scope: text(scope), ..request(64) };
            no_space(&device, 0, &request, kinds, &[])?;
            usable(&device)
        });
    }
    let keys: [(&str, &[u8]); 7] = [
        ("empty", b""),
        ("unknown", b"no such attribute"),
        ("nul-behind", b"exist\0"),
        ("nul-and-more", b"device_name\0name"),
        ("longer", b"existence"),
        ("upper-case", b"EXIST"),
        ("not-utf8", b"ex\xFFist"),
    ];
    for (name, key) in keys {
        let name = format!("key/{name}");
        cases
            .case(Group::Misuse, name, "D.3", Subject::DeviceApi)
            .run(move |c: &Context| unknown_key(c, key));
    }
    cases.case(Group::Misuse, "key/64-kib", "D.3", Subject::DeviceApi).run(|c: &Context| {
        let key = vec![b'k'; 64 << 10];
        unknown_key(c, &key)
    });
}

/// Returns bytes as a text of the ABI, without checking them.
pub(super) fn text(bytes: &[u8]) -> ChipdockStr {
    ChipdockStr { data: bytes.as_ptr().cast(), size: bytes.len() }
}

/// Returns a text with a size and a null pointer.
pub(super) fn null_text(size: usize) -> ChipdockStr {
    ChipdockStr { data: std::ptr::null(), size }
}

/// Checks that an unknown key is answered with `None`; a key that is no text may be refused as
/// well.
fn unknown_key(c: &Context, key: &[u8]) -> Verdict {
    let device = c.device()?;
    let host = device.host();
    let (table, self_) = device.table()?;
    let mut out = OutSlot::new();
    drop(host.take_error());
    // SAFETY: the table is registered and called with its `self_`; the key is live, and there is
    // room for the result.
    let status = unsafe { (table.attribute)(self_, 0, text(key), out.as_mut_ptr()) };
    let what = format!("attribute \"{}\"", key[..key.len().min(40)].escape_ascii());
    if status == CHIPDOCK_OK {
        // SAFETY: the caller owns the result of a successful call.
        let value = unsafe { Any::from_raw(out.0) };
        let found = format!("a value of type {}", value.type_index());
        ensure(value.is_none(), format!("{what}: None, it is not known"), found)?;
        return usable(&device);
    }
    let Some(error) = host.take_error() else {
        let found = format!("status {status}, and no error was raised");
        return Err(Stop::failed(format!("{what}: None"), found).clause("P7.1"));
    };
    typed(&what, &error)?;
    let is_text = std::str::from_utf8(key).is_ok() && !key.contains(&0);
    let found = format!("{}: {}", error.kind(), error.message());
    ensure(
        !is_text && error.kind().as_str() == "ValueError",
        format!("{what}: None, it is not known"),
        found,
    )?;
    out.untouched(&what)?;
    usable(&device)
}
