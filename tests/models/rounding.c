/* An integer becomes a floating point number, rounded in a way that the program may set before. The
 * exit status says whether the number is the integer (0), less (1) or greater (2). */
#define _GNU_SOURCE
#include <fenv.h>
#include <stddef.h>
#include <xmmintrin.h>

void raddle_symbolic(void *at, size_t len, const char *name);

enum { UPWARD = 0x4000 };

/* Variadic: it has no symbolic body. */
static __attribute__((noinline)) void set(int way, ...)
{
    __builtin_set_flt_rounds(way);
}

static void prepare(void)
{
    fenv_t environment;
    fegetenv(&environment);
    switch (SCENARIO) {
    case 1:
        fesetround(FE_TONEAREST);
        break;
    case 2:
        fesetround(FE_UPWARD);
        break;
    case 3:
        fesetenv(FE_DFL_ENV);
        break;
    case 4:
        environment.__mxcsr |= UPWARD;
        fesetenv(&environment);
        break;
    case 5:
        feholdexcept(&environment);
        feupdateenv(&environment);
        break;
    case 6:
        environment.__mxcsr |= UPWARD;
        feupdateenv(&environment);
        break;
    case 7:
        feenableexcept(FE_INVALID);
        break;
    case 8:
        _mm_setcsr(_mm_getcsr() | UPWARD);
        break;
    case 9:
        __builtin_set_flt_rounds(1);
        break;
    case 10:
        __builtin_set_flt_rounds(2);
        break;
    case 11:
        set(2);
        break;
    case 12: {
        femode_t mode;
        fegetmode(&mode);
        mode.__mxcsr |= UPWARD;
        fesetmode(&mode);
        break;
    }
    }
}

int main(void)
{
    unsigned char byte = 0;
    raddle_symbolic(&byte, 1, "byte");
    prepare();
    unsigned number = 0x1000000u + (byte & 3);
    volatile float rounded = (float)number;
    double exact = number, near = rounded;
    return near < exact ? 1 : near > exact ? 2 : 0;
}
