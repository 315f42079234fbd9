//! Interface `object` 1 of a loader, if it has it: object files that a linker takes, and artifacts
//! of which there are none.

use std::ffi::CString;

use chipdock_abi::CHIPDOCK_EXTENSIONS_MAX;
use chipdock_plugin_api::Error;
use chipdock_raw_host::{Objects, RawArtifact};
use object::elf::{
    R_AARCH64_ABS16, R_AARCH64_ABS32, R_AARCH64_MOVW_UABS_G0, R_AARCH64_MOVW_UABS_G3, R_X86_64_8,
    R_X86_64_16, R_X86_64_32, R_X86_64_32S, SHF_ALLOC,
};
use object::read::{Object as _, ObjectSection as _, ObjectSymbol as _};
use object::{Architecture, File, ObjectKind, RelocationFlags, SectionFlags, SymbolScope};
use serde_json::{Value, json};

use super::extended::{extensions_with_a_must, many_extensions, refused_as, unknown_extensions};
use super::leftovers::Watched;
use super::made::{Made, loader};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, clause, body: fn(&Scene) -> Verdict| {
        let draft = cases.case(Group::Module, format_args!("object/{name}"), clause, Subject::Loader);
        draft.run(move |c| in_scene(c, body));
    };
    case("relocatable", "M.15", relocatable);
    case("symbols", "M.15", symbols);
    case("position-independent", "M.15", position_independent);
    case("undefined-symbols", "M.16", undefined);
    case("same-again", "M.17", same_again);
    case("two-threads", "P10.1", two_threads);
    case("other-kind", "M.18", |scene| scene.refuses_another("module_kind"));
    case("other-format", "M.18", |scene| scene.refuses_another("format"));
    case("damaged", "M.18", damaged);
    case("unknown-extensions", "M.18", |scene| scene.is_the_same_with(unknown_extensions()));
    case("extension-that-must-be-understood", "M.18", |scene| {
        scene.refuses_with(extensions_with_a_must(), "Unsupported", "suite.must")
    });
    case("too-many-extensions", "P3.15", |scene| {
        scene.refuses_with(many_extensions(CHIPDOCK_EXTENSIONS_MAX + 1), "ValueError", "")
    });
    let body = |c: &Context<'_>| in_scene(c, |scene| leaves_no_file(c, scene));
    cases.case(Group::Module, "object/leaves-no-file", "M.19", Subject::Loader).run(body);
}

/// A loader with the interface, and the object of a good artifact.
struct Scene {
    objects: Objects,
    own: RawArtifact,
    good: Vec<u8>,
}

fn in_scene(c: &Context<'_>, body: impl FnOnce(&Scene) -> Verdict) -> Verdict {
    let Some(objects) = Objects::find(c.plugin()?, loader(c)?) else {
        c.not_run("the loader does not have interface `object` 1, which is optional");
        return Ok(());
    };
    let made = Made::cached(c)?;
    let good = objects.object(&made.own)?;
    body(&Scene { objects, own: made.own.clone(), good })?;
    made.still(c)
}

fn text(error: &Error) -> String {
    format!("{}: {}", error.kind(), error.message())
}

impl Scene {
    fn index(&self) -> Verdict<Value> {
        serde_json::from_slice(&self.own.index_json).map_err(Stop::suite)
    }

    fn file(&self) -> Verdict<File<'_>> {
        let start = format!(
            "{} bytes that begin with {:02x?}",
            self.good.len(),
            &self.good[..self.good.len().min(4)]
        );
        File::parse(&*self.good)
            .map_err(|error| Stop::failed("an object file that can be read", format!("{error}: {start}")))
    }

    /// Checks that the good artifact still gives the same object.
    fn still(&self) -> Verdict {
        let again = self.objects.object(&self.own)?;
        ensure(again == self.good, "the same bytes at every call", "others")
    }

    fn with_index(&self, change: impl FnOnce(&mut Value)) -> Verdict<RawArtifact> {
        let mut index = self.index()?;
        change(&mut index);
        Ok(RawArtifact { index_json: index.to_string().into_bytes(), ..self.own.clone() })
    }

    fn refuses_another(&self, field: &str) -> Verdict {
        let artifact = self.with_index(|index| index[field] = json!("something-else-of-the-suite"))?;
        let what = format!("`object` of an artifact of another \"{field}\"");
        refused_as(&what, "ValueError", "", self.objects.object(&artifact).map(drop))?;
        self.still()
    }

    fn with_extensions(&self, extensions: Vec<(String, u32)>) -> Result<Vec<u8>, Error> {
        self.objects.object(&RawArtifact { extensions, ..self.own.clone() })
    }

    fn is_the_same_with(&self, extensions: Vec<(String, u32)>) -> Verdict {
        let found = self.with_extensions(extensions);
        let found = found.map_err(|error| Stop::failed("success", text(&error)))?;
        ensure(found == self.good, "the same bytes as without extensions", "others")
    }

    fn refuses_with(&self, extensions: Vec<(String, u32)>, kind: &str, tells: &str) -> Verdict {
        refused_as("object", kind, tells, self.with_extensions(extensions).map(drop))?;
        self.still()
    }
}

fn relocatable(scene: &Scene) -> Verdict {
    let file = scene.file()?;
    let found = format!("{:?}", file.kind());
    ensure(file.kind() == ObjectKind::Relocatable, "a relocatable object", found)?;
    if cfg!(target_os = "linux") {
        let found = format!("{:?}", file.format());
        ensure(file.format() == object::BinaryFormat::Elf, "ELF, for Linux", found)?;
    }
    Ok(())
}

/// Checks that the symbols of the index are visible, and besides them at most the variable of the
/// environment.
fn symbols(scene: &Scene) -> Verdict {
    let (file, index) = (scene.file()?, scene.index()?);
    let listed = index["functions"].as_array().into_iter().flatten();
    let listed: Vec<&str> = listed.filter_map(|function| function["symbol"].as_str()).collect();
    ensure(!listed.is_empty(), "a symbol in the index", index.to_string())?;
    let visible =
        file.symbols().filter(|symbol| symbol.is_definition() && symbol.scope() == SymbolScope::Dynamic);
    let visible: Vec<String> = visible
        .map(|symbol| String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned())
        .collect();
    for name in &listed {
        let expected = format!("the visible symbol {name} of the index");
        ensure(visible.iter().any(|found| found == name), expected, format!("{visible:?}"))?;
    }
    let mut others =
        visible.iter().filter(|name| !listed.contains(&name.as_str()) && *name != "__chipdock_env");
    match others.next() {
        Some(name) => Err(Stop::failed("no visible symbols beside those of the index", name)),
        None => Ok(()),
    }
}

/// Checks that no loaded section has an address that a library cannot have.
fn position_independent(scene: &Scene) -> Verdict {
    let file = scene.file()?;
    let is_absolute = |kind: u32| match file.architecture() {
        Architecture::X86_64 => [R_X86_64_8, R_X86_64_16, R_X86_64_32, R_X86_64_32S].contains(&kind),
        Architecture::Aarch64 => {
            [R_AARCH64_ABS16, R_AARCH64_ABS32].contains(&kind)
                || (R_AARCH64_MOVW_UABS_G0..=R_AARCH64_MOVW_UABS_G3).contains(&kind)
        }
        _ => false,
    };
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        if sh_flags & u64::from(SHF_ALLOC) == 0 {
            continue;
        }
        for (offset, relocation) in section.relocations() {
            if let RelocationFlags::Elf { r_type } = relocation.flags()
                && is_absolute(r_type)
            {
                let name = section.name().unwrap_or_default();
                let found = format!("a relocation of type {r_type} at {offset:#x} of section {name}");
                return Err(Stop::failed("code that may be loaded anywhere", found));
            }
        }
    }
    Ok(())
}

/// Checks that what the object does not define is of the libraries that every program here has.
fn undefined(scene: &Scene) -> Verdict {
    let file = scene.file()?;
    let here = if cfg!(target_arch = "x86_64") { Architecture::X86_64 } else { Architecture::Aarch64 };
    for symbol in file.symbols().filter(|symbol| symbol.is_undefined() && !symbol.is_local()) {
        let name = String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned();
        if name.is_empty() || name == "_GLOBAL_OFFSET_TABLE_" {
            continue;
        }
        ensure(name != "__chipdock_env", "a definition of __chipdock_env", "a use")?;
        let is_foreign = ["TVMFFI", "chipdock", "Chipdock"].iter().any(|start| name.starts_with(start));
        ensure(!is_foreign, "no need of a host's or of TVM-FFI's functions", &name)?;
        if file.architecture() == here {
            ensure(is_of_the_system(&name), "symbols of the C library alone", &name)?;
        }
    }
    Ok(())
}

/// Returns true if the libraries that this program is linked with have a symbol. Plugins are opened
/// with names of their own.
fn is_of_the_system(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    // SAFETY: a NUL-terminated name, which lives for the call.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null()
}

fn same_again(scene: &Scene) -> Verdict {
    for _ in 0..3 {
        scene.still()?;
    }
    Ok(())
}

fn two_threads(scene: &Scene) -> Verdict {
    std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(|| same_again(scene)));
        threads.into_iter().try_for_each(|thread| {
            thread.join().map_err(|_| Stop::suite("a thread of the suite panicked"))?
        })
    })
}

/// Checks that a damaged artifact gives an object, or an error that says what is wrong.
fn damaged(scene: &Scene) -> Verdict {
    let mut all = vec![
        ("nothing at all".to_owned(), RawArtifact::default()),
        ("no sections".to_owned(), RawArtifact { sections: Vec::new(), ..scene.own.clone() }),
        ("no functions in the index".to_owned(), scene.with_index(|index| index["functions"] = json!(7))?),
        ("no options in the index".to_owned(), scene.with_index(|index| index["options"] = json!([]))?),
    ];
    for at in 0..scene.own.sections.len() {
        let size = scene.own.sections[at].data.len();
        let name = String::from_utf8_lossy(&scene.own.sections[at].name).into_owned();
        for cut in [0, 1, 20, 60, 64, size / 2, size.saturating_sub(1)] {
            let mut artifact = scene.own.clone();
            artifact.sections[at].data.truncate(cut);
            all.push((format!("section \"{name}\" cut to {cut} of {size} bytes"), artifact));
        }
        for byte in [0, 4, 5, 16, 18, 40, 58, 60, size / 3, size / 2, size.saturating_sub(9)] {
            let mut artifact = scene.own.clone();
            if let Some(byte) = artifact.sections[at].data.get_mut(byte) {
                *byte ^= 0xff;
            }
            all.push((format!("section \"{name}\" with byte {byte} inverted"), artifact));
        }
    }
    for (what, artifact) in all {
        if let Err(error) = scene.objects.object(&artifact) {
            let is_typed = !["Panic", "BrokenPlugin", ""].contains(&error.kind().as_str());
            let expected = format!("{what}: an object, or an error that says what is wrong");
            ensure(is_typed && !error.message().is_empty(), expected, text(&error))?;
        }
    }
    scene.still()
}

fn leaves_no_file(c: &Context<'_>, scene: &Scene) -> Verdict {
    let watched = Watched::new(c)?;
    for _ in 0..3 {
        scene.still().map_err(|stop| stop.note("with another folder for temporary files"))?;
        watched.nothing_left("`object`", true)?;
    }
    let artifact = RawArtifact { sections: Vec::new(), ..scene.own.clone() };
    let refused = scene.objects.object(&artifact).map(drop);
    ensure(refused.is_err(), "an error for an artifact without sections", "an object")?;
    watched.nothing_left("`object` that failed", true)
}
