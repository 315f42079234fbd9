// A driver of Vulkan for tests: lavapipe as it would be with four queues. What is submitted to any of them goes to
// lavapipe's only one, so that results are right by chance; the validation layer sees four. A fence says that it is signalled
// only once the host has waited for it, as late as Vulkan allows. With TEST_DRIVER=no-instance it makes no instance, and with
// TEST_DRIVER=no-device its instances have no devices.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUES = 4, SUCCESS = 0, NOT_READY = 1, INITIALIZATION_FAILED = -3 };

typedef void (*Function)(void);
typedef Function (*Find)(void *, const char *);

// The structures of Vulkan's specification that are changed here.
typedef struct { uint32_t flags, count, timestamp_bits, granularity[3]; } Family;
typedef struct { uint32_t type; void *next; Family family; } Family2;
typedef struct { uint32_t type; const void *next; uint32_t flags, family, count; const float *priorities; } QueueInfo;
typedef struct {
    uint32_t type; const void *next; uint32_t flags, queues_count; const QueueInfo *queues;
    uint32_t layers_count; const void *layers; uint32_t extensions_count; const void *extensions; const void *features;
} DeviceInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags, family, index; } Queue2Info;

// A queue as the loader wants it: its first word is the loader's.
typedef struct { uintptr_t loader; void *real; } Queue;
typedef struct Device { void *real; Queue queues[QUEUES]; struct Device *next; } Device;

static Find find_of_instance, find_of_device;
static void *instance_made;
static Device *devices;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is(const char *mode) {
    const char *wanted = getenv("TEST_DRIVER");
    return wanted && !strcmp(wanted, mode);
}

static Function of_instance(const char *name) { return find_of_instance(instance_made, name); }

static int create_instance(const void *info, const void *allocator, void **out) {
    if (is("no-instance")) return INITIALIZATION_FAILED;
    int result = ((int (*)(const void *, const void *, void **))find_of_instance(0, "vkCreateInstance"))(info, allocator, out);
    if (result == SUCCESS) {
        instance_made = *out;
        find_of_device = (Find)of_instance("vkGetDeviceProcAddr");
    }
    return result;
}

static int enumerate(void *instance, uint32_t *count, void **out) {
    if (is("no-device")) {
        *count = 0;
        return SUCCESS;
    }
    return ((int (*)(void *, uint32_t *, void **))of_instance("vkEnumeratePhysicalDevices"))(instance, count, out);
}

static void families(void *device, uint32_t *count, Family *out) {
    ((void (*)(void *, uint32_t *, Family *))of_instance("vkGetPhysicalDeviceQueueFamilyProperties"))(device, count, out);
    for (uint32_t i = 0; out && i < *count; i++) out[i].count = QUEUES;
}

static void families2(void *device, uint32_t *count, Family2 *out) {
    ((void (*)(void *, uint32_t *, Family2 *))of_instance("vkGetPhysicalDeviceQueueFamilyProperties2"))(device, count, out);
    for (uint32_t i = 0; out && i < *count; i++) out[i].family.count = QUEUES;
}

static int create_device(void *physical, const DeviceInfo *info, const void *allocator, void **out) {
    DeviceInfo changed = *info;
    QueueInfo one = *info->queues;
    one.count = 1;
    changed.queues = &one;
    int result = ((int (*)(void *, const DeviceInfo *, const void *, void **))of_instance("vkCreateDevice"))(physical, &changed, allocator, out);
    if (result != SUCCESS) return result;
    void *real;
    ((void (*)(void *, uint32_t, uint32_t, void **))find_of_device(*out, "vkGetDeviceQueue"))(*out, one.family, 0, &real);
    Device *device = calloc(1, sizeof *device);
    device->real = *out;
    for (int i = 0; i < QUEUES; i++) device->queues[i] = (Queue){*(uintptr_t *)real, real};
    pthread_mutex_lock(&lock);
    device->next = devices;
    devices = device;
    pthread_mutex_unlock(&lock);
    return result;
}

static void get_queue(void *real, uint32_t family, uint32_t index, void **out) {
    (void)family;
    pthread_mutex_lock(&lock);
    Device *device = devices;
    // The newest of that address: one that was destroyed may have had it.
    while (device && device->real != real) device = device->next;
    *out = device ? &device->queues[index] : 0;
    pthread_mutex_unlock(&lock);
}

static void get_queue2(void *real, const Queue2Info *info, void **out) { get_queue(real, info->family, info->index, out); }

static Function of_queue(const char *name) { return find_of_device(devices->real, name); }

// Fences that were submitted, and whether the host has waited for one that was signalled then or later.
typedef struct Fence { void *fence; int is_known; struct Fence *next; } Fence;
static Fence *fences;

static int real_status(void *device, void *fence) {
    return ((int (*)(void *, void *))find_of_device(device, "vkGetFenceStatus"))(device, fence);
}

static int wait_for_fences(void *device, uint32_t count, void *const *all, uint32_t for_all, uint64_t timeout) {
    int result = ((int (*)(void *, uint32_t, void *const *, uint32_t, uint64_t))find_of_device(device, "vkWaitForFences"))(
        device, count, all, for_all, timeout);
    pthread_mutex_lock(&lock);
    for (Fence *one = fences; result == SUCCESS && one; one = one->next) one->is_known |= real_status(device, one->fence) == SUCCESS;
    pthread_mutex_unlock(&lock);
    return result;
}

static int fence_status(void *device, void *fence) {
    pthread_mutex_lock(&lock);
    Fence *one = fences;
    while (one && one->fence != fence) one = one->next;
    int is_known = one && one->is_known;
    pthread_mutex_unlock(&lock);
    return is_known ? real_status(device, fence) : NOT_READY;
}

static void destroy_fence(void *device, void *fence, const void *allocator) {
    pthread_mutex_lock(&lock);
    for (Fence **at = &fences; *at; at = &(*at)->next) {
        Fence *one = *at;
        if (one->fence != fence) continue;
        *at = one->next;
        free(one);
        break;
    }
    pthread_mutex_unlock(&lock);
    ((void (*)(void *, void *, const void *))find_of_device(device, "vkDestroyFence"))(device, fence, allocator);
}

static int submit(Queue *queue, uint32_t count, const void *infos, void *fence) {
    pthread_mutex_lock(&lock);
    if (fence) {
        Fence *one = malloc(sizeof *one);
        *one = (Fence){fence, 0, fences};
        fences = one;
    }
    int result = ((int (*)(void *, uint32_t, const void *, void *))of_queue("vkQueueSubmit"))(queue->real, count, infos, fence);
    pthread_mutex_unlock(&lock);
    return result;
}

static int wait_idle(Queue *queue) { return ((int (*)(void *))of_queue("vkQueueWaitIdle"))(queue->real); }

static Function of_device(void *device, const char *name);

static const struct { const char *name; Function own; } OWN[] = {
    {"vkCreateInstance", (Function)create_instance},
    {"vkEnumeratePhysicalDevices", (Function)enumerate},
    {"vkGetPhysicalDeviceQueueFamilyProperties", (Function)families},
    {"vkGetPhysicalDeviceQueueFamilyProperties2", (Function)families2},
    {"vkGetPhysicalDeviceQueueFamilyProperties2KHR", (Function)families2},
    {"vkCreateDevice", (Function)create_device},
    {"vkGetDeviceProcAddr", (Function)of_device},
    {"vkGetDeviceQueue", (Function)get_queue},
    {"vkGetDeviceQueue2", (Function)get_queue2},
    {"vkQueueSubmit", (Function)submit},
    {"vkQueueWaitIdle", (Function)wait_idle},
    {"vkWaitForFences", (Function)wait_for_fences},
    {"vkGetFenceStatus", (Function)fence_status},
    {"vkDestroyFence", (Function)destroy_fence},
};

static Function own(const char *name) {
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (!strcmp(OWN[i].name, name)) return OWN[i].own;
    // Others that take a queue would take ours for lavapipe's.
    return 0;
}

static Function of_device(void *device, const char *name) {
    Function found = own(name);
    if (found) return found;
    return strncmp(name, "vkQueue", 7) ? find_of_device(device, name) : 0;
}

static void *lavapipe(const char *name) {
    static void *library;
    if (!library) library = dlopen(getenv("TEST_DRIVER_BENEATH"), RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library ? dlsym(library, name) : 0;
}

int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    int (*negotiate)(uint32_t *) = (int (*)(uint32_t *))lavapipe("vk_icdNegotiateLoaderICDInterfaceVersion");
    return negotiate ? negotiate(version) : INITIALIZATION_FAILED;
}

Function vk_icdGetInstanceProcAddr(void *instance, const char *name) {
    if (!find_of_instance) find_of_instance = (Find)lavapipe("vk_icdGetInstanceProcAddr");
    Function found = own(name);
    return found ? found : find_of_instance(instance, name);
}

Function vk_icdGetPhysicalDeviceProcAddr(void *instance, const char *name) {
    Find find = (Find)lavapipe("vk_icdGetPhysicalDeviceProcAddr");
    return own(name) && find(instance, name) ? own(name) : find(instance, name);
}
