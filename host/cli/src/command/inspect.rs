//! `chipdock inspect`: shows what a built file holds.

use std::fmt::Write as _;

use chipdock_host::artifact::{Artifact, FunctionInfo, Section};
use chipdock_host::describe;
use chipdock_host::library::{Aside, BuiltFile, Contents, EMBEDDED_KIND, LIBRARY_KIND, LibraryFile};
use chipdock_ir::{Param, print};
use serde_json::{Value, json};

use super::failure;
use crate::args::{GlobalArgs, InspectArgs};
use crate::report::Result;
use crate::{output, table};

/// Greatest number of values of an option's list that a row shows.
const VALUES_MAX: usize = 8;

/// Runs the command. Opens no plugin, and runs no code of the file.
pub(crate) fn run(args: &InspectArgs, global: &GlobalArgs) -> Result<()> {
    let file = BuiltFile::read(&args.file).map_err(|error| failure(&error))?;
    let inspected = Inspected { file: &file, with_source: args.source };
    if global.json {
        return output::print_json(&inspected.to_json());
    }
    output::print(&inspected.to_text())
}

struct Inspected<'a> {
    file: &'a BuiltFile,
    with_source: bool,
}

/// A module of the file: the file itself, or one that is imported.
struct Module<'a> {
    kind: &'a str,
    /// Size of an embedded module of a kind that is not known here.
    size_bytes: Option<usize>,
    artifact: Option<&'a Artifact>,
    imports: Vec<Module<'a>>,
}

impl<'a> Module<'a> {
    fn of_artifact(artifact: &'a Artifact) -> Self {
        let imports = artifact.imports().iter().map(|import| Self::of_artifact(import)).collect();
        Self { kind: &artifact.index().module_kind, size_bytes: None, artifact: Some(artifact), imports }
    }

    fn of_embedded(library: &'a LibraryFile, at: usize) -> Self {
        let embedded = &library.embedded()[at];
        let mut imports: Vec<Self> =
            embedded.imports.iter().map(|import| Self::of_embedded(library, *import)).collect();
        let artifact = match embedded.kind.as_str() {
            LIBRARY_KIND => Some(&**library.artifact()),
            EMBEDDED_KIND => embedded.artifact.as_deref(),
            _ => None,
        };
        let kind = match artifact {
            Some(artifact) => artifact.index().module_kind.as_str(),
            None => &embedded.kind,
        };
        if embedded.kind == EMBEDDED_KIND {
            imports.extend(
                artifact.into_iter().flat_map(Artifact::imports).map(|import| Self::of_artifact(import)),
            );
        }
        let size_bytes = artifact.is_none().then_some(embedded.size_bytes);
        Self { kind, size_bytes, artifact, imports }
    }

    /// Returns its functions, each with the artifact that has it.
    fn functions(&self) -> impl Iterator<Item = (&'a Artifact, &'a FunctionInfo)> {
        let functions =
            |artifact: &'a Artifact| artifact.index().functions.iter().map(move |info| (artifact, info));
        self.artifact.into_iter().flat_map(functions)
    }

    fn sections(&self) -> &'a [Section] {
        self.artifact.map_or(&[], Artifact::sections)
    }

    /// Returns the target that it was compiled for, or null.
    fn target(&self) -> Value {
        let target = self.artifact.and_then(|artifact| serde_json::from_str(artifact.target_json()).ok());
        target.unwrap_or(Value::Null)
    }

    /// Returns the options of its target.
    fn options(&self) -> Vec<(String, Value)> {
        let Value::Object(fields) = self.target() else { return Vec::new() };
        fields
            .into_iter()
            .filter(|(name, _)| !["kind", "tag", "keys", "host"].contains(&name.as_str()))
            .collect()
    }

    fn to_json(&self, with_source: bool) -> Value {
        let index = self.artifact.map(Artifact::index);
        let mut json = json!({
            "kind": self.kind,
            "format": index.map(|index| &index.format),
            "target": self.target(),
            "env": index.and_then(|index| index.env),
            "size_bytes": self.size_bytes,
            "functions": self.functions().map(|(of, info)| describe::function(of, info)).collect::<Vec<_>>(),
            "sections": self.sections().iter().map(describe::section).collect::<Vec<_>>(),
            "imports": self.imports.iter().map(|import| import.to_json(with_source)).collect::<Vec<_>>(),
        });
        if with_source {
            json["source"] = self.artifact.and_then(Artifact::source).into();
        }
        json
    }

    /// Calls `show` with each module of the tree and its path in it.
    fn walk(&self, path: &str, show: &mut dyn FnMut(&Self, &str)) {
        show(self, path);
        for (at, import) in self.imports.iter().enumerate() {
            import.walk(&format!("{path}.{}", at + 1), show);
        }
    }
}

/// Returns the value of an option in a line; of a long list its beginning.
fn option_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.len() > VALUES_MAX => {
            let some: Vec<String> = values.iter().take(VALUES_MAX).map(option_text).collect();
            format!("{}, … ({} in all; --json lists them)", some.join(", "), values.len())
        }
        Value::Array(values) => values.iter().map(option_text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Returns what a function takes, in a line: by its signature, else by the types of its arguments.
fn takes(artifact: &Artifact, info: &FunctionInfo) -> String {
    let Some(function) = describe::signature(artifact, info) else {
        return if info.args.is_empty() { "not described".to_owned() } else { info.args.join(", ") };
    };
    let one = |param: &Param| match param {
        Param::Buffer(buffer) => {
            let shape: Vec<String> = buffer.shape.iter().map(print::expr).collect();
            format!("{}: {}[{}]", buffer.name, buffer.dtype, shape.join(", "))
        }
        Param::Var(var) => format!("{}: {}", var.name, var.dtype),
    };
    let params: Vec<String> = function.params.iter().map(one).collect();
    let returns = function.ret.map(|dtype| format!(" -> {dtype}")).unwrap_or_default();
    params.join(", ") + &returns
}

impl Inspected<'_> {
    fn library(&self) -> Option<&LibraryFile> {
        match self.file.contents() {
            Contents::Library(library) => Some(library),
            Contents::Artifact(_) | Contents::Archive(_) => None,
        }
    }

    fn aside(&self) -> Option<&Aside> {
        self.library()?.document()?.aside.as_ref()
    }

    fn module(&self) -> Module<'_> {
        match self.library() {
            Some(library) => Module::of_embedded(library, 0),
            None => Module::of_artifact(self.file.artifact()),
        }
    }

    fn what(&self) -> &'static str {
        match self.file.contents() {
            Contents::Library(_) => "library",
            Contents::Artifact(_) => "artifact",
            Contents::Archive(_) => "archive",
        }
    }

    /// Returns whether the file beside a library is there and the right one; else what is wrong.
    fn aside_problem(&self) -> Option<String> {
        self.file.aside().err().map(|error| error.message().to_owned())
    }

    fn to_json(&self) -> Value {
        let library = self.library();
        let document = library.and_then(LibraryFile::document);
        let aside = self.aside().map(
            |aside| json!({"file": aside.file, "sha256": aside.sha256, "problem": self.aside_problem()}),
        );
        json!({
            "schema": "chipdock.inspect/1",
            "file": self.file.path().to_string_lossy(),
            "what": self.what(),
            "size_bytes": self.file.size_bytes(),
            "sha256": self.file.sha256(),
            "made_by": document.map(|document| &document.made_by),
            "main": document.and_then(|document| document.main.as_ref()),
            "machine": library.map(LibraryFile::machine),
            "needs": {
                "environment": library.map(LibraryFile::has_environment),
                "libraries": library.map(LibraryFile::needed).unwrap_or_default(),
                "tvm_ffi": library.map(LibraryFile::needs_of_tvm_ffi).unwrap_or_default(),
                "aside": aside,
            },
            "module": self.module().to_json(self.with_source),
        })
    }

    fn to_text(&self) -> String {
        let mut text = table::text(&self.facts());
        let module = self.module();
        let (mut modules, mut options, mut functions, mut sections) = (
            table::new(&["MODULE", "KIND", "FORMAT", "TARGET", "ENV"]),
            table::new(&["MODULE", "OPTION", "VALUE"]),
            table::new(&["MODULE", "FUNCTION", "TAKES", "LAUNCH", "SYMBOL"]),
            table::new(&["MODULE", "SECTION", "KIND", "SIZE", "SHA256"]),
        );
        let (mut has_options, mut has_functions, mut has_sections) = (false, false, false);
        let mut sources = String::new();
        module.walk("1", &mut |module, path| {
            modules.add_row(module_row(module, path));
            for (name, value) in module.options() {
                has_options = true;
                options.add_row([path, &name, &option_text(&value)]);
            }
            for (of, info) in module.functions() {
                has_functions = true;
                let launch = info.launch_params.join(", ");
                functions.add_row([path, &info.name, &takes(of, info), &launch, &info.symbol]);
            }
            for section in module.sections() {
                has_sections = true;
                let size = table::size(section.data().len() as u64);
                sections.add_row([path, section.name(), section.kind(), &size, &section.sha256()]);
            }
            if let Some(source) = module.artifact.and_then(Artifact::source) {
                let _ = write!(sources, "\nSOURCE OF MODULE {path}\n{}\n", source.trim_end());
            }
        });
        let tables =
            [(modules, true), (functions, has_functions), (sections, has_sections), (options, has_options)];
        for (rows, is_wanted) in tables {
            if is_wanted {
                text.push('\n');
                text.push_str(&table::text(&rows));
            }
        }
        if self.with_source {
            text.push_str(if sources.is_empty() { "\nno module has a source text\n" } else { &sources });
        }
        text
    }

    fn facts(&self) -> table::Table {
        let file = self.file;
        let mut facts = table::new(&["FILE", &file.path().display().to_string()]);
        facts.add_row(["what", self.what()]);
        facts.add_row(["size", &table::size(file.size_bytes())]);
        facts.add_row(["sha256", file.sha256()]);
        let Some(library) = self.library() else { return facts };
        let document = library.document();
        facts.add_row(["made by", document.map_or("others", |document| &document.made_by)]);
        if let Some(main) = document.and_then(|document| document.main.as_ref()) {
            facts.add_row(["main", main]);
        }
        facts.add_row(["machine", library.machine()]);
        let list = |names: &[String]| if names.is_empty() { "-".to_owned() } else { names.join(", ") };
        facts.add_row(["needs", &list(library.needed())]);
        facts.add_row(["of TVM-FFI", &list(library.needs_of_tvm_ffi())]);
        if let Some(aside) = self.aside() {
            let state = self.aside_problem().unwrap_or_else(|| "there".to_owned());
            facts.add_row(["beside it", &format!("{} ({state})", aside.file)]);
        }
        facts
    }
}

fn module_row(module: &Module<'_>, path: &str) -> [String; 5] {
    let index = module.artifact.map(Artifact::index);
    let target = module.target();
    let size = module.size_bytes.map(|size| format!("unknown, {}", table::size(size as u64)));
    [
        path.to_owned(),
        module.kind.to_owned(),
        size.unwrap_or_else(|| index.map_or_else(String::new, |index| index.format.clone())),
        target["kind"].as_str().unwrap_or("-").to_owned(),
        index.and_then(|index| index.env).map_or_else(|| "-".to_owned(), |env| env.to_string()),
    ]
}
