//! The arguments of the command line.

mod conformance;
mod emit;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use conformance::{
    Action, CompareArgs, ConformanceArgs, ConformanceWorkerArgs, LevelArg, VerifyArgs,
};
pub(crate) use emit::{Emit, Output};

/// Compiles tensor kernels and runs them on devices that plugins support.
///
/// Plugins are shared libraries, searched for at run time: `--plugin`, then `CHIPDOCK_PLUGIN_PATH`,
/// in `$XDG_DATA_HOME/chipdock/plugins`, `/usr/local/lib/chipdock/plugins`,
/// `/usr/lib/chipdock/plugins`, and in the folder `plugins` beside this command; in that order.
#[derive(Debug, Parser)]
#[command(name = "chipdock", version, max_term_width = 110, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  chipdock plugins                                         the plugins found, and why any is not used
  chipdock devices                                         the devices of this machine
  chipdock run add.py --in A=a.npy --in B=b.npy --out C=sum.npy
  chipdock help run                                        help of one command
  chipdock --config PLUGIN.KEY=VALUE run add.py            set a setting of a plugin; see chipdock plugins PLUGIN

Exit codes: 0 done; 1 the work failed; 2 wrong usage or input; 3 a plugin, or something that it needs, is \
missing or refused; 4 no device. Those of conformance: chipdock help conformance.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options of every command, before or after its name.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct GlobalArgs {
    /// Search this plugin, or this folder of plugins, first. May be repeated.
    #[arg(long = "plugin", value_name = "PATH")]
    pub(crate) plugins: Vec<PathBuf>,
    /// Use this plugin when two plugins provide KEY, as in `device_api.toy=vendor`. May be
    /// repeated.
    #[arg(long, value_name = "KEY=PLUGIN")]
    pub(crate) prefer: Vec<String>,
    /// Use only plugins whose name matches. May be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) select: Vec<String>,
    /// Use no plugin whose name matches. May be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) disable: Vec<String>,
    /// Trust this file or folder although users other than you and root can write to it. May be
    /// repeated.
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_path: Vec<PathBuf>,
    /// Set a setting of a plugin, as in `toy.level=2`; overrides variables and config.toml. May be
    /// repeated.
    #[arg(long, value_name = "PLUGIN.KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Use only the plugins, versions and digests that this file pins; see plugins --lock.
    #[arg(long, value_name = "FILE")]
    pub(crate) locked: Option<PathBuf>,
    /// Print the result as JSON, in a form that its field `schema` names.
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use colour; auto: on a terminal, unless NO_COLOR is set. [default: auto]
    #[arg(long, value_enum, value_name = "auto|always|never", hide_possible_values = true)]
    pub(crate) color: Option<ColorChoice>,
    /// Say more on standard error; of build and run also the phases, with their times and the size
    /// of the module.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl GlobalArgs {
    /// Merges the options before the command's name with those after it.
    pub(crate) fn merged(mut self, inner: &Self) -> Self {
        self.plugins.extend(inner.plugins.iter().cloned());
        self.prefer.extend(inner.prefer.iter().cloned());
        self.select.extend(inner.select.iter().cloned());
        self.disable.extend(inner.disable.iter().cloned());
        self.allow_path.extend(inner.allow_path.iter().cloned());
        self.config.extend(inner.config.iter().cloned());
        self.locked = inner.locked.clone().or(self.locked);
        self.json |= inner.json;
        self.color = inner.color.or(self.color);
        self.verbose |= inner.verbose;
        self
    }

    /// Returns the options as words of a command line, for a child that must see the same plugins.
    /// JSON and colour are left out.
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let Self { plugins, prefer, select, disable, allow_path, config, locked, json: _, color: _, verbose } =
            self;
        let mut words = Vec::new();
        let mut add = |name: &str, value: &OsStr| {
            let mut word = OsString::from(format!("--{name}="));
            word.push(value);
            words.push(word);
        };
        plugins.iter().for_each(|path| add("plugin", path.as_os_str()));
        prefer.iter().for_each(|text| add("prefer", text.as_ref()));
        select.iter().for_each(|text| add("select", text.as_ref()));
        disable.iter().for_each(|text| add("disable", text.as_ref()));
        allow_path.iter().for_each(|path| add("allow-path", path.as_os_str()));
        config.iter().for_each(|text| add("config", text.as_ref()));
        locked.iter().for_each(|path| add("locked", path.as_os_str()));
        words.extend(verbose.then(|| "--verbose".into()));
        words
    }

    /// Returns when to colour.
    pub(crate) fn color(&self) -> ColorChoice {
        self.color.unwrap_or_default()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List all plugins found, and why any is not used.
    Plugins(PluginsArgs),
    /// List the devices, or why there are none.
    Devices(DevicesArgs),
    /// List the target kinds, whether each is usable here, and their options.
    Targets(TargetsArgs),
    /// Compile a kernel file.
    Build(BuildArgs),
    /// Run a kernel on .npy files, compiled now or built before.
    Run(RunArgs),
    /// Show what a built file holds.
    Inspect(InspectArgs),
    /// Show or clear the cache of compiled kernels.
    Cache(CacheArgs),
    /// Run the conformance suite on a plugin.
    Conformance(Box<ConformanceArgs>),
    /// Write a plugin's manifest from its registrations.
    Manifest(ManifestArgs),
    /// Open one plugin and report to its supervisor: the child of `plugins --check`.
    #[command(name = crate::command::check::CHILD, hide = true)]
    CheckChild(CheckChildArgs),
    /// Ask plugins for devices or target kinds: a child of `devices` or `targets`.
    #[command(name = crate::command::ask::CHILD, hide = true)]
    AskChild(AskChildArgs),
    /// Do the work of another command line and hand it over: the child of `--isolate`.
    #[command(name = crate::isolate::CHILD, hide = true)]
    Isolated(IsolatedArgs),
    /// Run cases of the conformance suite and report to its supervisor.
    #[command(name = crate::command::conformance::WORKER, hide = true)]
    ConformanceWorker(ConformanceWorkerArgs),
    /// Print this help, or that of a command.
    #[command(disable_help_flag = true)]
    Help(HelpArgs),
}

impl Command {
    /// Returns the options of every command that came after its name.
    pub(crate) fn global(&self) -> Option<&GlobalArgs> {
        match self {
            Self::Plugins(args) => Some(&args.global),
            Self::Devices(args) => Some(&args.global),
            Self::Targets(args) => Some(&args.global),
            Self::Build(args) => Some(&args.global),
            Self::Run(args) => Some(&args.global),
            Self::Inspect(args) => Some(&args.global),
            Self::Cache(args) => Some(&args.global),
            Self::Conformance(args) => Some(args.global()),
            Self::Manifest(args) => Some(&args.global),
            Self::CheckChild(args) => Some(&args.global),
            Self::AskChild(args) => Some(&args.global),
            Self::Isolated(_) | Self::ConformanceWorker(_) | Self::Help(_) => None,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without --check no plugin is opened: the list comes from the manifests. --lock and --locked read the libraries to compute \
their digests.

Examples:
  chipdock plugins
  chipdock plugins --check --deadline 2
  chipdock plugins --plugin ./vendor --json
  chipdock plugins PLUGIN                    its settings: value, type, source and meaning
  chipdock plugins PLUGIN --config PLUGIN.KEY=VALUE
  chipdock plugins --lock plugins.lock       pin these plugins: name, version, SHA-256 of library and manifest
  chipdock plugins --locked plugins.lock     the plugins that --locked would refuse, with both digests

A setting comes from --config, else from an environment variable (CHIPDOCK_PLUGIN_KEY, then those that the plugin declares), \
else from $XDG_CONFIG_HOME/chipdock/config.toml, else it has its default. In that file each plugin has a table:

  [PLUGIN]
  KEY = VALUE

Exits with 0 even if a file is not usable. \
Schema of --json: chipdock.plugins/1.")]
pub(crate) struct PluginsArgs {
    /// Only this plugin, with its settings.
    #[arg(conflicts_with = "lock")]
    pub(crate) name: Option<String>,
    /// Open each plugin in a separate process and report the result.
    #[arg(long)]
    pub(crate) check: bool,
    /// Write the usable plugins with their versions and digests to this file, for --locked.
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
    /// With --check: the time limit of each plugin.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) deadline: f64,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each plugin is queried in a separate process.

Examples:
  chipdock devices
  chipdock devices --json
  chipdock devices --capabilities  # kinds of memory, interfaces, streams

Exits with 4 when there is no device at all. Schema of --json: chipdock.devices/1.")]
pub(crate) struct DevicesArgs {
    /// Find out what each device can do too: kinds of memory, interfaces, streams; this opens the
    /// devices.
    #[arg(long)]
    pub(crate) capabilities: bool,
    /// The time limit of each plugin.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) deadline: f64,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A kind is usable when code can be compiled for it here; otherwise the list says what is missing. Each \
plugin is queried in a separate process.

Examples:
  chipdock targets
  chipdock targets KIND            # every option with its type, range and default
  chipdock targets KIND --json     # long lists in full
  chipdock targets --tags          # names of hardware that are targets: --target nvidia/geforce-rtx-3090

Schema of --json: chipdock.targets/1.")]
pub(crate) struct TargetsArgs {
    /// Only this kind, with its options.
    pub(crate) kind: Option<String>,
    /// List the tags: names of hardware, each with the options of a target for it.
    #[arg(long)]
    pub(crate) tags: bool,
    /// The time limit of each plugin.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) deadline: f64,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

/// Where the device code of a library goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceCodeArg {
    /// Into the library.
    #[default]
    Embedded,
    /// Into a file beside it.
    Aside,
}

/// The scheduling of functions without a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulingArg {
    /// They get the target's default schedule.
    #[default]
    Auto,
    /// They stay unscheduled.
    None,
}

/// The kernel, and what it is compiled for.
#[derive(Debug, Args)]
pub(crate) struct KernelArgs {
    /// A TVMScript file (run: or a file that was built), and the name of a function when it has
    /// several.
    #[arg(value_name = "FILE[:FUNC]")]
    pub(crate) kernel: String,
    /// A target kind or a tag by name, or a target as JSON. [default: the preferred usable host
    /// kind]
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// The target of the host functions. [default: the preferred usable host kind]
    #[arg(long, value_name = "TARGET")]
    pub(crate) host: Option<String>,
    /// auto: give functions without a schedule the target's default one; none: leave them.
    #[arg(long, value_enum, value_name = "auto|none", hide_possible_values = true, default_value_t = SchedulingArg::Auto)]
    pub(crate) schedule: SchedulingArg,
    /// Compile again, and neither read nor write the cache; see chipdock help cache.
    #[arg(long)]
    pub(crate) no_cache: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  chipdock build add.py --target KIND --emit source    the generated text, on standard output
  chipdock build add.py --emit schedule                the module after scheduling, on standard output
  chipdock build add.py --target KIND --emit FORMAT    a format that the plugin of KIND delivers, by the plugin's word
  chipdock build add.py -o add.o                       an object file to link; also add.chipdock, add.FORMAT
  chipdock build add.py -o add.so                      a library for other programs: in Python tvm_ffi.load_module
  chipdock build add.py -o add.tar                     what the library is linked from, with a Makefile
  chipdock build add.py --linker aarch64-linux-gnu-gcc --target '{\"kind\": \"KIND\", ...}' -o add.so
  chipdock build add.py:add --target '{\"kind\": \"KIND\"}' -o add.chipdock
  chipdock build add.py --target KIND --device KIND:0 -o add.chipdock      with the limits of that device

The suffix of OUT selects the output when --emit is absent: .o, .so, .tar, .chipdock (also .artifact), or a format of the \
target's plugin, whose page lists them. A format that is not text needs OUT where standard output is a terminal. A library needs nothing of Chipdock where it is loaded; one with device code needs a Chipdock host there, or, with \
--device-code aside, for its device functions alone. A file is written completely or not at all. \
Schema of --json: chipdock.build/1.")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    /// The file to write; standard output when absent.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Compile for this device, such as `opencl:0`: what --target does not set, such as limits, is
    /// the device's. [default: no device; what --target does not set has the defaults of its kind]
    #[arg(long, value_name = "NAME:ID")]
    pub(crate) device: Option<String>,
    /// What to write: one of the values below, or a format of the target's plugin, by its word.
    /// [default: by the suffix of OUT; source without one]
    #[arg(long, value_parser = emit::OutputParser, value_name = "WHAT")]
    pub(crate) emit: Option<Output>,
    /// embedded: device code is in the library; aside: in OUT with the suffix .chipdock, so that a
    /// program without a loader for it can use the host functions.
    #[arg(long, value_enum, value_name = "embedded|aside", hide_possible_values = true, default_value_t = DeviceCodeArg::Embedded)]
    pub(crate) device_code: DeviceCodeArg,
    /// The C compiler that links a library, with arguments of its own. [default: CHIPDOCK_LINKER,
    /// CC, or cc, gcc or clang; for another machine MACHINE-linux-gnu-gcc]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) linker: Option<String>,
    /// Write what is done, and how long it takes, in Chrome's trace format; chrome://tracing and
    /// ui.perfetto.dev show it.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) isolate: IsolateArgs,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A buffer without --in starts as zeros. A bare symbol in a shape is bound by the first input that has it, or by \
--set; compound sizes are worked out, never solved. Scalar parameters come by --set. A bfloat16 buffer takes and \
gives its bits as uint16. A built file (.chipdock, .so; its contents decide) is run where it was built for.

Examples:
  chipdock run add.py --in A=a.npy --in B=b.npy --out C=sum.npy
  chipdock run kernels.py:scale --target KIND --set factor=2.5 --in A=a.npy --out B=b.npy
  chipdock run add.py --set n=1000000 --repeat 20 --json
  chipdock run add.chipdock --in A=a.npy --in B=b.npy --out C=sum.npy    what chipdock build -o add.chipdock wrote
  chipdock run add.py --set n=1000 --verbose             each phase and pass, with times and sizes
  chipdock run add.py --set n=1000 --trace trace.json    all of it to look at in chrome://tracing or ui.perfetto.dev

Either all outputs are written or none. \
Schema of --json: chipdock.run/1.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    /// The device to run on, such as `cpu:0`. [default: the first device of the target]
    #[arg(long, value_name = "NAME:ID")]
    pub(crate) device: Option<String>,
    /// The initial contents of a buffer. May be repeated.
    #[arg(long = "in", value_name = "BUFFER=FILE.npy")]
    pub(crate) inputs: Vec<String>,
    /// The file to write a buffer to after the run. May be repeated.
    #[arg(long = "out", value_name = "BUFFER=FILE.npy")]
    pub(crate) outputs: Vec<String>,
    /// The value of a scalar parameter or of a symbol in a shape. May be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub(crate) values: Vec<String>,
    /// The number of threads for parallel loops; 0 is automatic. [default: CHIPDOCK_THREADS, or the
    /// number of processors of the process]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub(crate) threads: Option<u32>,
    /// Run N times, each from the same inputs, and report the median and the least time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) repeat: u32,
    /// Write what is done, and how long it takes, in Chrome's trace format; chrome://tracing and
    /// ui.perfetto.dev show it.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) isolate: IsolateArgs,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
FILE is an artifact (.chipdock) or a shared library for TVM-FFI, whoever made it: its contents decide, not its name. It is read \
and not opened: none of its code runs, and no plugin is opened.

Examples:
  chipdock inspect add.chipdock
  chipdock inspect add.so --json
  chipdock inspect add.chipdock --source      with the generated text of each module that has one

Schema of --json: chipdock.inspect/1.")]
pub(crate) struct InspectArgs {
    /// The built file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Show the source text of each module too.
    #[arg(long)]
    pub(crate) source: bool,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

/// The action on the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheAction {
    /// List every kept build.
    #[default]
    List,
    /// Show the size of each cache, including those of plugins.
    Size,
    /// Remove all kept files.
    Clear,
}

#[derive(Debug, Args)]
#[command(after_help = "\
What build and run compile is kept as files, one for each code generator and module, and taken from there the next time \
when nothing that its bytes depend on has changed: plugin, compiler, target, options, kernel. No plugin is opened here.

  CHIPDOCK_CACHE_DIR     the folder; empty: keep nothing [default: $XDG_CACHE_HOME/chipdock, or ~/.cache/chipdock]
  CHIPDOCK_CACHE_SIZE    the greatest size of kept builds, as in 512M; 0: none [default: 1G]
  --no-cache             of build and run: compile again, and neither read nor write the cache
  --verbose              of build and run: report each build found, with its key

Examples:
  chipdock cache                   every build: target, plugin, functions, size, time of last use
  chipdock cache size              the size of each cache, including those of plugins
  chipdock cache clear
  chipdock cache list --json

Schema of --json: chipdock.cache/1.")]
pub(crate) struct CacheArgs {
    /// What to do.
    #[arg(value_enum, value_name = "list|size|clear", hide_possible_values = true, default_value_t = CacheAction::List)]
    pub(crate) action: CacheAction,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  chipdock manifest libvendor.so
  chipdock manifest libvendor.so --needs needs.json -o -       # on standard output
  chipdock manifest libvendor.so --vendor \"Npu Ltd\" --support https://npu.example/help

Opens the plugin in this process, collects its registrations, and writes NAME.chipdock.json beside it. \
Schema of --json: chipdock.manifest/1.")]
pub(crate) struct ManifestArgs {
    /// The plugin.
    #[arg(value_name = "PLUGIN.so")]
    pub(crate) plugin: PathBuf,
    /// Its needs, as declared by its author.
    #[arg(long, value_name = "FILE")]
    pub(crate) needs: Option<PathBuf>,
    /// Its maker.
    #[arg(long, value_name = "TEXT")]
    pub(crate) vendor: Option<String>,
    /// Its licence, in SPDX's form.
    #[arg(long, value_name = "SPDX")]
    pub(crate) licence: Option<String>,
    /// The address of its page.
    #[arg(long, value_name = "URL")]
    pub(crate) homepage: Option<String>,
    /// The address to which its users turn.
    #[arg(long, value_name = "TEXT")]
    pub(crate) support: Option<String>,
    /// The file to write; `-` is standard output. [default: beside the plugin]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckChildArgs {
    pub(crate) plugin: PathBuf,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AskChildArgs {
    pub(crate) what: String,
    pub(crate) names: Vec<String>,
    /// In place of names: a plugin without a manifest, asked for all that it provides.
    #[arg(long)]
    pub(crate) unlisted: Option<String>,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
pub(crate) struct IsolatedArgs {
    /// A person looks at standard output.
    #[arg(long)]
    pub(crate) watched: bool,
    /// The command line, from the command on.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<std::ffi::OsString>,
}

/// Whether the work is done in a process of its own.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct IsolateArgs {
    /// Work in a separate process: if a plugin or kernel crashes or exits, it is named, and no
    /// output is written.
    #[arg(long)]
    pub(crate) isolate: bool,
    /// The time limit of the whole work; implies --isolate.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) deadline: Option<f64>,
}

impl IsolateArgs {
    /// Returns true if isolation is requested.
    pub(crate) fn is_wanted(self) -> bool {
        self.isolate || self.deadline.is_some()
    }
}

#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// The command.
    pub(crate) command: Option<String>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 86_400.0 => Ok(value),
        _ => Err("expected a number of seconds, more than 0 and at most 86400".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_of_every_command_stand_on_both_sides() {
        let words =
            ["chipdock", "--plugin", "a", "--json", "plugins", "--plugin", "b", "--color", "never", "-v"];
        let cli = Cli::try_parse_from(words).unwrap();
        let global = cli.global.clone().merged(cli.command.global().unwrap());
        assert_eq!(global.plugins, [PathBuf::from("a"), PathBuf::from("b")]);
        assert!(global.json && global.verbose);
        assert_eq!(global.color(), ColorChoice::Never);
    }

    /// A child is told every option that decides what its host sees, whatever stands in it.
    #[test]
    fn options_are_passed_to_a_child() {
        let words = "chipdock devices --plugin=-a --prefer=k=v --select=* --disable=--b --allow-path=c --config=p.k=-v=1 -v";
        let words = words.split(' ');
        let first = Cli::try_parse_from(words).unwrap().command.global().unwrap().clone();
        let again = [OsString::from("chipdock"), "devices".into()].into_iter().chain(first.to_arguments());
        let second = Cli::try_parse_from(again).unwrap().command.global().unwrap().clone();
        assert_eq!(first, second);
        assert_eq!((second.plugins, second.disable), (vec![PathBuf::from("-a")], vec!["--b".to_owned()]));
    }

    #[test]
    fn a_negative_value_can_be_set() {
        let cli = Cli::try_parse_from(["chipdock", "run", "k.py", "--set", "x=-1", "--set", "-x=1"]).unwrap();
        let Command::Run(run) = cli.command else { panic!("expected run") };
        assert_eq!(run.values, ["x=-1", "-x=1"]);
    }

    #[test]
    fn a_deadline_is_a_sensible_time() {
        for text in ["0", "-1", "inf", "NaN", "soon", "1e9"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(seconds("0.5"), Ok(0.5));
    }
}
