// Compiles a kernel and runs it on a device: the host in a C++ program.
//
//     c++ -std=c++11 main.cpp -I<include> -L<lib> -lchipdock -Wl,-rpath,<lib> -o embed
//     ./embed vector_add.py [TARGET [DEVICE]]
//
// <include> has chipdock_host.h and chipdock.h, <lib> has libchipdock.so and, beside it, the folder plugins.

#include <chipdock_host.h>

#include <fstream>
#include <iostream>
#include <iterator>

// Returns the sums of two vectors, computed on the device by the kernel of the file.
static std::vector<float> sums(const chipdock::Host &host, const std::string &path, const std::string &target,
                               const std::string &device) {
  std::ifstream file(path);
  if (!file) throw chipdock::Error("IoError", "cannot read " + path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const chipdock::Module module = host.compile(text, target, R"({"file": "vector_add.py"})");

  // Tensors on the device, and a call of the compiled function.
  const chipdock::Tensor a = host.tensor<float>({1, 2, 3}, {3}, device);
  const chipdock::Tensor b = host.tensor<float>({10, 20, 30}, {3}, device);
  const chipdock::Tensor c = host.tensor<float>({0, 0, 0}, {3}, device);
  module["vector_add"](a.value(), b.value(), c.value());
  std::vector<float> first = host.elements<float>(c);

  // The same with memory of this program, which `run` copies there and back.
  std::vector<float> x{1, 2, 3}, y{10, 20, 30}, z(3);
  module.run("vector_add", device, chipdock::view(x), chipdock::view(y), chipdock::view(z));
  if (z != first) throw chipdock::Error("RuntimeError", "two ways, two results");
  return z;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: embed KERNEL.py [TARGET [DEVICE]]\n";
    return 2;
  }
  try {
    const chipdock::Host host;
    const std::vector<float> found = sums(host, argv[1], argc > 2 ? argv[2] : "c", argc > 3 ? argv[3] : "cpu:0");
    for (float one : found) std::cout << one << ' ';
    std::cout << '\n';
    return 0;
  } catch (const chipdock::Error &error) {
    std::cerr << error.kind() << ": " << error.what() << '\n';
    return 1;
  }
}
