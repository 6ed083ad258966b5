/* With -DLIBRARY, a library in which a function is missing; without, a program that calls it if it
 * gets an argument. It starts all the same, unless every function has to be there before main. */
#ifdef LIBRARY
void missing(void);

int call(int really)
{
    if (really)
        missing();
    return 0;
}
#else
int call(int really);

int main(int argc, char **argv)
{
    (void)argv;
    return call(argc > 1);
}
#endif
