/*
 * The C template, with one thing wrong: what, is named by BAD when it is compiled. It does it when device 0 is asked
 * whether it exists, unless the name says otherwise. STATE is a file that it may keep notes in.
 */
#define _GNU_SOURCE
#define chipdock_plugin_v1 template_plugin_v1
const struct ChipdockPlugin *template_plugin_v1(void);
#include "template.c"
#undef chipdock_plugin_v1

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static int is(const char *name) { return strcmp(BAD, name) == 0; }

/* Counts the times that it was called, in all processes. */
static int times(void) {
  int file = open(STATE, O_RDWR | O_CREAT | O_APPEND, 0600);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0 || write(file, "x", 1) != 1) abort();
  close(file);
  return (int)about.st_size;
}

/* A name to look for in a stack. */
__attribute__((noinline)) void crash_here(void) {
  *(volatile int *)(uintptr_t)8 = 1;
  __asm__ volatile("" ::: "memory");
}

static void garble(void) {
  static const char lie[] =
      "\n{\"token\":\"\",\"number\":1,\"event\":\"end\",\"index\":0,\"seconds\":0,\"stop\":null,\"repro\":\"\"}\n"
      "{\"event\":\"done\"}\n{\"token\": half a line \xff\xfe";
  int fd;
  for (fd = 1; fd < 1024; fd++) {
    if (write(fd, lie, sizeof lie - 1) < 0) continue;
  }
}

static void flood(void) {
  static char noise[1 << 16];
  int i;
  memset(noise, 'n', sizeof noise);
  for (i = 0; i < 2000; i++) {
    if (write(2, noise, sizeof noise) < 0 || write(1, noise, sizeof noise) < 0) return;
  }
}

static void swallow(int signal) { (void)signal; }

/* A child that stays, with everything that it inherited; its number is noted down. */
static void leave_child(int detached) {
  pid_t child = fork();
  FILE *note;
  if (child == 0) {
    if (detached) setsid();
    sleep(600);
    _exit(0);
  }
  note = fopen(STATE, "w");
  if (note == NULL) abort();
  fprintf(note, "%d", (int)child);
  fclose(note);
}

static void change_everything(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  if (chdir("/") != 0) abort();
  umask(0777);
  setlocale(LC_ALL, "C.UTF-8");
  fesetround(FE_UPWARD);
  unsetenv("PATH");
  alarm(1);
}

/* What of it is still so. */
static const char *is_changed(void) {
  sigset_t now;
  mode_t mask = umask(022);
  volatile double one = 1, three = 3;
  char folder[4096];
  umask(mask);
  sigprocmask(SIG_SETMASK, NULL, &now);
  if (sigismember(&now, SIGUSR1)) return "blocked signals";
  if (getcwd(folder, sizeof folder) == NULL || strcmp(folder, "/") == 0) return "another folder";
  if (mask == 0777) return "another umask";
  if (strcmp(setlocale(LC_ALL, NULL), "C") != 0) return "another locale";
  if (one / three > 0.333333333333333333) return "another rounding";
  if (getenv("PATH") == NULL) return "no PATH";
  return NULL;
}

static void misbehave(void) {
  if (is("segfault")) crash_here();
  if (is("abort")) abort();
  if (is("trap")) __builtin_trap();
  if (is("exit0")) exit(0);
  if (is("exit3")) _exit(3);
  if (is("sleep")) sleep(600);
  if (is("spin")) for (;;) __asm__ volatile("");
  if (is("garbage")) garble();
  if (is("flood")) flood();
  if (is("close")) {
    int fd;
    for (fd = 0; fd < 4096; fd++) close(fd);
  }
  if (is("fork-returns")) fork();
  if (is("fork-stays")) leave_child(0);
  if (is("fork-detached")) leave_child(1);
  if (is("changes")) change_everything();
  if (is("swallow")) {
    signal(SIGSEGV, swallow);
    crash_here();
  }
  if (is("swallow-and-go-on")) {
    signal(SIGSEGV, swallow);
    signal(SIGABRT, swallow);
    raise(SIGSEGV);
  }
  if (is("flaky") && times() == 0) crash_here();
  if (is("unwell")) {
    times();
    crash_here();
  }
}

static int seen_first = 0;

static int32_t bad_attribute(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (is_text(key, "exist")) {
    if (device_id == 0) {
      seen_first = 1;
      misbehave();
    } else {
      if (is("order") && seen_first) crash_here();
      if (is("changes") && is_changed() != NULL)
        return fail((Instance *)self_, CHIPDOCK_ERROR, "InternalError", is_changed());
    }
  }
  return attribute(self_, device_id, key, out_value);
}

static int32_t bad_count(void *self_, int32_t *out_count) {
  if (is("count")) crash_here();
  return device_count(self_, out_count);
}

static int32_t bad_allocate(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request, void **out) {
  struct stat about;
  if (is("unwell") && stat(STATE, &about) == 0)
    return fail((Instance *)self_, CHIPDOCK_ERROR, "DeviceLost", "the device is lost for good");
  return allocate_data_space(self_, device_id, request, out);
}

static ChipdockDeviceApi bad_api;

static int32_t bad_init(const ChipdockHost *host, const ChipdockRegistrar *registrar, void **out_instance) {
  Instance *instance = (Instance *)calloc(1, sizeof(Instance));
  int32_t device_type = 0;
  if (is("init")) crash_here();
  if (is("refused")) {
    host->raise(host->self_, text("InternalError"), text("it does not want to"));
    return CHIPDOCK_ERROR;
  }
  if (instance == NULL) abort();
  instance->host = host;
  bad_api = device_api;
  bad_api.device_count = bad_count;
  bad_api.attribute = bad_attribute;
  bad_api.allocate_data_space = bad_allocate;
  *out_instance = instance;
  return registrar->device_api(registrar->self_, text("bad"), device_type, text("{}"), instance, &bad_api, &device_type);
}

static int32_t bad_shut_down(void *instance) {
  (void)instance;
  return CHIPDOCK_OK;
}

static const ChipdockPlugin bad_plugin = CHIPDOCK_PLUGIN("bad", "0.1.0", "", bad_init, bad_shut_down, release);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const ChipdockPlugin *
chipdock_plugin_v1(void) {
  return &bad_plugin;
}

__attribute__((constructor)) static void begin(void) {
  if (is("constructor")) _exit(0);
}

__attribute__((destructor)) static void end(void) {
  if (is("destructor")) _exit(3);
  if (is("destructor-hangs")) sleep(600);
}
