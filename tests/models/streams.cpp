// Reads that are not followed: of standard input, and of a text that an object points to.
#include <cstdio>
#include <iostream>
#include <string>

int main()
{
#if SCENARIO == 1
    try {
        return std::getchar() == 300;
    } catch (int) {
        return 2;
    }
#elif SCENARIO == 2
    int number = 0;
    std::cin >> number;
    return number == 77;
#elif SCENARIO == 3
    std::string line;
    std::getline(std::cin, line);
    return line == "ab";
#elif SCENARIO == 4
    std::string line(LENGTH, 'x');
    line[0] = std::getc(stdin);
    return line.find("ab") == 0;
#endif
}
