use chipdock_ir::{Expr, IrModule, Span, Stmt, StmtKind, build};
use serde_json::json;

use super::*;
use crate::{CompileCache, Device, DeviceChoice, HostOptions, TargetRequest};

struct Bench {
    _folder: tempfile::TempDir,
    host: Host,
    options: CompileOptions,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = CompileCache::at(&folder.path().join("compile"), 1 << 20).unwrap();
        let options = CompileOptions { cache: Some(Arc::new(cache)), ..CompileOptions::default() };
        Self { _folder: folder, host: Host::new(HostOptions::isolated()).unwrap(), options }
    }

    fn target(&self, order: &str) -> Arc<ResolvedTarget> {
        self.host.target(json!({"kind": "toy", "do": order})).unwrap()
    }

    fn plan(&self, module: &IrModule) -> Arc<Plan> {
        self.plan_with(module, &self.target("build"), &self.options)
    }

    fn plan_with(
        &self,
        module: &IrModule,
        target: &Arc<ResolvedTarget>,
        options: &CompileOptions,
    ) -> Arc<Plan> {
        self.host.plan(module, target, options, &mut Codegens::new(&self.host)).unwrap()
    }

    /// Whether a plan is remembered that was made by hand.
    fn is_taken(&self, change: impl FnOnce(&mut Plan)) -> bool {
        let (module, target) = (module("f", 3), self.target("build"));
        let codegens = &mut Codegens::new(&self.host);
        let mut plan = self.host.plan_now(&module, &target, &self.options, codegens).unwrap();
        change(&mut plan);
        let identity = wire::identity(&module).unwrap();
        let target = target.id();
        let asked = Asked { module: identity, target, schedule: Scheduling::Auto, file: None };
        let plan = Arc::new(plan);
        self.host.0.kept.get::<Mutex<Plans>>().lock().unwrap().keep(asked, Arc::clone(&plan));
        Arc::ptr_eq(&self.plan(&module), &plan)
    }
}

/// Nodes of its own at every call; equal uses of a variable, the last one in that column.
fn module(name: &str, column: u32) -> IrModule {
    let mut f = build::function(name);
    let x = f.scalar("x", chipdock_ir::DType::INT32);
    let used = |column| x.clone().with_span(Span { line: 2, column });
    let sum: Expr = used(1) + used(column);
    f.push(Stmt::new(StmtKind::Evaluate(sum)).with_span(Span { line: 2, column: 1 }));
    build::module([f.finish()])
}

#[test]
fn cache_v8_an_earlier_lowering_is_taken_again() {
    let bench = Bench::new();
    let plan = bench.plan(&module("f", 3));
    assert!(Arc::ptr_eq(&plan, &bench.plan(&module("f", 3))), "another module in memory, and the same");
    assert_eq!(plan.own.ir_digest, files::sha256_of_bytes(plan.own.ir.as_bytes()));
    assert!(bench.is_taken(|_| {}));
    let elsewhere = Bench::new();
    assert!(!Arc::ptr_eq(&plan, &elsewhere.plan(&module("f", 3))), "each host for itself");
}

#[test]
fn cache_v8_whatever_tells_two_apart_is_lowered_anew() {
    let bench = Bench::new();
    let (target, options) = (bench.target("build"), &bench.options);
    let first = bench.plan(&module("f", 3));
    let is_new = |module: &IrModule, target: &Arc<ResolvedTarget>, options: &CompileOptions| {
        !Arc::ptr_eq(&bench.plan_with(module, target, options), &first)
    };
    let same = module("f", 3);
    assert!(!is_new(&same, &target, options));
    assert!(is_new(&module("g", 3), &target, options), "a name");
    assert!(is_new(&module("f", 4), &target, options), "the place of one of two equal uses");
    assert!(is_new(&same, &bench.target("threads"), options), "the target");
    let unscheduled = CompileOptions { schedule: Scheduling::None, ..options.clone() };
    assert!(is_new(&same, &target, &unscheduled), "the schedule");
    let named = CompileOptions { file: Some("k.py".into()), ..options.clone() };
    assert!(is_new(&same, &target, &named), "the file");
    assert!(!is_new(&same, &target, options), "the first is known still");
}

#[test]
fn cache_v8_other_answers_of_the_host_lower_anew() {
    let bench = Bench::new();
    let other = bench.target("threads");
    let edited = |plan: &mut Plan| {
        let target = &mut plan.rests_on.targets[0];
        let mut capabilities = (**target.capabilities()).clone();
        capabilities.device.device_type += 1;
        *target = Arc::new(target.with_capabilities(capabilities));
    };
    assert!(!bench.is_taken(edited), "capabilities of the target");
    let host = |plan: &mut Plan| plan.rests_on.default_host = Some(other);
    assert!(!bench.is_taken(host), "the target of its host functions");
    assert!(!bench.is_taken(|plan| plan.own.version = "1.9.0".into()), "the version");
}

/// A device keeps its host, and the host its plans.
#[test]
fn host_w5_a_plan_for_a_device_does_not_keep_the_host() {
    let Bench { _folder, host, options } = Bench::new();
    let request = TargetRequest::new(json!({"kind": "toy", "do": "build"})).device(DeviceChoice::First);
    let target = host.target(request).unwrap();
    assert_eq!(target.device().map(Device::name), Some("cpu"));
    host.compile(&IrModule::default(), &target, &options).unwrap();
    assert_eq!(host.0.kept.get::<Mutex<Plans>>().lock().unwrap().0.len(), 1);
    let inner = Arc::downgrade(&host.0);
    drop((host, target));
    assert!(inner.upgrade().is_none(), "the host is gone with its last user");
}

#[test]
fn cache_v8_nothing_is_remembered_without_a_cache_or_beyond_the_bounds() {
    let bench = Bench::new();
    let count = || bench.host.0.kept.get::<Mutex<Plans>>().lock().unwrap().0.len();
    let without = CompileOptions { cache: None, ..bench.options.clone() };
    bench.plan_with(&module("f", 3), &bench.target("build"), &without);
    assert_eq!(count(), 0);
    let names: Vec<String> = (0..=PLANS_MAX).map(|number| format!("f{number}")).collect();
    let plans: Vec<_> = names.iter().map(|name| bench.plan(&module(name, 3))).collect();
    assert_eq!(count(), PLANS_MAX);
    assert!(Arc::ptr_eq(&plans[1], &bench.plan(&module("f1", 3))), "used just now");
    assert!(!Arc::ptr_eq(&plans[0], &bench.plan(&module("f0", 3))), "the oldest went");
    assert!(Arc::ptr_eq(&plans[1], &bench.plan(&module("f1", 3))));
    let mut huge = module("f", 3);
    // Each as long as an attribute may be, and no two alike.
    for number in 0..PLANS_BYTES_MAX / (2 << 16) + 2 {
        let text = format!("{number:065535}");
        huge.attrs.insert(format!("note{number}").into(), chipdock_ir::AttrValue::Str(text.into()));
    }
    bench.plan(&huge);
    assert_eq!(count(), 0, "larger than all that is kept");
}

fn named(name: &str, target: serde_json::Value) -> chipdock_ir::PrimFunc {
    let function = module(name, 3).functions.remove(0);
    let mut attrs = function.attrs.clone();
    let target = Target::from_canonical_json(&target).unwrap();
    attrs.insert(attr::TARGET.into(), AttrValue::Target(Arc::new(target)));
    chipdock_ir::PrimFunc { attrs, ..function }
}

fn names(job: &Job) -> Vec<String> {
    job.module.functions.iter().map(|function| function.name.to_string()).collect()
}

#[test]
fn compile_c6_functions_are_grouped_by_their_canonical_targets() {
    let bench = Bench::new();
    let functions = [
        named("same", json!({"kind": "toy"})),
        named("other", json!({"kind": "toy", "do": "threads"})),
        module("none", 3).functions.remove(0),
        named("spelt", json!({"kind": "toy", "do": "threads", "keys": ["toy"]})),
    ];
    let whole = build::module(functions.clone());
    let plan = bench.plan(&whole);
    assert_eq!(names(&plan.own), ["same", "none"]);
    assert_eq!(plan.others.iter().map(names).collect::<Vec<_>>(), [["other", "spelt"]]);
    assert_eq!(plan.others[0].target.id(), bench.target("threads").id());
    assert_eq!(plan.target.id(), bench.target("build").id());
    let apart = build::module([functions[1].clone(), functions[3].clone()]);
    let plan = bench.plan(&apart);
    assert_eq!((names(&plan.own), plan.others.len()), (vec!["other".to_owned(), "spelt".to_owned()], 0));
    assert_eq!(plan.target.id(), bench.target("threads").id(), "it takes the place of the one asked for");
}

/// COMPILE-C3, C.38: an older reader is written for, a newer one reads what this host writes, and
/// where they have no version in common the error says what each has.
#[test]
fn compile_c3_the_lower_version_is_written() {
    let lower = |own: &str, min: &str, max: &str| {
        let [own, min, max] = [own, min, max].map(|text| semver::Version::parse(text).unwrap());
        lower_version(&own, &min, &max).map(ToString::to_string).map_err(|error| {
            assert_eq!(*error.kind(), ErrorKind::Unavailable);
            error.message().to_owned()
        })
    };
    for (own, min, max, wanted) in [
        ("1.0.0", "1.0.0", "1.0.0", "1.0.0"),
        ("1.0.0", "1.0.0", "1.9.0", "1.0.0"),
        ("1.5.0", "1.0.0", "1.3.0", "1.3.0"),
        ("1.5.0", "1.5.0", "2.0.0", "1.5.0"),
    ] {
        assert_eq!(lower(own, min, max), Ok(wanted.to_owned()), "{own} for {min} to {max}");
    }
    for (own, min, max) in
        [("1.0.0", "1.1.0", "1.9.0"), ("2.1.0", "1.0.0", "1.9.0"), ("1.0.0", "0.1.0", "0.9.0")]
    {
        let wanted = format!(
            "it reads IR of version {min} to {max}, this host writes {own}; get a build for this host"
        );
        assert_eq!(lower(own, min, max), Err(wanted));
    }
}
