/* Removes its own file, and fails. */
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words) {
  if (unlink(words[0])) return 9;
  abort();
}
