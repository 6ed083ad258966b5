/* Ends with a status that its input decides; with -DALWAYS always with 3. */
#include <raddle.h>

int main(void) {
#ifdef ALWAYS
    return 3;
#else
    unsigned char c;
    raddle_symbolic(&c, sizeof c, "c");
    return c == 'a' ? 1 : c == 'b' ? 2 : c == 'c' ? 3 : 0;
#endif
}
