// Reads of standard input that are not followed; the last one is, and what a string does with it.
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
    char first = std::getc(stdin), second = std::getc(stdin);
    std::string line(LENGTH, 'x');
    line[0] = first;
    line.insert(1, 1, second);
    line += "and more of it, so that it grows";
    std::string copy = line;
    if (copy.find("ab") == 0)
        return 1;
    return copy < "7" && line.substr(1, 1) == "8" ? 2 : 0;
#endif
}
