/* What main.c counts with, without a lock. With -DEXCLUDED an attribute keeps hooks out of it. */
#ifdef EXCLUDED
#define HOW __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define HOW
#endif

static int counter;

HOW void increment(void)
{
    int seen = counter;
    counter = seen + 1;
}

HOW int count(void)
{
    return counter;
}
