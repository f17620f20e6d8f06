// Errors are values: every fallible function of the house returns Result<T>.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace heaviside {

// One error, complete enough to print: what is wrong and where.
struct Error {
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

// `return fail("texture {}: width {} exceeds {}", id, width, limit);` converts to any Result<T>.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
    return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

} // namespace heaviside
