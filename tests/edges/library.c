// What `edges.c` loads: its constructor has run for whoever has a handle.
int constructed[1];
__attribute__((constructor)) static void construct(void) { constructed[0] = 2; }
