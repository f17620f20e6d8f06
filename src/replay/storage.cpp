#include "replay/storage.h"

#include "base/hash.h"

#include <algorithm>

namespace heaviside::replay {

void announce(std::vector<GuestRange>& announced, GuestRange range) {
    constexpr std::size_t many = 16;
    if (announced.size() < many) {
        announced.push_back(range);
        return;
    }
    u64 from = range.address, to = range.address + range.size;
    for (const GuestRange& r : announced) {
        from = std::min(from, r.address);
        to = std::max(to, r.address + r.size);
    }
    announced.assign(1, {from, to - from});
}

std::size_t Storage::chunk_of(u64 address) const {
    return address / guest::page_size() - range_.address / guest::page_size();
}

GuestRange Storage::chunk(std::size_t index) const {
    const u64 page = guest::page_size(), end = range_.address + range_.size;
    const u64 first = (range_.address / page + index) * page;
    const u64 from = std::max(first, range_.address);
    return {from, std::min(first + page, end) - from};
}

template <class Visit>
void Storage::visit(GuestRange r, Visit&& visit) const {
    const u64 from = std::max(r.address, range_.address),
              to = std::min(r.address + r.size, range_.address + range_.size);
    if (from >= to)
        return;
    for (std::size_t i = chunk_of(from); i <= chunk_of(to - 1); ++i)
        visit(i);
}

void Storage::set_changed(std::size_t i) {
    changed_count_ += !changed_[i];
    changed_[i] = true;
}

void Storage::allocate() {
    const std::size_t chunks = range_.size ? chunk_of(range_.address + range_.size - 1) + 1 : 0;
    hashes_.assign(chunks, unknown);
    changed_.assign(chunks, false);
    changed_count_ = 0;
}

void Storage::look(guest::WriteTracker* tracker, Bytes bytes) {
    const bool first = !known();
    if (first)
        allocate();
    const GuestAddress start{range_.address};
    const u64 before = stamp_;
    if (tracker)
        stamp_ = tracker->arm(start, range_.size); // protected before it is read: a write in between shows next time
    quiet_ = tracker && !tracker->written_since(start, range_.size, stamp_);
    const auto compare = [&](std::size_t i) {
        const GuestRange c = chunk(i);
        if (first && quiet_ && c.size == guest::page_size()) { // all new, and not worth reading twice
            set_changed(i);
            return;
        }
        const u64 hash = hash_bytes(bytes.subspan(c.address - range_.address, c.size)).low | 1; // never unknown
        if (hash != hashes_[i] || first)
            set_changed(i);
        hashes_[i] = hash;
    };
    if (first || before == 0) {
        visit(range_, compare);
    } else {
        // Asked with the older stamp: whoever armed the pages meanwhile has not hidden what was written before.
        for (const guest::PageRange& p : tracker->pages_written_since(start, range_.size, before))
            visit({p.start.value, p.size}, compare);
        for (const GuestRange& s : suspects_)
            visit(s, compare);
    }
    suspects_.clear();
}

void Storage::accept(guest::WriteTracker* tracker, Bytes bytes) {
    if (!tracker) { // nothing but their content tells of writes
        look(nullptr, bytes);
        std::fill(changed_.begin(), changed_.end(), false);
        changed_count_ = 0;
        return;
    }
    const GuestAddress start{range_.address};
    stamp_ = tracker->arm(start, range_.size);
    allocate();
    suspects_.clear();
    quiet_ = true;
    const auto hash = [&](std::size_t i) {
        const GuestRange c = chunk(i);
        hashes_[i] = hash_bytes(bytes.subspan(c.address - range_.address, c.size)).low | 1;
    };
    // Of pages that neighbours share, theirs may be what is written next: only a comparison tells.
    for (const std::size_t i : {std::size_t{0}, hashes_.size() - 1})
        if (!hashes_.empty() && chunk(i).size != guest::page_size())
            hash(i);
    // Memory that nobody protects shows as written for ever: here too.
    for (const guest::PageRange& p : tracker->pages_written_since(start, range_.size, stamp_)) {
        quiet_ = false;
        visit({p.start.value, p.size}, hash);
    }
}

void Storage::force(GuestRange range) {
    if (known())
        visit(range, [this](std::size_t i) { set_changed(i); });
}

bool Storage::changed_in(GuestRange range) const {
    bool found = false;
    if (changed())
        visit(range, [&](std::size_t i) { found |= changed_[i]; });
    return found;
}

void Storage::stored(GuestRange range, Bytes bytes, bool tracked, bool image_has_it) {
    if (!known())
        return;
    visit(range, [&](std::size_t i) {
        const GuestRange c = chunk(i);
        // Of pages that are all the texture's, a write of the guest needs no comparison: it is one.
        const bool shared = c.size != guest::page_size();
        hashes_[i] =
            shared || !tracked ? hash_bytes(bytes.subspan(c.address - range_.address, c.size)).low | 1 : unknown;
        if (!image_has_it)
            set_changed(i);
    });
}

std::vector<GuestRange> Storage::take_changed() {
    std::vector<GuestRange> out;
    for (std::size_t i = 0; i < changed_.size() && changed_count_ != 0; ++i) {
        if (!changed_[i])
            continue;
        changed_[i] = false;
        --changed_count_;
        const GuestRange c = chunk(i);
        const u64 offset = c.address - range_.address;
        if (!out.empty() && out.back().address + out.back().size == offset)
            out.back().size += c.size;
        else
            out.push_back({offset, c.size});
    }
    return out;
}

} // namespace heaviside::replay
