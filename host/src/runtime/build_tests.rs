use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use chipdock_ir::IrModule;
use serde_json::json;

use super::env::LIVE;
use super::{Module, Verdict};
use crate::compile::artifact::{Artifact, Section};
use crate::error::{Error, ErrorKind, Subject};
use crate::{CompileOptions, Compiled, Host, HostOptions, OnStep, ResolvedTarget, Severity};

fn host() -> Host {
    Host::new(HostOptions::isolated()).unwrap()
}

fn target(host: &Host, order: &str) -> Arc<ResolvedTarget> {
    host.target(json!({"kind": "toy", "do": order})).unwrap()
}

fn compile(host: &Host, order: &str) -> Result<Compiled, Error> {
    host.compile(&IrModule::default(), &target(host, order), &CompileOptions::default())
}

pub(super) fn load(host: &Host) -> Module {
    host.load(&compile(host, "build").unwrap().artifact).unwrap()
}

#[test]
fn a_module_is_compiled_loaded_and_called() {
    let host = host();
    let compiled = compile(&host, "build").unwrap();
    assert_eq!(compiled.host.id(), compiled.target.id(), "a kind with host functions is its own host");
    assert_eq!(compiled.messages.len(), 1);
    assert_eq!(compiled.messages[0].severity, Severity::Warning);
    let text = std::str::from_utf8(compiled.artifact.section("code").unwrap().data()).unwrap();
    assert_eq!(chipdock_ir::wire::read(text).unwrap(), compiled.lowered);
    let module = host.load(&compiled.artifact).unwrap();
    let add = module.function("add").unwrap();
    assert_eq!(add.call(&[40_i64.into(), 2_i64.into()]).unwrap().to::<i64>().unwrap(), 42);
    drop((module, compiled, host));
    assert_eq!(add.call(&[1_i64.into(), 2_i64.into()]).unwrap().to::<i64>().unwrap(), 3, "HOST-W5");
}

#[test]
fn calls_that_go_wrong_give_typed_errors() {
    let module = load(&host());
    let call = |name: &str| module.function(name).unwrap().call(&[]).unwrap_err();
    assert_eq!(*call("add").kind(), ErrorKind::Type);
    assert_eq!(*call("panic").kind(), ErrorKind::Panic);
    let error = call("silent");
    assert_eq!(*error.kind(), ErrorKind::BrokenPlugin);
    assert!(error.to_string().contains("returned status -1 and raised no error"), "{error}");
    let error = module.function("ad").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("did you mean \"add\"?"), "{error}");
    assert_eq!(*module.function("gone").unwrap_err().kind(), ErrorKind::BrokenPlugin);
}

#[test]
fn an_old_error_is_not_taken_for_a_new_one() {
    let host = host();
    let silent = load(&host).function("silent").unwrap();
    host.0.services.raise_own(&Error::new(ErrorKind::Value, "of long ago"));
    let error = silent.call(&[]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::BrokenPlugin, "{error}");
}

#[test]
fn registered_functions_are_found_and_raise_their_own_kinds() {
    let host = host();
    let error = host.function("toy.fail").unwrap().unwrap().call(&[]).unwrap_err();
    assert_eq!((error.kind().as_str(), error.message()), ("KeyError", "as asked"));
    assert!(host.function("toy.nothing").unwrap().is_none());
}

#[test]
fn compiled_code_reaches_workspace_and_imports_through_its_environment() {
    let module = load(&host());
    let done = module.function("work").unwrap().call(&[]).unwrap();
    assert_eq!(done.to::<i64>().unwrap(), 7, "freed once, refused twice, no import of that name");
}

/// X.12: code that relies on a later environment is not loaded, and version 1 may be said.
#[test]
fn code_for_a_later_environment_is_not_loaded() {
    let host = host();
    let plain = compile(&host, "build").unwrap().artifact;
    let with_env = |env: u32| {
        let mut index: serde_json::Value = serde_json::from_str(plain.index_json()).unwrap();
        index["env"] = env.into();
        let code = Section::new("code", "code", 64, b"").unwrap();
        let artifact = Artifact::new(index.to_string(), plain.target_json().to_owned(), vec![code], vec![]);
        host.load(&Arc::new(artifact.unwrap()))
    };
    assert!(with_env(1).is_ok());
    let error = with_env(2).err().unwrap();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    let message = error.to_string();
    assert!(message.contains("version 2 of the environment"), "{message}");
    assert!(message.contains("this host lends version 1"), "{message}");
}

/// M.4, X.8: each module has an environment of its own, which is released with the last of the
/// module and its functions. What was asked for once is kept with it.
#[test]
fn each_module_has_an_environment_of_its_own() {
    let host = host();
    let plain = compile(&host, "build").unwrap().artifact;
    let (index, target) = (plain.index_json().to_owned(), plain.target_json().to_owned());
    let code = Section::new("code", "code", 64, b"").unwrap();
    let importing = Artifact::new(index, target, vec![code], vec![Arc::clone(&plain)]);
    let importing = Arc::new(importing.unwrap());
    let env_of =
        |module: &Module| module.function("env").unwrap().call(&[]).unwrap().to::<i64>().unwrap() as usize;
    let module = host.load(&importing).unwrap();
    assert_eq!(LIVE.get(), 2, "the module's and its import's");
    let other = host.load(&importing).unwrap();
    assert_ne!(env_of(&other), env_of(&module));
    drop(other);
    assert!((0..10).all(|_| host.load(&plain).is_ok()));
    assert_eq!(LIVE.get(), 2);

    let args = [40_i64.into(), 2_i64.into()];
    let forward = module.function("forward").unwrap();
    assert_eq!(forward.call(&args).unwrap().to::<i64>().unwrap(), 42);
    let error = host.load(&plain).unwrap().function("forward").unwrap().call(&args).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (
            &ErrorKind::NotFound,
            "no imported module has function \"add\", and none is registered by that name; imported are: none"
        )
    );
    // The function alone, as a callback of somebody else's may be kept.
    let alone = crate::Function::new(&host, "toy", "forward", forward.value().clone());
    drop((forward, module));
    assert_eq!(alone.call(&args).unwrap().to::<i64>().unwrap(), 42);
    drop(alone);
    assert_eq!(LIVE.get(), 0);
    // One that did not ask before.
    let module = host.load(&importing).unwrap();
    let value = module.function("forward").unwrap().value().clone();
    let alone = crate::Function::new(&host, "toy", "forward", value);
    drop(module);
    let error = alone.call(&args).unwrap_err();
    assert_eq!(error.message(), "the module that calls \"add\" was released");
}

/// X.10: what the environment cannot answer fails, and says why; X.9: where something failed stands
/// in the error.
#[test]
fn the_environment_answers_or_fails() {
    let host = host();
    let raw = host.environment();
    let services = host.0.services;
    let failed = |status: i32| services.check(status, || "nothing raised".to_owned()).unwrap_err();
    let (mut stream, mut number) = (std::ptr::null_mut(), -1);
    // SAFETY: the table's own environment; texts that end with NUL, places to write to.
    unsafe {
        assert_eq!((raw.current_stream)(raw, 1, 0, &mut stream), 0);
        assert_eq!(((raw.current_device)(raw, 1, &mut number), number), (0, 0));
        assert_eq!(((raw.device_type)(raw, c"cpu".as_ptr(), &mut number), number), (0, 1));
        let mut interface =
            chipdock_abi::ChipdockInterface { table: raw.self_, ..chipdock_abi::ChipdockInterface::NONE };
        assert_eq!((raw.query)(raw, c"timer".as_ptr(), 1, &mut interface), 0);
        assert!(interface.table.is_null());
        assert_ne!(failed((raw.current_stream)(raw, 4711, 0, &mut stream)).message(), "nothing raised");
        let error = failed((raw.device_type)(raw, std::ptr::null(), &mut number));
        assert_eq!(error.kind(), &ErrorKind::BrokenPlugin);
        let error = failed((raw.imported)(raw, c"nobody".as_ptr(), &mut std::ptr::null()));
        assert_eq!(error.kind(), &ErrorKind::NotFound);
        (raw.raise)(raw, c"ValueError".as_ptr(), c"no".as_ptr(), c"work: a:b.py:3:7".as_ptr());
        assert_eq!(services.take().unwrap().backtrace(), "File \"a:b.py\", line 3, in work\n");
        (raw.raise)(raw, c"ValueError".as_ptr(), c"no".as_ptr(), c"work".as_ptr());
        assert_eq!(services.take().unwrap().backtrace(), "File \"<compiled>\", line 0, in work\n");
        drop(host);
        let gone = |status: i32| failed(status).kind() == &ErrorKind::Unavailable;
        assert!(gone((raw.current_stream)(raw, 1, 0, &mut stream)));
        assert!(gone((raw.current_device)(raw, 1, &mut number)));
    }
}

#[test]
fn compile_c2_everything_unsupported_that_a_build_reported_is_listed() {
    let error = compile(&host(), "unsupported").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.message(), "the code generator of target kind \"toy\" cannot build this module");
    let nodes: Vec<&str> = error.diagnostics().iter().map(|diagnostic| diagnostic.node.as_str()).collect();
    assert_eq!(nodes, ["T.one()", "T.two()"]);
    // One that reported nothing is heard itself.
    let error = compile(&host(), "terse").unwrap_err();
    assert_eq!((error.kind(), error.message()), (&ErrorKind::Unsupported, "no three here"));
}

#[test]
fn compile_c5_a_code_generator_says_where() {
    let host = host();
    let mut f = chipdock_ir::build::function("f");
    let span = chipdock_ir::Span { line: 7, column: 5 };
    f.push(chipdock_ir::Stmt::new(chipdock_ir::StmtKind::Return(None)).with_span(span));
    let module = chipdock_ir::build::module([f.finish()]);
    let options = CompileOptions { file: Some("k.py".into()), ..CompileOptions::default() };
    let error = host.compile(&module, &target(&host, "place"), &options).unwrap_err();
    let [found] = error.diagnostics() else { panic!("one diagnostic: {error}") };
    assert_eq!((found.span, found.message.as_str()), (span, "3:4: not from k.py: here; move it"));
}

/// C.32 of the contract.
#[test]
fn a_session_is_used_from_any_thread_while_its_call_lasts() {
    let built = compile(&host(), "threads").unwrap();
    let notes = built.messages.iter().filter(|message| message.diagnostic.message == "from a thread");
    assert_eq!(notes.count(), 200);
}

#[test]
fn compile_c10_steps_of_a_code_generator_are_told_and_change_nothing() {
    let host = host();
    let steps = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&steps);
    let on_step = OnStep::new(move |step| {
        list.lock().unwrap().push(format!("{}/{}: {}", step.plugin, step.target, step.text));
    });
    let options = CompileOptions { on_step: Some(on_step), ..CompileOptions::default() };
    let heard = host.compile(&IrModule::default(), &target(&host, "steps"), &options).unwrap();
    let steps = std::mem::take(&mut *steps.lock().unwrap());
    assert_eq!(steps[..2], ["host/toy: read", "host/toy: think"]);
    assert!(steps[2].starts_with("host/toy: xxx") && steps[2].len() < 260, "{steps:?}");
    let unheard = compile(&host, "steps").unwrap();
    assert_eq!(heard.artifact.index(), unheard.artifact.index());
}

#[test]
fn compile_c3_a_code_generator_of_another_wire_major_is_refused() {
    let host = host();
    let target = host.target("lone").unwrap();
    let error = host.compile(&IrModule::default(), &target, &CompileOptions::default()).unwrap_err();
    assert!(error.to_string().contains("reads IR of version 9.0.0 to 9.0.0"), "{error}");
    assert_eq!(error.subject(), Some(Subject::Plugin));
}

#[test]
fn compile_c4_a_build_that_fails_or_breaks_the_rules_leaves_nothing() {
    for (order, kind, says) in [
        ("fail", ErrorKind::Io, "the disk is full"),
        ("panic", ErrorKind::Panic, "as asked"),
        ("nothing", ErrorKind::BrokenPlugin, "set no index"),
        ("twice", ErrorKind::BrokenPlugin, "the index is set a second time"),
        ("lie", ErrorKind::BrokenPlugin, "reported errors"),
        ("index", ErrorKind::BrokenPlugin, "not an artifact's index"),
        ("align", ErrorKind::BrokenPlugin, "alignment 3; expected a power of two"),
    ] {
        let error = compile(&host(), order).unwrap_err();
        assert_eq!(*error.kind(), kind, "{order}: {error}");
        assert!(error.to_string().contains(says), "{order}: {error}");
    }
}

#[test]
fn a_long_build_can_be_given_up() {
    let host = host();
    let options = CompileOptions::default();
    let cancel = Arc::clone(&options.cancel);
    let building =
        std::thread::spawn(move || host.compile(&IrModule::default(), &target(&host, "wait"), &options));
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(*building.join().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
}

#[test]
fn an_artifact_that_nobody_loads_stays_one() {
    let host = host();
    let compiled = compile(&host, "other").unwrap();
    let module = host.load(&compiled.artifact).unwrap();
    assert!(module.missing_loader().is_some());
    assert_eq!(module.artifact().index().format, "none");
    let folder = tempfile::tempdir().unwrap();
    module.artifact().save(&folder.path().join("a")).unwrap();
    let error = module.function("add").unwrap_err();
    assert_eq!((error.kind(), error.subject()), (&ErrorKind::Unavailable, Some(Subject::Plugin)));
    assert!(error.to_string().contains("no plugin provides module.load.nobody"), "{error}");
}

#[test]
fn a_loader_says_where_an_artifact_runs() {
    let host = host();
    let artifact = compile(&host, "build").unwrap().artifact;
    let verdict = |name| host.check_artifact(&artifact, &host.device(name, 0).unwrap()).unwrap();
    assert_eq!(verdict("cpu"), Verdict::Ok);
    assert_eq!(verdict("toy"), Verdict::Unsupported("runs in host memory only".into()));
}

#[test]
fn the_default_host_is_the_one_preferred() {
    assert_eq!(host().default_host().unwrap().kind().name, "toy");
}

#[test]
fn a_key_that_nobody_provides_names_the_nearest() {
    let host = host();
    let error = host.0.registry.missing("target.build.toi");
    assert!(error.to_string().contains("did you mean \"target.build.toy\"?"), "{error}");
    let error = host.target("toi").unwrap_err();
    assert_eq!((error.kind(), error.subject()), (&ErrorKind::Value, Some(Subject::Plugin)), "{error}");
    let error = host.target("zebra").unwrap_err();
    assert!(error.to_string().contains("known kinds: \"gadget\", \"lone\", \"toy\""), "{error}");
}

#[test]
fn a_preference_for_an_absent_plugin_is_told() {
    let prefer = |key: &str, plugin: &str| {
        let prefer = vec![(key.to_owned(), plugin.to_owned())];
        Host::new(HostOptions { prefer, ..HostOptions::isolated() })
    };
    assert_eq!(*prefer("cpu", "x").unwrap_err().kind(), ErrorKind::Value);
    let error = prefer("device_api.cpu", "nobody").unwrap().device("cpu", 0).unwrap_err();
    assert!(error.to_string().contains("plugin \"nobody\", which is not there"), "{error}");
    prefer("device_api.cpu", "host").unwrap().device("cpu", 0).unwrap();
    let error = prefer("device_api.npu", "host").unwrap().device("npu", 0).unwrap_err();
    assert!(error.to_string().contains("which does not provide it"), "{error}");
}

/// COMPILE-C9.
#[test]
fn an_output_that_the_target_does_not_have_is_an_error() {
    let host = host();
    let asked = |emit: serde_json::Value| {
        let mut options = CompileOptions::default();
        options.options.insert("emit".into(), emit);
        host.compile(&IrModule::default(), &target(&host, "build"), &options)
    };
    for there in [json!(null), json!([]), json!("code"), json!(["code", "none"])] {
        assert!(asked(there.clone()).is_ok(), "{there}");
    }
    let error = asked(json!(["code", "asm"])).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Value);
    assert_eq!(error.message(), "expected an output of target toy, which delivers none; found asm");
    assert!(error.to_string().contains("\"code\""), "the outputs that are there: {error}");
    for other in [json!(7), json!({"asm": true}), json!([7])] {
        let error = asked(other.clone()).unwrap_err();
        assert!(
            error.message().starts_with("option \"emit\": expected a string or a list"),
            "{other}: {error}"
        );
    }
}

/// HOST-A11: what a plugin says of a kernel's device is not believed where the module is another's.
#[test]
fn an_entry_of_another_device_is_broken() {
    let host = host();
    let module = host.load(&compile(&host, "stray").unwrap().artifact).unwrap();
    let kernel = module.kernel("here").unwrap();
    let stream = host.device("cpu", 0).unwrap().default_stream();
    // SAFETY: it does nothing.
    unsafe { kernel.launch(&stream, [1; 3], [1; 3], 0, &[]) }.unwrap();
    let error = module.kernel("stray").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::BrokenPlugin, "{error}");
    let says = "gave kernel \"stray\" devices of type 2; its module was compiled for device_api.cpu, type 1";
    assert!(error.to_string().contains(says), "{error}");
}
