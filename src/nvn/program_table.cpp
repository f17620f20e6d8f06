#include "nvn/program_table.h"

namespace heaviside::nvn {

ProgramTable::Acquired ProgramTable::acquire(ProgramContents contents) {
    const std::lock_guard lock(mutex_);
    const auto [known, created] = by_hash_.try_emplace(contents.hash, next_id_);
    if (created) {
        contents.id = next_id_++;
        auto shared = std::make_shared<const ProgramContents>(std::move(contents));
        entries_.emplace(known->second, Entry{std::move(shared)});
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
    const auto known = found->second.known;
    if (known == Entry::Known::Shared)
        by_hash_.erase(found->second.contents->hash);
    entries_.erase(found);
    if (known != Entry::Known::Late)
        return id;
    late_count_.fetch_sub(1, std::memory_order_release);
    return 0; // nobody has heard of it
}

ProgramTable::Acquired ProgramTable::acquire_late(ProgramContents contents) {
    const std::lock_guard lock(mutex_);
    contents.id = next_id_++;
    const stream::ProgramId id = contents.id;
    auto shared = std::make_shared<const ProgramContents>(std::move(contents));
    entries_.emplace(id, Entry{shared, 1, Entry::Known::Late});
    late_count_.fetch_add(1, std::memory_order_release);
    const u64 reference = next_reference_++;
    references_.emplace(reference, id);
    return {std::move(shared), reference, false};
}

std::vector<stream::ProgramId> ProgramTable::late() const {
    const std::lock_guard lock(mutex_);
    std::vector<stream::ProgramId> ids;
    for (const auto& [id, entry] : entries_)
        if (entry.known == Entry::Known::Late)
            ids.push_back(id);
    return ids;
}

std::shared_ptr<const ProgramContents> ProgramTable::complete_late(stream::ProgramId id,
                                                                   std::optional<ProgramContents> contents) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.known != Entry::Known::Late || !contents)
        return nullptr;
    found->second.contents = std::make_shared<const ProgramContents>(std::move(*contents));
    found->second.known = Entry::Known::Own;
    late_count_.fetch_sub(1, std::memory_order_release);
    return found->second.contents;
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
