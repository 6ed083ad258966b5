/* Computes for longer than anybody waits. */
int main(void) {
  for (volatile long i = 0; i < 1000000000000; i++) continue;
}
