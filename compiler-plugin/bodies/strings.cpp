// The functions of std::string and std::wstring. Up to C++17 libstdc++'s headers say that they lie in
// the library; the plugin adds those that a module refers to, so that they get hooks.

#include <string>

template class std::allocator<char>;
template class std::allocator<wchar_t>;
template class std::basic_string<char>;
template class std::basic_string<wchar_t>;
