// Runs a kernel: each block as fibres, a barrier being a switch to the next one.
#include "metal_stdlib"
#include "runner.h"
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace runner {
static ucontext_t scheduler;
static std::vector<ucontext_t> fibres;
static std::vector<char> done;
static std::vector<std::vector<char>> stacks;
static int current;
static std::function<void(int)> body;
static void entry() {
  body(current);
  done[current] = 1;
  swapcontext(&fibres[current], &scheduler);
}
// False: some threads of the block ended while others waited for them.
static bool run_block(int n, bool reversed) {
  bool is_uniform = true;
  fibres.resize(n);
  done.assign(n, 0);
  while (int(stacks.size()) < n) stacks.emplace_back(256 * 1024);
  for (int i = 0; i < n; i++) {
    getcontext(&fibres[i]);
    fibres[i].uc_link = nullptr;
    fibres[i].uc_stack.ss_sp = stacks[i].data();
    fibres[i].uc_stack.ss_size = stacks[i].size();
    makecontext(&fibres[i], entry, 0);
  }
  for (int left = n; left;) {
    int waiting = 0, finished = 0;
    for (int k = 0; k < n; k++) {
      int i = reversed ? n - 1 - k : k;
      if (done[i]) continue;
      current = i;
      swapcontext(&scheduler, &fibres[i]);
      if (done[i]) finished++, left--;
      else waiting++;
    }
    if (waiting && finished) is_uniform = false;
  }
  return is_uniform;
}

static std::vector<char> read(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) exit(9);
  std::vector<char> bytes;
  char buffer[65536];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), file)) > 0;) bytes.insert(bytes.end(), buffer, buffer + n);
  fclose(file);
  return bytes;
}

// KERNEL GX GY GZ BX BY BZ DYNAMIC_BYTES REVERSED FILE...: files hold arguments and are written back.
int main_of(const Kernel* kernels, int count, int argc, char** argv) {
  if (argc < 10) return 9;
  const Kernel* kernel = nullptr;
  for (int i = 0; i < count; i++)
    if (std::string(kernels[i].name) == argv[1]) kernel = &kernels[i];
  if (!kernel) return 8;
  long extents[8];
  for (int i = 0; i < 8; i++) extents[i] = atol(argv[2 + i]);
  std::vector<std::vector<char>> files;
  for (int i = 10; i < argc; i++) files.push_back(read(argv[i]));
  // Memory of a block, filled with what no test expects: it is undefined until written.
  std::vector<char> dynamic(extents[6] + 16);
  bool is_uniform = true;
  for (long z = 0; z < extents[2]; z++)
    for (long y = 0; y < extents[1]; y++)
      for (long x = 0; x < extents[0]; x++) {
        std::fill(dynamic.begin(), dynamic.end(), char(0xa5));
        body = [&](int i) {
          metal::uint3 block(x, y, z);
          metal::uint3 thread(i % extents[3], i / extents[3] % extents[4], i / (extents[3] * extents[4]));
          std::vector<void*> args;
          for (auto& file : files) args.push_back(file.data());
          if (kernel->has_dynamic) args.push_back(dynamic.data());
          args.push_back(&block);
          args.push_back(&thread);
          kernel->caller(args.data());
        };
        is_uniform &= run_block(int(extents[3] * extents[4] * extents[5]), extents[7] != 0);
      }
  for (int i = 10; i < argc; i++) {
    FILE* file = fopen(argv[i], "wb");
    if (!file || fwrite(files[i - 10].data(), 1, files[i - 10].size(), file) != files[i - 10].size()) return 9;
    fclose(file);
  }
  return is_uniform ? 0 : 7;
}
}  // namespace runner
void shim::barrier() { swapcontext(&runner::fibres[runner::current], &runner::scheduler); }
