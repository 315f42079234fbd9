//! The plugin template in C, compiled for this machine and for another, and called by a host that
//! is a C program of 100 lines.

use std::fs;
use std::process::Command;

use chipdock_test_support::command::{Scratch, end};
use chipdock_test_support::{setup::missing, workspace};

/// A host of one plugin, with nothing but `chipdock.h`: examines it, lets it register, uses its
/// device and its function, right and wrong, and shuts it down. It prints a line for each step.
const HOST: &str = r#"
#include <chipdock.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static const ChipdockDeviceApi *device;
static ChipdockSafeCall function;
static void *device_self, *function_self;
static char raised[256];
static ChipdockStr text(const char *literal) { ChipdockStr view = {literal, strlen(literal)}; return view; }
static void on_raise(void *self, ChipdockStr kind, ChipdockStr message) {
    (void)self;
    snprintf(raised, sizeof raised, "%.*s: %.*s", (int)kind.size, kind.data, (int)message.size, message.data);
}
static int32_t on_query(void *self, ChipdockStr name, uint32_t version, ChipdockInterface *out) {
    (void)self, (void)name, (void)version;
    memset(out, 0, sizeof *out);
    return 0;
}
static int32_t on_device(void *self, ChipdockStr name, int32_t type, ChipdockStr info, void *api_self, const ChipdockDeviceApi *api,
                         int32_t *out_type) {
    (void)self, (void)type, (void)info;
    printf("device_api.%.*s\n", (int)name.size, name.data);
    device = api, device_self = api_self, *out_type = 2000;
    return 0;
}
static int32_t on_function(void *self, ChipdockStr name, void *its_self, ChipdockSafeCall call, ChipdockDeleter deleter) {
    (void)self, (void)deleter;
    printf("%.*s\n", (int)name.size, name.data);
    function = call, function_self = its_self;
    return 0;
}
static int count(int type, const int64_t *shape, int ndim, int64_t *out) {
    int64_t strides[2] = {0, 0};
    ChipdockTensor tensor = {.ndim = ndim, .dtype = {2, 32, 1}, .shape = (int64_t *)shape, .strides = strides};
    ChipdockAny arg = {.type_index = type}, result = {0};
    arg.value.v_ptr = &tensor;
    int status = function(function_self, &arg, 1, &result);
    *out = result.value.v_int64;
    return status;
}
int main(int argc, char **argv) {
    void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror()), 1;
    const ChipdockPlugin *(*entry)(void) = (const ChipdockPlugin *(*)(void))dlsym(library, "chipdock_plugin_v1");
    if (!entry) return puts("no entry"), 1;
    const ChipdockPlugin *plugin = entry();
    printf("%.*s %d %d %d\n", (int)plugin->name.size, plugin->name.data, plugin->magic == CHIPDOCK_MAGIC,
           plugin->abi_major == CHIPDOCK_ABI_MAJOR, plugin->layout_hash == CHIPDOCK_LAYOUT_HASH);
    ChipdockHost host = {.abi_major = CHIPDOCK_ABI_MAJOR, .abi_minor = CHIPDOCK_ABI_MINOR, .version = text("0.1.0")};
    host.raise = on_raise, host.query = on_query;
    ChipdockRegistrar registrar = {.device_api = on_device, .function = on_function};
    void *instance = NULL;
    if (plugin->init(&host, &registrar, &instance) || !instance || !device || !function) return puts("init"), 1;
    int32_t devices = 0, counted = device->device_count(device_self, &devices);
    printf("devices %d %d\n", counted, devices);
    ChipdockDataSpaceRequest request = {.size_bytes = 8, .alignment_bytes = 64, .scope = text("global")};
    void *data = NULL;
    char there[] = "eight...", back[8] = "";
    ChipdockCopy copy = {.from = {{1, 0}, there, 0}, .to = {{2000, 0}, NULL, 0}, .size_bytes = 8};
    int allocated = device->allocate_data_space(device_self, 0, &request, &data);
    copy.to.data = data;
    int to = device->copy_data(device_self, 0, &copy, NULL);
    copy.from = copy.to, copy.to.device.device_type = 1, copy.to.data = back;
    int from = device->copy_data(device_self, 0, &copy, NULL);
    printf("memory %d %d %d %.8s\n", allocated, to, from, back);
    copy.from.offset_bytes = 4;
    int past = device->copy_data(device_self, 0, &copy, NULL);
    printf("past the end %d %s\n", past == CHIPDOCK_OUT_OF_RANGE, raised);
    printf("freed %d\n", device->free_data_space(device_self, 0, data));
    int64_t shape[2] = {6, 7}, large[2] = {INT64_MAX, 2}, elements = 0;
    int right = count(7, shape, 2, &elements);
    printf("elements %d %lld\n", right, (long long)elements);
    int wrong = count(CHIPDOCK_TYPE_INT, shape, 2, &elements);
    printf("no tensor %d %s\n", wrong, raised);
    wrong = count(7, large, 2, &elements);
    printf("too large %d %s\n", wrong, raised);
    int down = plugin->shutdown(instance), late = device->device_count(device_self, &devices);
    printf("late %d %d %s\n", down, late == CHIPDOCK_UNAVAILABLE, raised);
    device->destroy(device_self);
    plugin->release(instance);
    return 0;
}
"#;

const EXPECTED: &str = "\
template-c 1 1 1
device_api.template_c
template_c.element_count
devices 0 1
memory 0 0 0 eight...
past the end 1 IndexError: the copy reaches past the end of a data space
freed 0
elements 0 42
no tensor -1 TypeError: argument 0 (`tensor`): expected Tensor, found something else
too large -1 ValueError: the number of elements does not fit 64 bits
late 0 1 Unavailable: the plugin `template-c` was shut down for this host: load it with a new host
";

/// Nothing in the examples has a name that the C library declares in some dialect of a compiler,
/// its default one included.
#[test]
fn the_examples_in_c_compile_in_every_dialect() {
    let scratch = Scratch::new();
    let folder = |path: &str| workspace().join(path).display().to_string();
    let (abi, template) = (folder("plugin-api/abi/include"), folder("examples/plugin-template-c"));
    let sources = [format!("{template}/template.c"), folder("examples/codegen-c/plugin.c")];
    let of_c = ["", "-std=c99", "-std=gnu99", "-std=gnu11 -D_GNU_SOURCE", "-std=gnu2x -D_GNU_SOURCE"];
    let of_cpp = ["-x c++", "-x c++ -std=c++11", "-x c++ -std=gnu++17 -D_GNU_SOURCE"];
    let dialects = of_c.map(|flags| ("gcc", flags)).into_iter().chain(of_cpp.map(|flags| ("g++", flags)));
    for (compiler, flags) in dialects {
        for source in &sources {
            let mut command = Command::new(compiler);
            command.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", &abi, "-I", &template]);
            let ended = end(command.args(flags.split_whitespace()).arg(source).current_dir(scratch.path("")));
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{compiler} {flags} {source}");
        }
    }
}

#[test]
fn the_template_in_c_runs_on_this_machine_and_on_another() {
    let scratch = Scratch::new();
    let include = workspace().join("plugin-api/abi/include").display().to_string();
    let template = workspace().join("examples/plugin-template-c/template.c").display().to_string();
    scratch.write("host.c", HOST);
    let own = std::env::consts::ARCH;
    for (machine, compiler) in [(own, "cc"), ("aarch64", "aarch64-linux-gnu-gcc")] {
        let is_own = compiler == "cc";
        let tools = [("qemu-aarch64", "qemu-user"), (compiler, "gcc-aarch64-linux-gnu")];
        let absent = |(program, _): &&(&str, &str)| Command::new(program).arg("--version").output().is_err();
        if let Some((program, package)) = tools.iter().filter(|_| !is_own).find(absent) {
            missing(&format!("{program}, for the template of another machine (Debian: {package})"));
            continue;
        }
        let place = |name: &str| scratch.path(&format!("{name}-{compiler}")).display().to_string();
        let (library, program) = (place("template.so"), place("host"));
        let source = scratch.path("host.c").display().to_string();
        let build = |arguments: &[&str]| {
            let ended =
                end(Command::new(compiler).args(["-O2", "-Wall", "-Wextra", "-I", &include]).args(arguments));
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{compiler} {arguments:?}");
        };
        let flags = ["-std=c99", "-pedantic", "-fPIC", "-shared", "-fvisibility=hidden"];
        build(&[&flags[..], &[&template, "-o", &library]].concat());
        build(&["-Wno-missing-field-initializers", &source, "-o", &program, "-ldl"]);
        // e_machine of the library is that of the compiler.
        let bytes = fs::read(&library).unwrap();
        let number = if machine == "aarch64" { 183_u16 } else { 62 };
        assert_eq!(bytes[18..20], number.to_le_bytes(), "{library}");
        let mut command = match is_own {
            true => Command::new(&program),
            false => Command::new("qemu-aarch64"),
        };
        if !is_own {
            command.args(["-L", "/usr/aarch64-linux-gnu", &program]);
        }
        let ended = end(command.arg(&library));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), EXPECTED), "{machine}: {}", ended.stderr);
    }
}
