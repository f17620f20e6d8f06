#include "nvn/labels.h"

namespace heaviside::nvn {

void Labels::set(const void* object, const char* label) {
    const std::lock_guard lock(mutex_);
    if (!label || !label[0])
        labels_.erase(object);
    else if (labels_.size() < limit || labels_.contains(object))
        labels_.insert_or_assign(object, label);
}

std::string Labels::get(const void* object) const {
    const std::lock_guard lock(mutex_);
    const auto found = labels_.find(object);
    return found == labels_.end() ? std::string() : found->second;
}

Labels& labels() {
    static Labels* const instance = new Labels; // as host()
    return *instance;
}

} // namespace heaviside::nvn
