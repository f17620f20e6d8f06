// The table itself: every row compiles, no word has two readings, and text and word are two forms of one thing.
#include "maxwell/assembler.h"
#include "maxwell/form.h"
#include "tests/maxwell/generated_words.h"

#include <gtest/gtest.h>

#include <set>

namespace heaviside::maxwell {
namespace {

// The row does not apply where `other` has the value that the row leaves to it.
bool leaves_to(const Form& row, const Form& other) {
    const u64 mask = row.excluded_field.mask();
    return row.excluded_field.present() && (other.mask & mask) == mask &&
           row.excluded_field.get(other.value) == row.excluded_value;
}

TEST(Table, CompilesWithoutFaults) {
    for (const std::string& fault : Table::get().faults())
        ADD_FAILURE() << fault;
}

TEST(Table, HasEveryMnemonic) {
    std::set<Opcode> opcodes;
    for (const Form& form : Table::get().forms())
        opcodes.insert(form.opcode);
    EXPECT_EQ(opcodes.size(), opcode_count);
    EXPECT_EQ(mnemonic(Opcode::XMAD), "XMAD");
    EXPECT_EQ(mnemonic(Opcode::AL2P), "AL2P");
}

TEST(Table, NoWordMatchesTwoRows) {
    const auto forms = Table::get().forms();
    for (std::size_t a = 0; a < forms.size(); ++a) {
        for (std::size_t b = a + 1; b < forms.size(); ++b) {
            const bool distinct = ((forms[a].value ^ forms[b].value) & forms[a].mask & forms[b].mask) != 0;
            EXPECT_TRUE(distinct || leaves_to(forms[a], forms[b]) || leaves_to(forms[b], forms[a]))
                << forms[a].row->bits << '\n'
                << forms[b].row->bits;
        }
    }
}

TEST(Table, EveryRowHasWordsAndEveryWordRoundTrips) {
    std::mt19937_64 random(20240607);
    for (const Form& form : Table::get().forms()) {
        for (int i = 0; i < 200; ++i) {
            const auto word = random_word(form, random);
            ASSERT_TRUE(word) << form.row->bits << ' ' << form.row->text;
            const std::string text = disassemble(*decode(*word));
            const auto encoded = encode(text);
            ASSERT_TRUE(encoded) << text << '\n' << encoded.error().message << " at " << encoded.error().column;
            const auto again = decode(encoded->word);
            ASSERT_TRUE(again) << text;
            ASSERT_EQ(disassemble(*again), text) << std::hex << *word << ' ' << encoded->word;
            // Whatever the row uses is in the text, but for values that print alike.
            ASSERT_EQ(again->opcode(), form.opcode);
        }
    }
}

TEST(Table, WordsReadTheSameUnderEveryIgnoredBit) {
    std::mt19937_64 random(7);
    for (const Form& form : Table::get().forms()) {
        const auto word = random_word(form, random);
        ASSERT_TRUE(word);
        u64 used = form.mask | form.guard.mask();
        for (unsigned i = 0; i < form.modifier_use_count; ++i)
            used |= form.modifier_uses[i].field.mask();
        for (unsigned i = 0; i < form.operand_count; ++i) {
            const OperandSpec& spec = form.operands[i];
            for (const Field& field : spec.fields)
                used |= field.mask();
            used |= spec.negate.field.mask() | spec.absolute.field.mask() | spec.invert.field.mask();
        }
        const auto flipped = decode(*word ^ (random() & ~used));
        ASSERT_TRUE(flipped) << form.row->bits;
        EXPECT_EQ(disassemble(*flipped), disassemble(*decode(*word))) << form.row->bits;
    }
}

} // namespace
} // namespace heaviside::maxwell
