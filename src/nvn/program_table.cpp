#include "nvn/program_table.h"

namespace heaviside::nvn {

ProgramTable::Acquired ProgramTable::acquire(ProgramContents contents) {
    const std::lock_guard lock(mutex_);
    const auto [known, created] = by_hash_.try_emplace(contents.hash, next_id_);
    if (created) {
        contents.id = next_id_++;
        auto shared = std::make_shared<const ProgramContents>(std::move(contents));
        entries_.emplace(known->second, Entry{std::move(shared), 0});
    }
    Entry& entry = entries_.at(known->second);
    ++entry.references;
    const u64 reference = next_reference_++;
    references_.emplace(reference, known->second);
    return {entry.contents, reference, created};
}

stream::ProgramId ProgramTable::release_locked(u64 reference) {
    const auto held = references_.find(reference);
    if (held == references_.end())
        return 0;
    const stream::ProgramId id = held->second;
    references_.erase(held);
    const auto found = entries_.find(id);
    if (--found->second.references > 0)
        return 0;
    by_hash_.erase(found->second.contents->hash);
    entries_.erase(found);
    return id;
}

stream::ProgramId ProgramTable::release(u64 reference) {
    const std::lock_guard lock(mutex_);
    return release_locked(reference);
}

stream::ProgramId ProgramTable::abandon(u64 reference) {
    const std::lock_guard lock(mutex_);
    abandoned_.push_back(reference);
    if (abandoned_.size() <= abandoned_limit)
        return 0;
    const u64 oldest = abandoned_.front();
    abandoned_.pop_front();
    return release_locked(oldest);
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
