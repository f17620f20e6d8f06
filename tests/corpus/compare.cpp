#include "tests/corpus/compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace corpus {
namespace {

template <class Value>
Value element_at(const Blob& blob, std::size_t index) {
    Value value;
    std::memcpy(&value, blob.data() + index * sizeof value, sizeof value);
    return value;
}

double value_at(const Blob& blob, const Format& format, std::size_t index) {
    using Kind = Format::Kind;
    switch (format.component_bytes) {
    case 1:
        return format.kind == Kind::Unorm ? element_at<std::uint8_t>(blob, index) / 255.0
                                          : element_at<std::uint8_t>(blob, index);
    case 2:
        return element_at<std::uint16_t>(blob, index);
    case 8:
        return element_at<double>(blob, index);
    default:
        break;
    }
    if (format.kind == Kind::Float)
        return static_cast<double>(element_at<float>(blob, index));
    return format.kind == Kind::Uint ? element_at<std::uint32_t>(blob, index) : element_at<std::int32_t>(blob, index);
}

bool close(double result, double reference, const Format& format, const Tolerance& tolerance) {
    if (format.kind == Format::Kind::Uint || format.kind == Format::Kind::Int)
        return result == reference;
    if (std::isnan(result) || std::isnan(reference))
        return std::isnan(result) && std::isnan(reference);
    if (result == reference) // infinities, whose difference is not a number
        return true;
    return std::abs(result - reference) <= tolerance.abs + tolerance.rel * std::abs(reference);
}

} // namespace

std::string difference(const Output& output, const Blob& result, const Tolerance& tolerance) {
    if (result.size() != output.reference.size())
        return output.name + ": " + std::to_string(result.size()) + " bytes instead of " +
               std::to_string(output.reference.size());
    const std::size_t count = result.size() / output.element.component_bytes;
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (close(value_at(result, output.element, i), value_at(output.reference, output.element, i), output.element,
                  tolerance))
            continue;
        if (wrong++ == 0)
            first = i;
    }
    if (static_cast<double>(wrong) <= tolerance.outliers * static_cast<double>(count))
        return "";
    char text[256];
    std::snprintf(text, sizeof text, "%s: %zu of %zu elements differ, first %zu: %.9g instead of %.9g",
                  output.name.c_str(), wrong, count, first, value_at(result, output.element, first),
                  value_at(output.reference, output.element, first));
    return text;
}

} // namespace corpus
