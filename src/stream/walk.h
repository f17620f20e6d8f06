// Reading a stream of records that nobody vouches for.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "stream/records.h"

namespace heaviside::stream {

// One record in place. Valid as long as the bytes it was read from.
class Record {
public:
    explicit Record(const std::byte* bytes) : bytes_(bytes) {}
    [[nodiscard]] RecordType type() const { return as<Header>().type; }
    [[nodiscard]] u32 word_count() const { return as<Header>().words; }
    [[nodiscard]] Bytes bytes() const { return {bytes_, std::size_t{word_count()} * 4}; }
    // The struct; the caller has looked at type().
    template <class T>
    [[nodiscard]] const T& as() const {
        return *reinterpret_cast<const T*>(bytes_);
    }
    // What follows the struct T: the elements of an Array record. Sized by the record, so it cannot leave it.
    template <class T, class Element>
    [[nodiscard]] std::span<const Element> tail() const {
        static_assert(alignof(Element) <= 4);
        return {reinterpret_cast<const Element*>(bytes_ + sizeof(T)),
                (std::size_t{word_count()} * 4 - sizeof(T)) / sizeof(Element)};
    }

private:
    const std::byte* bytes_;
};

// The record that begins at `bytes` (4-byte aligned) if a valid one lies wholly inside: a known type, the words its
// type and its own counts say, every count within its limit. Enum values inside are not checked: readers treat them as
// data. The error says what is wrong. Any thread.
[[nodiscard]] Result<Record> record_at(Bytes bytes);
// The bytes that the record at `bytes` takes if its header is sound (known type, a size that fits type and bytes),
// whatever its counts say: where the next record begins. 0: no header.
[[nodiscard]] u64 record_size_at(Bytes bytes);

// Calls visit(Record) for each record; stops at the first that is not valid and returns its error, with its offset.
template <class Visit>
[[nodiscard]] Result<void> for_each_record(Bytes stream, Visit&& visit) {
    u64 offset = 0;
    while (offset < stream.size()) {
        const auto record = record_at(stream.subspan(offset));
        if (!record)
            return fail("at byte {} of {}: {}", offset, stream.size(), record.error().message);
        visit(*record);
        offset += record->bytes().size();
    }
    return {};
}

} // namespace heaviside::stream
