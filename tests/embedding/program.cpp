// A program in C++ that has no libtvm_ffi: what chipdock_host.h promises of errors, functions, tensors, streams and files.
// usage: program KERNEL.py CALLBACKS.so FOLDER TARGET DEVICE

#include <chipdock_host.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

static void expect(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

template <typename Call>
static chipdock::Error error_of(Call call) {
  try {
    call();
  } catch (const chipdock::Error &error) {
    return error;
  }
  std::fprintf(stderr, "a call that must fail did not\n");
  std::exit(1);
}

static void errors(const chipdock::Host &host, const std::string &text) {
  const chipdock::Error unknown = error_of([&] { host.compile(text, "nonsense"); });
  expect(unknown.kind() == "ValueError", "an unknown target is the caller's mistake");
  expect(std::string(unknown.what()).find("known kinds") != std::string::npos, "the message lists the known kinds");
  const chipdock::Error missing = error_of([&] { host.load("/nothing/here.so"); });
  expect(missing.kind() == "IoError", "a file that is not there");
  const chipdock::Module module = host.compile(text, "c");
  expect(error_of([&] { module["nobody"]; }).kind() == "NotFound", "a function that is not there");
  expect(error_of([&] { module["vector_add"](1, 2, 3); }).kind() == "TypeError", "numbers in the place of tensors");
  expect(error_of([&] { chipdock::Host("{"); }).kind() == "ValueError", "options that are no JSON");
  expect(host.target("qcom/adreno-opencl").json().find("\"tag\":\"qcom/adreno-opencl\"") != std::string::npos, "a tag");
  expect(host.target_tags().find("\"nvidia/geforce-rtx-3090\"") != std::string::npos, "the tags");
  const chipdock::Error tag = error_of([&] { host.target("{\"tag\": \"qcom/adreno-openc\"}"); });
  expect(std::string(tag.what()).find("did you mean \"qcom/adreno-opencl\"?") != std::string::npos, "the nearest tag");
  ChipdockAny left;
  chipdock_take_error(&left);
  expect(left.type_index == CHIPDOCK_TYPE_NONE, "no error is left behind");
}

static void callbacks(const std::string &plugin) {
  const chipdock::Host host("{\"isolated\": true, \"plugin_paths\": [\"" + plugin + "\"], \"trust\": [\"" + plugin + "\"]}");
  const chipdock::Function apply(chipdock::detail::call(__tvm_ffi_function, host.value(), "callbacks.apply"));
  int calls = 0;
  const chipdock::Function sum = chipdock::Function::of([&](const std::vector<ChipdockAny> &args) {
    calls++;
    return chipdock::Value(chipdock_int(args.at(0).value.v_int64 + args.at(1).value.v_int64));
  });
  expect(apply(sum.value(), 40, 2).integer() == 42 && calls == 1, "a callback is called");
  const chipdock::Function fails = chipdock::Function::of([](const std::vector<ChipdockAny> &) -> chipdock::Value {
    throw chipdock::Error("KeyError", "nothing by that name");
  });
  const chipdock::Error error = error_of([&] { apply(fails.value()); });
  expect(error.kind() == "KeyError" && std::string(error.what()) == "nothing by that name", "its error comes back whole");
  const chipdock::Function odd = chipdock::Function::of(
      [](const std::vector<ChipdockAny> &args) -> chipdock::Value { return args.at(7), chipdock::Value(); });
  expect(error_of([&] { apply(odd.value()); }).kind() == "RuntimeError", "an exception of the standard library");
}

static void hooks(const chipdock::Host &host, const std::string &text) {
  const std::string name = "c.postprocess_source";
  host.register_function(name, chipdock::Function::of([](const std::vector<ChipdockAny> &args) {
    const ChipdockStr source = chipdock_str_of(&args.at(0));
    return chipdock::Value::str("// of the program in C++\n" + std::string(source.data, source.size));
  }), "program.cpp 1");
  const chipdock::Module module = host.compile(text, "c", "{\"cache\": false}");
  expect(module.source().find("// of the program in C++\n") == 0, "a hook is called");
  expect(host.function(name)("int x;", "{}").text() == "// of the program in C++\nint x;", "it is a function by its name");
  expect(error_of([&] { host.register_function(name, host.function(name)); }).kind() == "ValueError", "registered once");
  expect(host.unregister_function(name) && !host.unregister_function(name), "it is taken back once");
  expect(error_of([&] { host.function(name); }).kind() == "NotFound", "a function that nobody registered");
  const chipdock::Module import = host.compile(text, "c", "{\"cache\": false}");
  expect(import.source().find("// of the program") == std::string::npos, "and called no more");
  module.import_module(import);
  expect(error_of([&] { import.import_module(module); }).kind() == "ValueError", "no circle of imports");
  expect(chipdock::Value::bytes(std::string(20, '\0')).text().size() == 20, "bytes");
}

static void tensors(const chipdock::Host &host, const std::string &text, const std::string &target,
                    const std::string &device) {
  const chipdock::Module module = host.compile(text, target);
  expect(module.describe().find("vector_add") != std::string::npos, "a description");
  const chipdock::Tensor a = host.tensor<float>({1, 2, 3, 4}, {4}, device);
  expect(a.shape() == std::vector<int64_t>(1, 4), "its shape");
  const chipdock::Tensor b = host.to_device(host.tensor<float>({4, 3, 2, 1}, {4}, "cpu:0"), device);
  const chipdock::Tensor c = host.tensor<float>({0, 0, 0, 0}, {4}, device);
  const chipdock::Stream stream = host.stream(device);
  host.set_stream(device, &stream);
  module["vector_add"](a.value(), b.value(), c.value());
  stream.sync();
  host.set_stream(device, nullptr);
  expect(host.elements<float>(c) == std::vector<float>(4, 5), "the sums");
  const chipdock::Timeline timeline = host.timeline(device, 1);
  const chipdock::Stream other = host.stream(device);
  const chipdock::Tensor back = host.tensor<float>({0, 0, 0, 0}, {4}, device);
  stream.signal(timeline, 2);
  other.wait(timeline, 2);
  host.copy_on(c, back, other);
  other.signal(timeline, 3);
  timeline.wait(3);
  expect(timeline.reached() == 3 && host.elements<float>(back) == std::vector<float>(4, 5), "the copy in order");
  other.sync();
  timeline.set(7);
  expect(!timeline.wait(8, 1000) && timeline.wait(7, 0), "waits that end");
  expect(error_of([&] { stream.signal(timeline, 7); }).kind() == "ValueError", "a value that does not rise");
  if (device.compare(0, 3, "cpu") == 0) {
    expect(error_of([&] { host.record(device, a); }).kind() == "Unsupported", "functions of host memory are not recorded");
  } else {
    chipdock::Recording recording = host.record(device, a, c);
    recording.keep(b);
    module["vector_add"](a.value(), b.value(), c.value());
    const chipdock::Graph graph = recording.finish();
    const chipdock::Tensor x = host.tensor<float>({5, 6, 7, 8}, {4}, device);
    graph.replay(other, x, back);
    other.sync();
    expect(graph.size() == 1 && host.elements<float>(back) == std::vector<float>({9, 9, 9, 9}), "a replay");
    expect(error_of([&] { graph.replay(other, x); }).kind() == "ValueError", "one argument of two");
    chipdock::Recording given_up = host.record(device, a);
    expect(error_of([&] { stream.sync(); }).kind() == "WrongState", "a wait in a recording");
  }
  stream.sync();
  expect(error_of([&] { host.elements<double>(c); }).kind() == "TypeError", "elements of another type");
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; number++) {
    threads.emplace_back([&, number] {
      std::vector<float> x(100, static_cast<float>(number)), y(100, 1), z(100);
      for (int round = 0; round < 20; round++) {
        module.run_for(1000.5, "vector_add", device, chipdock::view(x), chipdock::view(y), chipdock::view(z));
        expect(z == std::vector<float>(100, static_cast<float>(number) + 1), "the sums of a thread");
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

// MEMORY-K2, MEMORY-K3, MEMORY-K7 and MEMORY-K8.
static void memory(const chipdock::Host &host, const std::string &text, const std::string &target,
                   const std::string &device) {
  const std::string able = host.capabilities(device);
  expect(able.find("\"memory\":[{\"kind\":\"device\",\"scopes\":[\"global\"]}") != std::string::npos, "kinds of memory");
  const chipdock::Module module = host.compile(text, target);
  const ChipdockDataType type = chipdock::dtype_of<float>();
  for (const std::string kind : {"pinned", "host-visible", "unified"}) {
    if (able.find("\"" + kind + "\"") == std::string::npos) continue;
    const chipdock::Tensor x = host.empty_in({4}, type, device, chipdock::MemoryOptions(kind));
    expect(host.memory_kind(x) == kind && host.scope(x) == "global", "it says what it is");
    expect((x.device().device_type == CHIPDOCK_DEVICE_CPU) == (kind == "pinned" || device == "cpu:0"), "its device");
    float *const in_place = static_cast<float *>(host.map(x));
    for (int i = 0; i < 4; i++) in_place[i] = static_cast<float>(i);
    const chipdock::Tensor there = kind == "pinned" ? host.to_device(x, device) : x;
    module["vector_add"](there.value(), there.value(), there.value());
    expect(host.elements<float>(there) == std::vector<float>({0, 2, 4, 6}), "what was written in place");
    if (kind != "pinned") expect(host.map(x) == in_place && in_place[3] == 6, "what was computed, in place");
  }
  const chipdock::Tensor plain = host.tensor<float>({1}, {1}, device);
  expect(host.memory_kind(plain) == "device", "memory of the device");
  if (device != "cpu:0") expect(error_of([&] { host.map(plain); }).kind() == "Unsupported", "the host does not reach it");
  const auto made = [&](const chipdock::MemoryOptions &options) { host.empty_in({4}, type, device, options); };
  expect(error_of([&] { made(chipdock::MemoryOptions("paged")); }).kind() == "ValueError", "a kind that there is not");
  expect(error_of([&] { made(chipdock::MemoryOptions("device", "near")); }).kind() == "Unsupported", "another scope");
  expect(error_of([&] { made(chipdock::MemoryOptions("pinned", "", 48)); }).kind() == "ValueError", "an odd alignment");
}

static void files(const chipdock::Host &host, const std::string &text, const std::string &folder) {
  const chipdock::Module module = host.compile(text, "c");
  for (const char *suffix : {".so", ".tar", ".chipdock"}) {
    const std::string path = folder + "/add" + suffix;
    module.save(path);
    std::vector<float> x{1, 2}, y{3, 4}, z(2);
    host.load(path)["vector_add"](chipdock::view(x), chipdock::view(y), chipdock::view(z));
    expect(z == std::vector<float>({4, 6}), path.c_str());
  }
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  std::ifstream file(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    const chipdock::Host host;
    expect(host.plugins().find("\"plugins\"") != std::string::npos, "the plugins");
    expect(host.target("c").json().find("\"kind\"") != std::string::npos, "a target");
    errors(host, text);
    callbacks(argv[2]);
    hooks(host, text);
    tensors(host, text, argv[4], argv[5]);
    memory(host, text, argv[4], argv[5]);
    files(host, text, argv[3]);
  } catch (const chipdock::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.kind().c_str(), error.what());
    return 1;
  }
  std::puts("as promised");
  return 0;
}
