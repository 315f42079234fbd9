// Device APIs of TVM over the plugins of Chipdock (TVM-9). Built by _devices.py against the headers of the TVM that it runs in.
// SPDX-License-Identifier: Apache-2.0

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
#include <tvm/runtime/device_api.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace {

using tvm::Device;
namespace ffi = tvm::ffi;

// Functions of libchipdock.so, and the host that they are called with. Never destroyed: threads use it until the process ends.
struct Library {
  ffi::Any host;
  ffi::Function empty, copy, sync, attribute, stream, stream_native, stream_sync, stream_wait_for;
};

Library* library = nullptr;

// Elements that somebody else keeps, for one call.
struct Borrowed {
  void* data;
  uint64_t byte_offset;
  void AllocData(DLTensor* tensor) {
    tensor->data = data;
    tensor->byte_offset = byte_offset;
  }
  void FreeData(DLTensor*) {}
};

// The keys of attributes of Chipdock by TVM's kind, from kExist on; null where it has none.
constexpr const char* kAttributes[] = {
    "exist", "max_threads_per_block", "warp_size", "max_shared_memory_per_block_bytes", "compute_version", "device_name",
    "max_clock_rate_khz", "multi_processor_count", "max_thread_dimensions", "max_registers_per_block", nullptr, "api_version",
    "driver_version", "l2_cache_size_bytes", "total_global_memory_bytes", "available_global_memory_bytes", nullptr,
};

class ChipdockDeviceAPI final : public tvm::runtime::DeviceAPI {
 public:
  void SetDevice(Device) final {}

  void GetAttr(Device device, tvm::runtime::DeviceAttrKind kind, ffi::Any* result) final {
    const bool known = kind >= 0 && static_cast<size_t>(kind) < std::size(kAttributes);
    const char* key = known ? kAttributes[kind] : nullptr;
    *result = nullptr;
    if (kind == tvm::runtime::kExist) {
      // A device that is not there is an error of Chipdock's, and an answer of TVM's.
      try {
        *result = library->attribute(library->host, device, ffi::String(key)).cast<bool>() ? 1 : 0;
      } catch (const ffi::Error&) {
        *result = 0;
      }
    } else if (key != nullptr) {
      *result = library->attribute(library->host, device, ffi::String(key));
    }
  }

  using DeviceAPI::AllocDataSpace;

  void* AllocDataSpace(Device device, size_t nbytes, size_t, DLDataType) final {
    const int64_t size = static_cast<int64_t>(std::max<size_t>(nbytes, 1));
    auto tensor = library->empty(library->host, ffi::Shape({size}), kBytes, device).cast<ffi::Tensor>();
    void* data = tensor.data_ptr();
    TVM_FFI_ICHECK_EQ(tensor.GetDLTensorPtr()->byte_offset, 0) << "Chipdock allocates memory at offset 0";
    const std::lock_guard<std::mutex> guard(lock_);
    owned_.insert_or_assign(data, std::move(tensor));
    return data;
  }

  void FreeDataSpace(Device, void* data) final {
    // Released outside the lock: the plugin may wait for the device.
    std::optional<ffi::Tensor> released;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      const auto found = owned_.find(data);
      if (found == owned_.end()) return;
      released = std::move(found->second);
      owned_.erase(found);
    }
  }

  // A stream is known to TVM-FFI's table, and so to our kernels, by the native one below it. Where the plugin shares none, TVM gets
  // the default stream.
  TVMStreamHandle CreateStream(Device device) final {
    ffi::Any stream = library->stream(library->host, device);
    void* native = nullptr;
    try {
      native = reinterpret_cast<void*>(library->stream_native(stream).cast<int64_t>());
    } catch (const ffi::Error&) {
      return nullptr;
    }
    const std::lock_guard<std::mutex> guard(lock_);
    streams_.insert_or_assign(native, std::move(stream));
    return native;
  }

  void FreeStream(Device, TVMStreamHandle native) final {
    const ffi::Any stream = StreamOf(native);
    if (stream == nullptr) return;
    // Work on it may go on; freeing it here must not lose any.
    library->stream_sync(stream);
    const std::lock_guard<std::mutex> guard(lock_);
    streams_.erase(native);
  }

  void StreamSync(Device device, TVMStreamHandle native) final {
    const ffi::Any stream = StreamOf(native);
    if (stream == nullptr) {
      library->sync(library->host, device);
    } else {
      library->stream_sync(stream);
    }
  }

  void SyncStreamFromTo(Device device, TVMStreamHandle from, TVMStreamHandle to) final {
    const ffi::Any source = StreamOf(from), target = StreamOf(to);
    if (source == nullptr || target == nullptr) {
      library->sync(library->host, device);
    } else {
      library->stream_wait_for(target, source);
    }
  }

 protected:
  using DeviceAPI::CopyDataFromTo;

  void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset, size_t nbytes, Device from_device,
                      Device to_device, DLDataType, TVMStreamHandle native) final {
    if (nbytes == 0) return;
    // The copy is on the default stream: it comes after what is on the caller's.
    const ffi::Any stream = StreamOf(native);
    if (stream != nullptr) library->stream_sync(stream);
    const int64_t size = static_cast<int64_t>(nbytes);
    const auto view = [size](void* data, size_t offset, Device device) {
      return ffi::Tensor::FromNDAlloc(Borrowed{data, offset}, ffi::Shape({size}), kBytes, device);
    };
    library->copy(library->host, view(const_cast<void*>(from), from_offset, from_device), view(to, to_offset, to_device));
  }

 private:
  static constexpr DLDataType kBytes = {kDLUInt, 8, 1};

  ffi::Any StreamOf(TVMStreamHandle native) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = streams_.find(native);
    return found == streams_.end() ? ffi::Any(nullptr) : found->second;
  }

  std::mutex lock_;
  std::unordered_map<void*, ffi::Any> streams_;
  std::unordered_map<void*, ffi::Tensor> owned_;
};

// Sets the functions and the host of all device APIs; registers one under the name of a device type.
void Install(int device_type, ffi::Any host, ffi::Array<ffi::Function> functions) {
  TVM_FFI_ICHECK_EQ(functions.size(), 8);
  if (library == nullptr) {
    library = new Library{std::move(host), functions[0], functions[1], functions[2], functions[3],
                          functions[4],    functions[5], functions[6], functions[7]};
  }
  auto* api = new ChipdockDeviceAPI();
  const std::string name = std::string("device_api.") + tvm::runtime::DLDeviceType2Str(device_type);
  ffi::Function::SetGlobal(
      name, ffi::Function::FromPacked([api](ffi::PackedArgs, ffi::Any* result) {
        *result = static_cast<void*>(static_cast<tvm::runtime::DeviceAPI*>(api));
      }),
      true);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(install, Install);
