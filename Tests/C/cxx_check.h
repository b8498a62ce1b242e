/* Counts the checks of a test program in C++, and prints those that fail. */
#ifndef CXX_CHECK_H
#define CXX_CHECK_H

#include <iostream>

static int passed, failed;

static inline void Check(bool holds, const char *what, const char *file, int line) {
    if (holds) {
        ++passed;
        return;
    }
    ++failed;
    std::cerr << file << ":" << line << ": " << what << "\n";
}
#define CHECK(condition) Check((condition), #condition, __FILE__, __LINE__)

/* Also prints the error of a status of the C++ classes, if it is not the expected one. */
template <typename Status, typename Code>
void CheckStatus(const Status &status, Code expected, const char *what, const char *file, int line) {
    Check(status == expected, what, file, line);
    if (status != expected)
        std::cerr << "    " << status.GetStatusCodeString() << ": " << status.GetErrorMessage() << "\n";
}
#define STATUS(call, expected) CheckStatus((call), (expected), #call, __FILE__, __LINE__)
#define OK(call) STATUS(call, Status::OK)

#endif
