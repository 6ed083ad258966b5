/* Programs that read what they did not name as an input. The exit status says what they got. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int klee_int(const char *name);
int klee_range(int begin, int end, const char *name);
unsigned long long __VERIFIER_nondet_ulonglong(void);
unsigned short __VERIFIER_nondet_u16(void);

int main(int argc, char **argv)
{
    char line[16] = "", *text = NULL;
    size_t room = 0;
    int c, sum = 0;
    (void)line, (void)text, (void)room, (void)c, (void)argc, (void)argv;
#if SCENARIO == 1
    while ((c = getchar()) != EOF)
        sum = 2 * sum + (c == '!');
    return sum;
#elif SCENARIO == 2
    if (!fgets(line, sizeof line, stdin))
        return 9;
    sum = (int)strlen(line);
    return fgets(line, sizeof line, stdin) ? 4 + sum : sum;
#elif SCENARIO == 3
    ssize_t n = getline(&text, &room, stdin);
    sum = n > 0 && text[n - 1] == '\n' ? (int)n : 7;
    free(text);
    return sum;
#elif SCENARIO == 4
    if (fread(line, 1, 3, stdin) != 3 || getc(stdin) != EOF)
        return 9;
    return memcmp(line, "abc", 3) == 0 ? 3 : atoi(line) == 12 ? 12 : 0;
#elif SCENARIO == 5
    if (read(0, line, 1) != 1 || read(0, line + 1, 5) != 2)
        return 9;
    return strcmp(line, "in\n") == 0;
#elif SCENARIO == 6
    return strcmp(argv[1], "-v") == 0 ? 1 : argv[1][0] == '-' ? 2 : argv[1][0] == 0 ? 3 : 0;
#elif SCENARIO == 7
    text = getenv("RADDLE_TEST_LEVEL");
    return !text ? 9 : text[0] >= '0' && text[0] <= '3' ? text[0] - '0' : 4;
#elif SCENARIO == 8
    FILE *file = fopen(argv[1], "r");
    sum = file && getc(file) == 'P' && getc(file) == '6' ? 1 : 0;
    if (file)
        fclose(file);
    return sum;
#elif SCENARIO == 9
    int file = open(argv[1], O_RDONLY);
    sum = read(file, line, sizeof line) == 2 && line[1] == 'x';
    close(file);
    return sum;
#elif SCENARIO == 10
    /* Not followed, and said so. */
    float number;
    return scanf("%f", &number) == 77;
#elif SCENARIO == 11
    return klee_range(-2, 3, "v") + 2;
#elif SCENARIO == 12
    sum = klee_int("n") == -5;
    return 4 * sum + 2 * (__VERIFIER_nondet_ulonglong() == 0x123456789aULL) +
           (__VERIFIER_nondet_u16() == 0xffff);
#elif SCENARIO == 13
    /* Two more arguments follow: -b 7. */
    while ((c = getopt(argc, argv, "ab:")) != -1)
        switch (c) {
        case 'a':
            sum |= 1;
            break;
        case 'b':
            sum |= optarg[0] == '7' ? 2 : 4;
            break;
        default:
            return 8 + (optopt == 'z');
        }
    return sum | (optind < argc ? 16 : 0);
#elif SCENARIO == 14
    const struct option names[] = {{"al", 0, &sum, 1}, {"at", 2, &sum, 2}, {"si", 1, NULL, 3}, {0}};
    int index = -1;
    c = getopt_long(argc, argv, "", names, &index);
    if (c == '?' || c < 0)
        return c < 0 ? 22 : optopt == 3 ? 20 : 21;
    sum += c;
    if (sum != index + 1 || (c != 0) != (sum == 3))
        return 30;
    return 4 * sum + (optarg ? 1 + (optarg[0] == '7') : 0);
#elif SCENARIO == 15
    int count = 0, number;
    while (scanf("%d", &number) == 1) {
        count++;
        sum += number;
    }
    return count == 2 && sum == 12 ? 1 : sum == 345 ? 2 : feof(stdin) ? 3 : 4;
#elif SCENARIO == 16
    /* What does not match is left to others. */
    FILE *file = fopen(argv[1], "r");
    sum = fscanf(file, "%1[a-c]", line);
    c = getc(file);
    fclose(file);
    return sum == 1 ? (line[0] == 'b') + 2 * (c == '!') : c == 'x' ? 4 : 5;
#elif SCENARIO == 17
    c = getchar();
    if (ungetc(c, stdin) != c || getchar() != c)
        return 9;
    if (c == '7')
        return ungetc('7', stdin) == '7' && getchar() == '7' ? 1 : 9;
    return getchar() == 'z' ? 2 : 3;
#elif SCENARIO == 18
    /* Another one than was read: not followed, and said so. */
    getchar();
    ungetc('q', stdin);
    return getchar() != 'q';
#elif SCENARIO == 19
    /* Sizes that the compiler does not know: fortified, these are functions of their own. */
    volatile size_t size = 4;
    if (read(0, line, size - 3) != 1)
        return 9;
    sum = line[0] == 'a';
    if (fread(line, 1, size - 3, stdin) != 1)
        return 9;
    sum += 2 * (line[0] == 'b');
    return fgets(line, (int)size, stdin) ? sum + 4 * (line[0] == 'c') : 9;
#endif
}
