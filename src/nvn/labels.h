// The names that applications give their objects, for messages about them. An object's bytes have no room for one, so a
// name belongs to an address: it tells what an object was, also when it is over.
#pragma once

#include "nvn/objects.h"

#include <mutex>
#include <string>
#include <unordered_map>

namespace heaviside::nvn {

// Any thread.
class Labels {
public:
    static constexpr std::size_t limit = 4096;               // further objects stay nameless
    void set(const void* object, const char* label);         // null or empty: no name
    [[nodiscard]] std::string get(const void* object) const; // empty: none

private:
    mutable std::mutex mutex_;
    std::unordered_map<const void*, std::string> labels_;
};

[[nodiscard]] Labels& labels();

// What the SetDebugLabel calls do.
template <class Object>
void set_label(Object* object, const char* label, const char* call) {
    if (as_valid(object, call))
        labels().set(object, label);
}

} // namespace heaviside::nvn
