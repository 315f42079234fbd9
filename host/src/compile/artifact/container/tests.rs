use serde_json::{Value, json};

use super::super::NESTING_MAX;
use super::*;

fn artifact(name: &str, code: &[u8], imports: Vec<Arc<Artifact>>) -> Artifact {
    let index = json!({"module_kind": "k", "format": "f", "functions": [{"name": name, "symbol": name}]});
    let section = Section::new("code", "code", 16, code).unwrap();
    Artifact::new(index.to_string(), "{\"kind\":\"k\"}".into(), vec![section], imports).unwrap()
}

/// The file of a header that was written by hand.
fn file(version: u32, header: &Value, data: &[u8], alignment_bytes: u64) -> Vec<u8> {
    let text = header.to_string().into_bytes();
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&Sha256::digest(&text));
    bytes.extend_from_slice(&text);
    bytes.resize(data_start(text.len(), alignment_bytes), 0);
    bytes.extend_from_slice(data);
    bytes
}

fn header_of(bytes: &[u8]) -> Value {
    let size = usize::try_from(u64::from_le_bytes(bytes[16..24].try_into().unwrap())).unwrap();
    serde_json::from_slice(&bytes[PREFIX_BYTES..PREFIX_BYTES + size]).unwrap()
}

/// CONTAINER-1: what a compilation for many targets makes, each module importing what is before it.
#[test]
fn container_1_a_module_is_stored_once() {
    const CODE_BYTES: usize = 30_000;
    let mut all: Vec<Arc<Artifact>> = Vec::new();
    // More ways are refused (CONTAINER-6): the modules beyond hang beside each other.
    const CHAINED: usize = 10;
    for count in 1..=32_usize {
        let from = if count > CHAINED { 5 } else { all.len() };
        let code: Vec<u8> = (0..CODE_BYTES).map(|at| (at * count) as u8).collect();
        all.push(Arc::new(artifact(&format!("f{count}"), &code, all[..from].to_vec())));
        let root = artifact("root", &[1], all.clone());
        let bytes = root.to_bytes().unwrap();
        let bound = count * (CODE_BYTES + 4096) + 4096;
        assert!(bytes.len() <= bound, "{count} targets: {} bytes; expected at most {bound}", bytes.len());
        let found = Artifact::from_bytes(&bytes).unwrap();
        assert_eq!(found.to_bytes().unwrap(), bytes);
        if count == 2 {
            let [first, second] = found.imports() else { panic!("two imports") };
            assert!(Arc::ptr_eq(first, &second.imports()[0]), "read once");
            assert_eq!(second.sections()[0].data()[..4], [0, 2, 4, 6]);
        }
    }
}

/// CONTAINER-2: by what they are, not by where they lie.
#[test]
fn container_2_equal_modules_are_one() {
    let same = || Arc::new(artifact("f", &[7; 5000], Vec::new()));
    let other = Arc::new(artifact("f", &[8; 5000], Vec::new()));
    let one = artifact("root", &[1], vec![same()]).to_bytes().unwrap();
    let twice = artifact("root", &[1], vec![same(), same()]).to_bytes().unwrap();
    let both = artifact("root", &[1], vec![same(), other]).to_bytes().unwrap();
    assert!(twice.len() < one.len() + 200 && both.len() > one.len() + 5000);
    assert_eq!(Artifact::from_bytes(&twice).unwrap().imports().len(), 2);
}

#[test]
fn container_5_version_1_is_read_and_another_is_named() {
    let section = |data: &[u8], offset: u64| {
        json!({"name": "code", "kind": "code", "alignment_bytes": 1, "offset_bytes": offset,
               "size_bytes": data.len(), "sha256": hex(&Sha256::digest(data))})
    };
    let index = r#"{"module_kind": "k", "format": "f", "functions": []}"#;
    let inner = json!({"index": index, "target": "{}", "sections": [section(b"below", 3)], "imports": []});
    let header =
        json!({"index": index, "target": "{}", "sections": [section(b"top", 0)], "imports": [inner]});
    let found = Artifact::from_bytes(&file(1, &header, b"topbelow", ALIGNMENT_BYTES_MAX)).unwrap();
    assert_eq!((found.source(), found.imports()[0].source()), (Some("top"), Some("below")));
    for version in [0, 3, u32::MAX] {
        let error = Artifact::from_bytes(&file(version, &header, b"", 1)).unwrap_err().to_string();
        assert!(error.contains(&format!("container version {version}; expected 1 or 2")), "{error}");
    }
}

#[test]
fn container_4_lists_that_are_none_are_refused() {
    let inner = Arc::new(artifact("f", &[7; 16], Vec::new()));
    let bytes = artifact("root", &[1; 16], vec![inner]).to_bytes().unwrap();
    let (good, data) = (header_of(&bytes), &bytes[bytes.len() - 32..]);
    assert_eq!(file(2, &good, data, 16).len(), bytes.len());
    let refused = |change: &dyn Fn(&mut Vec<Value>), says: &str| {
        let mut header = good.clone();
        change(header["modules"].as_array_mut().unwrap());
        let error = Artifact::from_bytes(&file(2, &header, data, 16)).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(*error.kind(), ErrorKind::Value);
    };
    refused(&|modules| modules.clear(), "it has no module");
    refused(&|modules| drop(modules.remove(0)), "which is not before it");
    refused(&|modules| modules.reverse(), "which is not before it");
    refused(&|modules| modules[1]["target"] = json!("null"), "the digest of a module differs");
    refused(
        &|modules| modules[0]["sections"][0]["alignment_bytes"] = json!(8),
        "the digest of a module differs",
    );
    refused(&|modules| modules.push(modules[1].clone()), "is there twice");
    refused(&|modules| drop(modules.pop()), "bytes follow its sections");
    let mut lone = artifact("lone", &[], Vec::new()).to_bytes().map(|bytes| header_of(&bytes)).unwrap();
    let lone = lone["modules"][0].take();
    refused(
        &|modules| {
            let mut lone = lone.clone();
            lone["sections"][0]["offset_bytes"] = json!(16);
            modules.insert(1, lone);
        },
        "no other imports",
    );
}

/// CONTAINER-6: neither made nor read.
#[test]
fn container_6_imports_are_bounded() {
    let nested = |count: usize, width: usize| {
        let index = json!({"module_kind": "k", "format": "f", "functions": []}).to_string();
        (0..count).try_fold(Arc::new(artifact("f", &[], Vec::new())), |inner, _| {
            Artifact::new(index.clone(), "{}".into(), Vec::new(), vec![inner; width]).map(Arc::new)
        })
    };
    let refused = |count, width| nested(count, width).unwrap_err().to_string();
    assert_eq!(
        nested(NESTING_MAX, 1).unwrap().to_bytes().map(|bytes| Artifact::from_bytes(&bytes).is_ok()),
        Ok(true)
    );
    assert!(refused(NESTING_MAX + 1, 1).contains("nested more than 16 deep"));
    assert!(nested(11, 2).is_ok() && refused(12, 2).contains("in more than 4096 ways"));
    // By hand, as whoever means harm writes it.
    let module = |digest: &str, imports: &[String]| {
        json!({"sha256": digest, "index": "{\"module_kind\": \"k\", \"format\": \"f\", \"functions\": []}", "target": "{}",
            "sections": [], "imports": imports})
    };
    let (mut modules, mut imports) = (Vec::new(), Vec::new());
    for _ in 0..14 {
        let mut new = module("", &imports);
        let index = new["index"].as_str().unwrap().to_owned();
        let sha256 = digest(&index, "{}", &Signatures::new(), &imports, &[]);
        new["sha256"] = sha256.clone().into();
        modules.push(new);
        imports = vec![sha256; 2];
    }
    let error = Artifact::from_bytes(&file(2, &json!({"modules": modules}), b"", 1)).unwrap_err();
    assert!(error.to_string().contains("in more than 4096 ways"), "{error}");
}
