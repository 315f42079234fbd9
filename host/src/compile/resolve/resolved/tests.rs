use serde_json::json;

use super::*;
use crate::compile::artifact::Artifact;
use crate::{Compiled, HostOptions};

fn host() -> Host {
    Host::new(HostOptions::isolated()).unwrap()
}

fn named(name: &str, id: i32) -> DeviceChoice {
    DeviceChoice::Named { name: name.to_owned(), id }
}

#[test]
fn target_t8_a_resolved_target_has_all_that_goes_with_it() {
    let host = host();
    let found = host.target(json!({"kind": "gadget", "host": "toy", "bytes": 5})).unwrap();
    assert_eq!((found.kind().name.as_str(), found.target().int("bytes")), ("gadget", Some(5)));
    assert_eq!(found.capabilities().memory.shared_memory_bytes_max, Some(5));
    assert_eq!(found.capabilities().device.name, "toy");
    assert_eq!(found.json(), found.target().to_json().to_string());
    let of_host = found.host().unwrap();
    assert_eq!((of_host.kind().name.as_str(), of_host.capabilities().is_host), ("toy", true));
    assert!(found.device().is_none());
    let again = host.target(json!({"kind": "gadget", "host": "toy", "bytes": 5})).unwrap();
    assert_eq!((found.target(), found.id()), (again.target(), again.id()), "as it is made again");
    assert!(Arc::ptr_eq(&host.target(&found).unwrap(), &found), "complete already");
    assert_eq!(host.target(TargetRequest::default()).unwrap().kind().name, "toy", "the default host");
}

#[test]
fn target_t9_options_that_nobody_set_come_from_the_device() {
    let host = host();
    let bytes = |source: Value, choice| {
        let found = host.target(TargetRequest::new(source).device(choice)).unwrap();
        (found.target().int("bytes"), found.device().map(|device| (device.name().to_owned(), device.id())))
    };
    let on = |id| Some(("toy".to_owned(), id));
    assert_eq!(bytes(json!("gadget"), DeviceChoice::First), (Some(0), on(0)));
    assert_eq!(bytes(json!("gadget"), named("toy", 1)), (Some(0), on(1)));
    assert_eq!(bytes(json!({"kind": "gadget", "bytes": 5}), DeviceChoice::First), (Some(5), on(0)));
    assert_eq!(bytes(json!({"kind": "gadget", "from_device": -1}), DeviceChoice::First), (Some(77), on(0)));
    let filled = |request: TargetRequest| host.target(request).unwrap().filled_from().map(str::to_owned);
    let gadget = || TargetRequest::new("gadget");
    assert_eq!(filled(gadget().device(named("toy", 1))).as_deref(), Some("toy:1"));
    assert_eq!(filled(gadget()), None);
    let by_id = |id: i32| TargetRequest::new(json!({"kind": "gadget", "from_device": id}));
    assert_eq!(
        (filled(by_id(0)).as_deref(), filled(by_id(-1).device(DeviceChoice::First))),
        (Some("toy:0"), None)
    );
    let of_host = host.target(TargetRequest::default().device(DeviceChoice::First)).unwrap();
    assert_eq!(of_host.device().map(Device::name), Some("cpu"));
    let of_host = host.target(TargetRequest::new("toy").device(DeviceChoice::First)).unwrap();
    assert_eq!(of_host.target(), host.target("toy").unwrap().target(), "a host's target says all of itself");
}

#[test]
fn target_t9_an_invalid_device_is_refused_after_faults_of_the_target() {
    let host = host();
    let refused = |source: Value, choice| {
        let error = host.target(TargetRequest::new(source).device(choice)).unwrap_err();
        (error.subject(), error.fault(), error.to_string())
    };
    for (choice, subject, fault, says) in [
        (
            named("toy", 7),
            Some(Subject::Device),
            Fault::Caller,
            "there is no device toy:7; \"toy\" has 2 devices, toy:0 to toy:1",
        ),
        (
            named("tpy", 0),
            Some(Subject::Plugin),
            Fault::Environment,
            "no plugin provides device_api.tpy; did you mean \"device_api.toy\"?",
        ),
        (named("cpu", 0), None, Fault::Caller, "target gadget runs on toy, not on cpu"),
    ] {
        let (about, whose, text) = refused(json!("gadget"), choice.clone());
        assert!((about, whose) == (subject, fault) && text.starts_with(says), "{text}");
        let (about, whose, text) = refused(json!({"kind": "gadget", "bites": 1}), choice);
        assert!(
            (about, whose) == (None, Fault::Caller) && text.contains("unknown option \"bites\""),
            "{text}"
        );
    }
    assert!(refused(json!("gadgte"), DeviceChoice::First).2.contains("did you mean \"gadget\"?"));
    assert!(refused(json!({"kind": 3}), DeviceChoice::First).2.contains("expected a string"));
    assert!(refused(json!(3), DeviceChoice::First).2.contains("the name of a kind or a JSON object"));
}

#[test]
fn target_t10_a_host_that_is_chosen_is_that_of_the_target() {
    let host = host();
    let with = |source: Value, of_host: &str| host.target(TargetRequest::new(source).host(of_host));
    for source in [json!("gadget"), json!({"kind": "gadget", "host": null}), json!("{\"kind\": \"gadget\"}")]
    {
        let found = with(source, r#"{"kind": "toy", "do": "x"}"#).unwrap();
        assert_eq!(found.host().unwrap().target().str("do"), Some("x"));
    }
    let default = host.target(TargetRequest::default().host("lone")).unwrap();
    assert_eq!((default.kind().name.as_str(), default.host().unwrap().kind().name.as_str()), ("toy", "lone"));
    for (source, of_host, says) in [
        (json!({"kind": "gadget", "host": "toy"}), "toy", "names a host, and another is chosen beside it"),
        (json!("{"), "toy", "not a JSON object"),
        (json!("gadget"), "{", "not a JSON object"),
        (json!("gadget"), "gadget", "has no host functions and cannot be a host"),
        (json!(3), "toy", "the name of a kind or a JSON object"),
    ] {
        let error = with(source, of_host).unwrap_err();
        assert_eq!((error.subject(), error.fault()), (None, Fault::Caller), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn target_t11_an_artifact_is_found_by_the_identity_of_its_target() {
    let host = host();
    let of = |source: Value| host.target(source).unwrap();
    let (gadget, toy) = (of(json!("gadget")), of(json!("toy")));
    assert_eq!(gadget.id(), of(gadget.target().to_json()).id(), "equal targets");
    assert_ne!(gadget.id(), of(json!({"kind": "gadget", "bytes": 1})).id());
    assert_eq!(gadget.id(), TargetId::of(gadget.target()));
    assert_eq!(gadget.id().to_string().len(), 64);
    let artifact = |target: &ResolvedTarget, imports| {
        let index = r#"{"module_kind": "k", "format": "f", "functions": []}"#;
        Arc::new(Artifact::new(index.to_owned(), target.json().to_owned(), Vec::new(), imports).unwrap())
    };
    let kernels = artifact(&gadget, Vec::new());
    let other = artifact(&of(json!({"kind": "gadget", "bytes": 1})), Vec::new());
    let whole = artifact(&toy, vec![other, Arc::clone(&kernels)]);
    assert_eq!(whole.target_id(), toy.id());
    let read = Artifact::from_bytes(&whole.to_bytes().unwrap()).unwrap();
    assert_eq!(read.imports()[1].target_id(), gadget.id(), "out of a file too");
    let compiled = |target: &Arc<ResolvedTarget>| Compiled {
        artifact: Arc::clone(&whole),
        target: Arc::clone(target),
        host: Arc::clone(&toy),
        lowered: chipdock_ir::IrModule::default(),
        lowered_devices: Vec::new(),
        messages: Vec::new(),
        cached: false,
    };
    assert!(std::ptr::eq(compiled(&gadget).of_target(), &*kernels));
    assert!(std::ptr::eq(compiled(&toy).of_target(), &*whole));
}
