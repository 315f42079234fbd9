//! Tests of the checks of an artifact.

use std::fs;
use std::process::Command;

use chipdock_plugin_api::ErrorKind;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::by_hand::{Form, Parts, add};
use crate::program::interface::{ARTIFACT, Code};
use crate::program::words::Shader;

const FORMS: [Form; 4] = [Form::Push, Form::Uniform, Form::Address, Form::Shared];

fn read(parts: &Parts) -> Result<Code, String> {
    let read = parts.with(|artifact| Code::of(artifact, &ARTIFACT.index(artifact)?));
    read.map_err(|error| {
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
        error.message().into_owned()
    })
}

/// A change of the index, and what the error says.
fn refused(form: Form, pointer: &str, value: Value, says: &str) {
    let mut parts = add(form);
    match parts.index.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            parts.index.pointer_mut(parent).unwrap()[field] = value;
        }
    }
    let error = read(&parts).unwrap_err();
    assert!(error.contains(says), "{form:?} {pointer}: {error}");
}

#[test]
fn kernels_by_hand_are_valid_and_read() {
    for form in FORMS {
        let parts = add(form);
        let code = read(&parts).unwrap_or_else(|error| panic!("{form:?}: {error}"));
        assert_eq!((code.kernels.usable.len(), code.words.len()), (1, parts.spv.len() / 4));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("add.spv");
        fs::write(&file, &parts.spv).unwrap();
        match Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&file).output() {
            Ok(output) => assert!(output.status.success(), "{form:?}: {output:?}"),
            Err(error) => chipdock_test_support::setup::missing(&format!("spirv-val: {error}")),
        }
    }
}

#[test]
fn vkmod_m1_an_index_is_checked_against_itself() {
    let place = |position: u32| format!("/functions/0/options/places/{position}");
    let function = |field: &str| format!("/functions/0/{field}");
    refused(Form::Push, "/functions/0/options/places", json!([]), "a place for each of 3 arguments, found 0");
    refused(Form::Push, &place(0), json!({ "binding": 1, "is_written": false }), "argument 0");
    refused(Form::Push, &place(1), json!({ "binding": 2, "is_written": false }), "argument 1");
    refused(Form::Push, &place(1), json!({ "offset_bytes": 0, "size_bytes": 4 }), "argument 1");
    refused(Form::Push, &place(2), json!({ "binding": 2, "is_written": false }), "argument 2");
    refused(Form::Push, &place(2), json!({ "offset_bytes": 0, "size_bytes": 8 }), "argument 2");
    refused(Form::Push, &place(2), json!({ "offset_bytes": 2, "size_bytes": 4 }), "at a multiple");
    refused(Form::Push, &place(2), json!({ "offset_bytes": 4, "size_bytes": 4 }), "a block of 8 to 16 bytes");
    refused(Form::Push, &place(2), json!({ "offset_bytes": 0xFFFF_FFFC_u32, "size_bytes": 4 }), "block");
    refused(Form::Push, &place(2), json!({ "offset_bytes": -4, "size_bytes": 4 }), "function add");
    refused(Form::Address, &place(1), json!({ "address_at": 0, "is_written": true }), "overlap at 0");
    refused(Form::Address, &place(1), json!({ "address_at": 12, "is_written": true }), "at a multiple");
    refused(
        Form::Push,
        &function("options/block"),
        json!({ "in": "push_constant", "size_bytes": 0 }),
        "4 to 16",
    );
    refused(
        Form::Push,
        &function("options/block"),
        json!({ "in": "push_constant", "size_bytes": 20 }),
        "4 to 16",
    );
    refused(Form::Push, &function("options/block"), json!({ "in": "heap", "size_bytes": 4 }), "heap");
    refused(Form::Push, &function("options/block"), json!(null), "a block of 4");
    refused(Form::Uniform, &function("options/block/binding"), json!(3), "at binding 2");
    refused(Form::Push, &function("options/workgroup_size"), json!([0, 1, 1]), "a workgroup of threads");
    refused(Form::Push, &function("options/workgroup_size"), json!([64, 1]), "function add");
    refused(
        Form::Shared,
        &function("options/dynamic_shared/element_bytes"),
        json!(0),
        "elements of 1 to 128",
    );
    refused(
        Form::Push,
        &function("options/dynamic_shared"),
        json!({ "constant": 0, "element_bytes": 4 }),
        "no launch parameter",
    );
    refused(Form::Push, "/options/needs/storage_buffers", json!(1), "2 storage buffers");
    refused(Form::Push, "/options/needs/push_constant_bytes", json!(0), "push constants");
    refused(Form::Push, "/options/needs", json!(null), "`options.needs` of the index");
    let mut cooperative = add(Form::Push);
    cooperative.index["functions"][0]["launch_params"] = json!(["tirx.use_cooperative_launch"]);
    let error =
        cooperative.with(|artifact| Code::of(artifact, &ARTIFACT.index(artifact).unwrap())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UNSUPPORTED);
}

/// K.9: whatever its interface says, and although the words have it.
#[test]
fn k9_a_kernel_that_is_not_understood_is_unusable_alone() {
    let mut newer = add(Form::Push);
    newer.index["functions"][0]["launch_params"] = json!(["clusterIdx.x"]);
    newer.index["functions"][0]["options"] = json!({ "shards": 2 });
    let code = newer.with(|artifact| Code::of(artifact, &ARTIFACT.index(artifact).unwrap())).unwrap();
    assert_eq!((code.kernels.usable.len(), code.interfaces.len(), code.shared_bytes.len()), (0, 0, 0));
    assert_eq!(code.kernels.check_usable("add").unwrap_err().kind(), ErrorKind::UNSUPPORTED);
}

#[test]
fn vkmod_m3_the_words_are_checked_against_the_index() {
    let function = |field: &str| format!("/functions/0/{field}");
    refused(Form::Push, "/options/spv_sha256", json!("00"), "the digest 00");
    refused(Form::Push, "/options/spv_sha256", json!(null), "the digest");
    refused(Form::Push, "/options/needs/spirv", json!([1, 4]), "SPIR-V [1, 4]");
    refused(Form::Push, "/options/needs/capabilities", json!([]), "capabilities");
    refused(Form::Push, "/options/needs/capabilities", json!(["Shader", "Int64"]), "Int64");
    refused(Form::Push, "/options/needs/capabilities", json!(["Shader", "Telepathy"]), "Telepathy");
    refused(Form::Address, "/options/needs/extensions", json!([]), "SPV_KHR_physical_storage_buffer");
    refused(Form::Push, &function("symbol"), json!("sub"), "[\"sub\"]");
    refused(Form::Push, "/functions", json!([]), "add_kernel");
    refused(Form::Push, &function("options/workgroup_size"), json!([32, 1, 1]), "[32, 1, 1]");
    refused(
        Form::Shared,
        &function("options/dynamic_shared/constant"),
        json!(1),
        "Some((1, 4)), found (0, 4)",
    );
    refused(
        Form::Shared,
        &function("options/dynamic_shared/element_bytes"),
        json!(1),
        "Some((0, 1)), found (0, 4)",
    );
    refused(Form::Shared, &function("options/dynamic_shared"), json!(null), "None, found (0, 4)");
    // With a constant length the array is no dynamic shared memory, and `needs` names none.
    let constant = add(Form::Shared).with_words(|words| {
        let at = words.iter().position(|word| *word == 0x0004_0032).unwrap();
        words[at] = 0x0004_002B;
    });
    let error = read(&constant).unwrap_err();
    assert!(error.contains("4 bytes of shared memory"), "{error}");
    let mut unused = add(Form::Push);
    unused.index["functions"][0]["launch_params"] = json!(["blockIdx.x", "tirx.use_dyn_shared_memory"]);
    unused.index["functions"][0]["options"]["dynamic_shared"] = json!({ "constant": 7, "element_bytes": 4 });
    let error = read(&unused).unwrap_err();
    assert!(error.contains("specialisation constant 7"), "{error}");
    // The index of one form with the words of another.
    for (own, other, says) in [
        (Form::Push, Form::Uniform, "Uniform { binding: 2, size_bytes: 4 }"),
        (Form::Uniform, Form::Push, "PushConstant { size_bytes: 4 }"),
    ] {
        let parts = Parts { index: add(own).index, spv: add(other).spv }.sealed();
        let error = read(&parts).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
    let mut fewer = add(Form::Push);
    fewer.index["functions"][0]["args"] = json!(["handle", "int32"]);
    fewer.index["functions"][0]["options"]["places"].as_array_mut().unwrap().remove(1);
    let error = read(&fewer).unwrap_err();
    assert!(error.contains("Storage { binding: 1 }"), "{error}");
}

#[test]
fn vkmod_m2_a_broken_structure_is_named() {
    type Change = fn(&mut Vec<u32>);
    let changes: [(Change, &str); 13] = [
        (|words| words.truncate(4), "a header of 5 words"),
        (|words| words[0] = words[0].swap_bytes(), "0x07230203"),
        (|words| words[1] = 0x0103_0000, "a version of SPIR-V"),
        (|words| words[3] = 0x40_0000, "a bound of ids"),
        (|words| words[3] = 3, "expected ids from 1 to 2"),
        (|words| words[4] = 1, "reserved word"),
        (|words| words[5] &= 0xFFFF, "has 0 words"),
        (|words| words.truncate(words.len() - 1), "its last function does not end"),
        (|words| words.push(0x0001_FFFF), "unknown opcode"),
        (|words| words.push(0x0002_0011), "and 1 are left"),
        (|words| words.extend([0x0002_0011, 1]), "OpCapability stands where it must not"),
        (|words| words.extend([0x0001_00FD]), "OpReturn stands where it must not"),
        (|words| words.extend([0x0005_0034, 6, 99, 43, 0]), "OpSpecConstantOp"),
    ];
    for (change, says) in changes {
        let error = read(&add(Form::Push).with_words(change)).unwrap_err();
        assert!(error.contains(says), "expected {says}: {error}");
    }
    let mut odd = add(Form::Push);
    odd.spv.pop();
    assert!(read(&odd.sealed()).unwrap_err().contains("whole words"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn vkmod_m2_altered_words_are_refused_by_their_digest(form in 0..4_usize, at: prop::sample::Index, bit in 0..8) {
        let mut parts = add(FORMS[form]);
        let at = at.index(parts.spv.len());
        parts.spv[at] ^= 1_u8 << bit;
        prop_assert!(read(&parts).unwrap_err().contains("digest"));
        parts.spv.truncate(at);
        prop_assert!(read(&parts).unwrap_err().contains("digest"));
    }

    /// Whoever writes the digest anew meets the other checks: none of them panics, and what they
    /// accept has a structure that a driver can walk.
    #[test]
    fn vkmod_m2_altered_words_with_a_new_digest_do_not_panic(
        form in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>(), 0..3_u8), 1..4),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let parts = add(FORMS[form]).with_words(|words| {
            for (at, value, how) in changes {
                let at = at.index(words.len());
                words[at] = match how {
                    0 => value,
                    1 => words[at] ^ 1 << (value % 32),
                    _ => words[at].wrapping_add(value % 5),
                };
            }
            if let Some(cut) = cut {
                words.truncate(cut.index(words.len()));
            }
        });
        if let Ok(code) = read(&parts) {
            let header_is_whole = code.words[0] == 0x0723_0203 && code.words[3] < 0x3F_FFFF && code.words[4] == 0;
            prop_assert!(header_is_whole);
            let mut at = 5;
            while at < code.words.len() {
                prop_assert!(code.words[at] >> 16 > 0);
                at += (code.words[at] >> 16) as usize;
            }
            prop_assert_eq!(at, code.words.len());
        }
    }

    /// An altered index is refused, or describes what the words keep.
    #[test]
    fn vkmod_m1_an_altered_index_does_not_panic(
        form in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[0-9a-z\\[\\]{}\",:. -]"), 1..4),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let parts = add(FORMS[form]);
        let mut text: Vec<char> = parts.index.to_string().chars().collect();
        for (at, with) in changes {
            let at = at.index(text.len());
            text[at] = with.chars().next().unwrap_or(' ');
        }
        if let Some(cut) = cut {
            text.truncate(cut.index(text.len()));
        }
        let text: String = text.into_iter().collect();
        let read = parts.with_index(&text, |artifact| Code::of(artifact, &ARTIFACT.index(artifact)?));
        if let Ok(code) = read {
            // One whose argument or launch parameter was altered is not understood (K.9).
            prop_assert_eq!(code.kernels.usable.len() + code.kernels.unusable.len(), 1);
            for (kernel, interface) in code.kernels.usable.iter().zip(&code.interfaces) {
                prop_assert_eq!(&kernel.symbol, "add_kernel");
                prop_assert_eq!(interface.workgroup_size, [64, 1, 1]);
                prop_assert_eq!(interface.places.len(), kernel.args.len());
            }
        }
    }

    #[test]
    fn vkmod_m2_any_bytes_are_read_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        opcodes in prop::collection::vec((1..6_u32, 0..400_u32, any::<[u32; 5]>()), 0..20),
    ) {
        let _ = Shader::read(&bytes);
        let mut words = vec![0x0723_0203, 0x0001_0300, 0, 100, 0];
        for (count, opcode, operands) in opcodes {
            words.push(count << 16 | opcode);
            words.extend(operands.iter().take(count as usize - 1).map(|operand| operand % 128));
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let _ = Shader::read(&bytes);
    }
}
