//! Device counts and attributes.

use chipdock_abi as abi;
use chipdock_plugin_api::{Any, Shape, attribute};
use chipdock_raw_host::Device;

use super::value::{type_name, well_formed};
use crate::stop::{ensure, refused};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

/// Required form of an attribute that is not `None`.
#[derive(Clone, Copy)]
enum Form {
    /// A bool.
    Flag,
    /// An integer from the first to the second bound.
    Number(i64, i64),
    /// A power of two from the first to the second bound.
    Power(i64, i64),
    /// A text of one line.
    Text,
    /// `"major.minor"`.
    Version,
    /// Three extents, each positive.
    Extents,
}

const KIB: i64 = 1 << 10;
const TIB: i64 = 1 << 40;

/// Attributes with their allowed ranges: wide enough for any machine, narrow enough to detect a
/// wrong unit or an overflow.
const FORMS: &[(&str, Form)] = &[
    (attribute::EXIST, Form::Flag),
    (attribute::DEVICE_NAME, Form::Text),
    (attribute::VENDOR_NAME, Form::Text),
    // One thread is no block, and no warp: None.
    (attribute::MAX_THREADS_PER_BLOCK, Form::Number(2, 1 << 24)),
    (attribute::WARP_SIZE, Form::Number(2, 4096)),
    (attribute::MAX_SHARED_MEMORY_PER_BLOCK_BYTES, Form::Number(0, TIB)),
    (attribute::COMPUTE_VERSION, Form::Version),
    (attribute::MAX_CLOCK_RATE_KHZ, Form::Number(10_000, 20_000_000)),
    (attribute::MULTI_PROCESSOR_COUNT, Form::Number(1, 1 << 24)),
    (attribute::MAX_THREAD_DIMENSIONS, Form::Extents),
    (attribute::MAX_GRID_DIMENSIONS, Form::Extents),
    (attribute::MAX_REGISTERS_PER_BLOCK, Form::Number(1, 1 << 32)),
    (attribute::ARCH, Form::Text),
    (attribute::API_VERSION, Form::Number(0, i64::MAX)),
    (attribute::DRIVER_VERSION, Form::Text),
    (attribute::L1_CACHE_SIZE_BYTES, Form::Number(256, TIB)),
    (attribute::L2_CACHE_SIZE_BYTES, Form::Number(256, TIB)),
    (attribute::L3_CACHE_SIZE_BYTES, Form::Number(256, TIB)),
    (attribute::CACHE_LINE_SIZE_BYTES, Form::Power(4, 4096)),
    (attribute::TOTAL_GLOBAL_MEMORY_BYTES, Form::Number(KIB, 1024 * TIB)),
    (attribute::AVAILABLE_GLOBAL_MEMORY_BYTES, Form::Number(0, 1024 * TIB)),
    (attribute::IMAGE_PITCH_ALIGNMENT, Form::Number(1, 1 << 24)),
    (attribute::PHYSICAL_CORE_COUNT, Form::Number(1, 1 << 24)),
];

/// Attributes that may differ from one call to the next.
const CHANGES: &[&str] = &[attribute::AVAILABLE_GLOBAL_MEMORY_BYTES];

/// Pairs of attributes, the first at most the second, with the reason.
const AT_MOST: &[(&str, &str, &str)] = &[
    (
        attribute::AVAILABLE_GLOBAL_MEMORY_BYTES,
        attribute::TOTAL_GLOBAL_MEMORY_BYTES,
        "what is free is a part of what there is",
    ),
    (
        attribute::MAX_SHARED_MEMORY_PER_BLOCK_BYTES,
        attribute::TOTAL_GLOBAL_MEMORY_BYTES,
        "the shared memory of one block is less than the device's memory",
    ),
    (attribute::WARP_SIZE, attribute::MAX_THREADS_PER_BLOCK, "a block holds one warp at least"),
    (attribute::L1_CACHE_SIZE_BYTES, attribute::L2_CACHE_SIZE_BYTES, "levels of cache grow"),
    (attribute::L2_CACHE_SIZE_BYTES, attribute::L3_CACHE_SIZE_BYTES, "levels of cache grow"),
    (attribute::CACHE_LINE_SIZE_BYTES, attribute::L1_CACHE_SIZE_BYTES, "a line is a part of its cache"),
];

/// Unknown keys, with names for the cases.
const UNKNOWN_KEYS: &[(&str, &str)] = &[
    ("a-word", "no_such_attribute"),
    ("empty", ""),
    ("blank", " "),
    ("nul-inside", "exist\0x"),
    ("prefix-of-a-key", "device_nam"),
    ("key-and-more", "device_name_"),
    ("upper-case", "DEVICE_NAME"),
    ("not-ascii", "größe_字节_\u{1f600}"),
    ("format-directives", "%s%n%x{}"),
];

const LONG_KEY_BYTES: usize = 100 * 1024;
const N_THREADS: usize = 32;

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: String, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Query, name, clause, Subject::DeviceApi).run(body);
    };
    case("exist/first".to_owned(), "D.3", first_exists);
    case("exist/past-the-last".to_owned(), "D.3", past_the_last);
    case("count/stable".to_owned(), "D.14", count_is_stable);
    case("count/every-device-exists".to_owned(), "D.14", every_device_exists);
    case("attribute/same-again".to_owned(), "D.12", same_again);
    case("attribute/same-on-32-threads".to_owned(), "P10.1", same_on_threads);
    case("attribute/same-on-another-thread".to_owned(), "D.12", same_on_another_thread);
    case("attribute/unknown/100-kilobytes".to_owned(), "D.3", |c| unknown(c, &"k".repeat(LONG_KEY_BYTES)));
    case("attribute/unknown/not-utf8".to_owned(), "D.3", key_that_is_no_text);
    case("attribute/unknown/null-and-empty".to_owned(), "D.3", key_at_null);
    case("attribute/failure-writes-nothing".to_owned(), "P7.8", failure_writes_nothing);
    case("agree/part-and-whole".to_owned(), "D.13", part_and_whole);
    case("agree/axes-of-a-block".to_owned(), "D.13", axes_of_a_block);
    for (key, form) in FORMS {
        let (key, form) = (*key, *form);
        let draft = cases.case(Group::Query, format!("attribute/type/{key}"), "D.11", Subject::DeviceApi);
        draft.run(move |c| has_form(c, key, form));
        let name = format!("attribute/absent-device/{key}");
        cases.case(Group::Query, name, "D.3", Subject::DeviceApi).run(move |c| absent_device(c, key));
    }
    for (name, key) in UNKNOWN_KEYS {
        let name = format!("attribute/unknown/{name}");
        cases.case(Group::Query, name, "D.3", Subject::DeviceApi).run(|c| unknown(c, key));
    }
}

/// Returns the first and the last device, which may be the same.
fn ends(device: &Device) -> Verdict<Vec<i32>> {
    let last = device.count()? - 1;
    Ok(if last > 0 { vec![0, last] } else { vec![0] })
}

/// Returns ids of absent devices.
fn absent_ids(device: &Device) -> Verdict<[i32; 4]> {
    Ok([device.count()?, -1, i32::MIN, i32::MAX])
}

fn first_exists(c: &Context) -> Verdict {
    let found = c.device()?.attribute(0, attribute::EXIST)?;
    let answer = found.to::<bool>().ok();
    ensure(answer == Some(true), "exist of device 0: true", format!("{answer:?}"))
}

fn past_the_last(c: &Context) -> Verdict {
    let device = c.device()?;
    let count = device.count()?;
    let answer = device.attribute(count, attribute::EXIST)?.to::<bool>().ok();
    ensure(answer == Some(false), format!("exist of device {count}: false"), format!("{answer:?}"))?;
    refused(
        "device_name of a device that is not there",
        device.attribute(count, attribute::DEVICE_NAME),
        &["ValueError"],
    )
}

fn count_is_stable(c: &Context) -> Verdict {
    let device = c.device()?;
    let first = device.count()?;
    ensure(first >= 0, "device_count: 0 or more", first)?;
    let mut before = first;
    for _ in 0..100 {
        let again = device.count()?;
        ensure(again >= before, format!("device_count: {before} or more, as before"), again)?;
        before = again;
    }
    Ok(())
}

fn every_device_exists(c: &Context) -> Verdict {
    let device = c.device()?;
    for id in 0..device.count()? {
        let answer = device.attribute(id, attribute::EXIST)?.to::<bool>().ok();
        ensure(answer == Some(true), format!("exist of device {id}: true"), format!("{answer:?}"))?;
    }
    Ok(())
}

fn has_form(c: &Context, key: &str, form: Form) -> Verdict {
    let device = c.device()?;
    for id in ends(&device)? {
        let value = device.attribute(id, key)?;
        let what = format!("{key} of device {id}");
        well_formed(&what, &value)?;
        if value.is_none() && key != attribute::EXIST {
            continue;
        }
        form.check(&what, &value)?;
    }
    Ok(())
}

impl Form {
    fn check(self, what: &str, value: &Any) -> Verdict {
        let types: &[i32] = match self {
            Self::Flag => &[abi::CHIPDOCK_TYPE_BOOL],
            Self::Number(..) | Self::Power(..) => &[abi::CHIPDOCK_TYPE_INT],
            Self::Text | Self::Version => &[abi::CHIPDOCK_TYPE_SMALL_STR, abi::CHIPDOCK_TYPE_STR],
            Self::Extents => &[abi::CHIPDOCK_TYPE_SHAPE],
        };
        let expected = types.iter().map(|index| type_name(*index)).collect::<Vec<_>>().join(" or ");
        let found = type_name(value.type_index());
        ensure(types.contains(&value.type_index()), format!("{what}: {expected}, or None"), found)?;
        match self {
            Self::Flag => Ok(()),
            Self::Number(from, to) | Self::Power(from, to) => {
                let number = value.to::<i64>()?;
                let is_right = !matches!(self, Self::Power(..)) || number.count_ones() == 1;
                let sort = if matches!(self, Self::Power(..)) { "a power of two" } else { "a number" };
                let expected = format!(
                    "{what}: {sort} from {from} to {to}; None where it is not known, or means nothing for the device"
                );
                ensure(is_right && (from..=to).contains(&number), expected, number)
                    .map_err(|stop| stop.note("the unit stands at the end of the key"))
            }
            Self::Text | Self::Version => text(self, what, &value.to::<String>()?),
            Self::Extents => {
                let shape = value.to::<Shape>()?;
                let extents: &[i64] = &shape;
                let good = extents.len() == 3 && extents.iter().all(|extent| *extent > 0);
                ensure(good, format!("{what}: three positive extents, for x, y, z"), format!("{extents:?}"))
            }
        }
    }
}

fn text(form: Form, what: &str, text: &str) -> Verdict {
    let good = !text.is_empty() && text.trim() == text && !text.chars().any(char::is_control);
    let expected = format!("{what}: one line of text without blanks at its ends; None when it is not known");
    ensure(good && text.len() <= 512, expected, format!("{text:?}"))?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = text.split_once('.').is_some_and(|(major, minor)| is_number(major) && is_number(minor));
    let any_text = !matches!(form, Form::Version);
    ensure(any_text || is_version, format!("{what}: \"major.minor\""), format!("{text:?}"))
}

fn absent_device(c: &Context, key: &str) -> Verdict {
    let device = c.device()?;
    for id in absent_ids(&device)? {
        let what = format!("{key} of device {id}, which is not there");
        if key == attribute::EXIST {
            let value = device.attribute(id, key)?;
            Form::Flag.check(&what, &value)?;
            ensure(!value.to::<bool>()?, format!("{what}: false"), "true")?;
            continue;
        }
        refused(&what, device.attribute(id, key), &["ValueError"])?;
    }
    Ok(())
}

/// Checks that a failed call writes nothing to its result.
fn failure_writes_nothing(c: &Context) -> Verdict {
    let device = c.device()?;
    for id in absent_ids(&device)? {
        for key in attribute::ALL.iter().filter(|key| **key != attribute::EXIST) {
            untouched(&device, &format!("{key} of device {id}, which is not there"), id, key)?;
        }
    }
    Ok(())
}

fn untouched(device: &Device, what: &str, id: i32, key: &str) -> Verdict {
    const PATTERN: i64 = 0x5a5a_5a5a_5a5a_5a5a;
    let before = Any::from(PATTERN).into_raw();
    let mut raw = before;
    let failed = device.call("attribute", |table, self_| {
        let key = chipdock_plugin_api::text::str_out(key);
        // SAFETY: the table is registered and called with its `self_`; the key is live, and there
        // is room for the result.
        unsafe { (table.attribute)(self_, id, key, &mut raw) }
    });
    // SAFETY: eight bytes of plain data for every type.
    let payload = unsafe { raw.value.v_int64 };
    let is_same = (raw.type_index, raw.small_length, payload) == (before.type_index, 0, PATTERN);
    let found = format!("{}, payload {payload:#x}", type_name(raw.type_index));
    ensure(failed.is_ok() || is_same, format!("{what}: the result as it was before the call"), found)
}

fn is_none(what: &str, value: &Any) -> Verdict {
    ensure(value.is_none(), format!("{what}: None, which says that it is not known"), format!("{value:?}"))
}

fn unknown(c: &Context, key: &str) -> Verdict {
    let device = c.device()?;
    let shown: String = key.chars().take(20).collect();
    let what = format!("the attribute {shown:?} of {} bytes", key.len());
    for id in ends(&device)? {
        is_none(&what, &device.attribute(id, key)?)?;
    }
    for id in absent_ids(&device)? {
        let what = format!("{what} of device {id}, which is not there");
        refused(&what, device.attribute(id, key), &["ValueError"])?;
    }
    Ok(())
}

/// Queries a key given as raw bytes.
fn raw_key(device: &Device, key: abi::ChipdockStr) -> Result<Any, chipdock_plugin_api::Error> {
    let mut raw = Any::NONE.into_raw();
    device.call("attribute", |table, self_| {
        // SAFETY: the table is registered and called with its `self_`; the key lives for the call,
        // and there is room for the result.
        unsafe { (table.attribute)(self_, 0, key, &mut raw) }
    })?;
    // SAFETY: the caller owns the result.
    Ok(unsafe { Any::from_raw(raw) })
}

fn key_that_is_no_text(c: &Context) -> Verdict {
    let bytes = [0xff_u8, 0xfe, b'e', 0x80];
    let key = abi::ChipdockStr { data: bytes.as_ptr().cast(), size: bytes.len() };
    match raw_key(&c.device()?, key) {
        Ok(value) => is_none("a key that is no UTF-8", &value),
        refusal => refused("a key that is no UTF-8", refusal, &["ValueError"]),
    }
}

fn key_at_null(c: &Context) -> Verdict {
    let key = abi::ChipdockStr { data: std::ptr::null(), size: 0 };
    is_none("the empty key, whose pointer is null", &raw_key(&c.device()?, key)?)
}

/// Returns a device's answers to every constant key as texts.
fn answers(device: &Device, id: i32) -> Verdict<Vec<(String, String)>> {
    let mut all = Vec::new();
    for key in attribute::ALL.iter().filter(|key| !CHANGES.contains(key)) {
        let value = device.attribute(id, key)?;
        let text = match value.type_index() {
            abi::CHIPDOCK_TYPE_SHAPE => format!("{:?}", &*value.to::<Shape>()?),
            abi::CHIPDOCK_TYPE_STR | abi::CHIPDOCK_TYPE_SMALL_STR => value.to::<String>()?,
            _ => format!("{value:?}"),
        };
        all.push((format!("{key} of device {id}"), text));
    }
    Ok(all)
}

fn agree(when: &str, first: &[(String, String)], second: &[(String, String)]) -> Verdict {
    for ((key, before), (_, after)) in first.iter().zip(second) {
        ensure(before == after, format!("{key}: {before} {when} too"), after)?;
    }
    Ok(())
}

fn same_again(c: &Context) -> Verdict {
    let device = c.device()?;
    for id in ends(&device)? {
        let first = answers(&device, id)?;
        for _ in 0..3 {
            agree("when asked again", &first, &answers(&device, id)?)?;
        }
    }
    Ok(())
}

fn join<T>(handle: std::thread::ScopedJoinHandle<'_, Verdict<T>>) -> Verdict<T> {
    handle.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the suite panicked")))
}

fn same_on_another_thread(c: &Context) -> Verdict {
    let device = &c.device()?;
    for id in ends(device)? {
        let there = std::thread::scope(|scope| join(scope.spawn(move || answers(device, id))))?;
        agree("on another thread", &answers(device, id)?, &there)?;
    }
    Ok(())
}

fn same_on_threads(c: &Context) -> Verdict {
    let device = &c.device()?;
    let first = &answers(device, 0)?;
    std::thread::scope(|scope| {
        let ask = move || {
            for _ in 0..8 {
                agree("on 32 threads at once", first, &answers(device, 0)?)?;
                // The error belongs to the thread that made the failing call.
                let refusal = device.attribute(i32::MAX, attribute::DEVICE_NAME);
                refused("device_name of no device, on 32 threads at once", refusal, &["ValueError"])?;
            }
            Ok(())
        };
        let handles: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(ask)).collect();
        handles.into_iter().try_for_each(join)
    })
}

fn number(device: &Device, id: i32, key: &str) -> Verdict<Option<i64>> {
    Ok(device.attribute(id, key)?.to::<Option<i64>>()?)
}

fn part_and_whole(c: &Context) -> Verdict {
    let device = c.device()?;
    for id in ends(&device)? {
        for (part, whole, why) in AT_MOST {
            // The available amount may shrink between two calls, so the part is queried last.
            let (more, less) = (number(&device, id, whole)?, number(&device, id, part)?);
            if let (Some(less), Some(more)) = (less, more) {
                ensure(less <= more, format!("device {id}: {part} at most {whole}, {more}: {why}"), less)?;
            }
        }
    }
    Ok(())
}

fn axes_of_a_block(c: &Context) -> Verdict {
    let device = c.device()?;
    for id in ends(&device)? {
        let Some(all) = number(&device, id, attribute::MAX_THREADS_PER_BLOCK)? else { continue };
        let axes = device.attribute(id, attribute::MAX_THREAD_DIMENSIONS)?;
        let Some(axes) = axes.to::<Option<Shape>>()? else { continue };
        let together = axes.iter().fold(1_i64, |product, axis| product.saturating_mul(*axis));
        let expected = format!(
            "device {id}: {} at most the product of {}, {together}",
            attribute::MAX_THREADS_PER_BLOCK,
            attribute::MAX_THREAD_DIMENSIONS
        );
        ensure(all <= together, expected, all)?;
        let expected = format!(
            "device {id}: each of {} at most {}, {all}: a block's axis has no more threads than the block",
            attribute::MAX_THREAD_DIMENSIONS,
            attribute::MAX_THREADS_PER_BLOCK
        );
        ensure(axes.iter().all(|axis| *axis <= all), expected, format!("{:?}", &*axes))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_has_a_form() {
        let forms: Vec<&str> = FORMS.iter().map(|(key, _)| *key).collect();
        assert_eq!(forms, attribute::ALL);
    }
}
