#include "nvn/program_table.h"

namespace heaviside::nvn {

std::shared_ptr<const ProgramContents> ProgramTable::acquire(ProgramContents contents, bool* created) {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_hash_.find(contents.hash); known != by_hash_.end()) {
        Entry& entry = entries_.at(known->second);
        ++entry.references;
        *created = false;
        return entry.contents;
    }
    contents.id = next_id_++;
    auto shared = std::make_shared<const ProgramContents>(std::move(contents));
    entries_.emplace(shared->id, Entry{shared, 1});
    by_hash_.emplace(shared->hash, shared->id);
    *created = true;
    return shared;
}

bool ProgramTable::release(stream::ProgramId id) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || --found->second.references > 0)
        return false;
    by_hash_.erase(found->second.contents->hash);
    entries_.erase(found);
    return true;
}

std::shared_ptr<const ProgramContents> ProgramTable::find(stream::ProgramId id) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : found->second.contents;
}

std::size_t ProgramTable::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

} // namespace heaviside::nvn
