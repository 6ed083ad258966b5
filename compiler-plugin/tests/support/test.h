// What test programs call.
#ifdef __cplusplus
extern "C" {
#endif
void raddle_symbolic(void *at, unsigned long size, const char *name);
void test_output(unsigned long long value);
#ifdef __cplusplus
}
#endif
