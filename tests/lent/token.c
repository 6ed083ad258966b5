// A thread asks for the next part of a text that another thread gives to strtok.
#include <pthread.h>
#include <string.h>

static char text[] = "a,b";

static void *gives(void *unused) {
  strtok(text, ",");
  return unused;
}

static void *asks(void *unused) {
  strtok(0, ",");
  return unused;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, gives, 0);
  pthread_create(&two, 0, asks, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
