/* noload NAME [load]: is a library there that nobody has loaded? Fails if it is; with a second argument, another
 * one is loaded before. */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>

static const char *name;

static void *ask(void *unused) {
  assert(!dlopen(name, RTLD_NOW | 4 /* RTLD_NOLOAD */));
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  name = argv[1];
  if (argc > 2) dlopen("libresolv.so.2", RTLD_NOW);
  pthread_create(&thread, 0, ask, 0);
  pthread_join(thread, 0);
  return 0;
}
