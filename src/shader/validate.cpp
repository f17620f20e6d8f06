#include "shader/validate.h"

#include <spirv-tools/libspirv.h>

#include <memory>

namespace heaviside::shader {

namespace {

struct Context {
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
    spv_diagnostic diagnostic = nullptr;
    Context() = default;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() {
        spvDiagnosticDestroy(diagnostic);
        spvContextDestroy(context);
    }
};

} // namespace

Result<void> validate_spirv(std::span<const u32> words) {
    Context c;
    spv_const_binary_t binary{words.data(), words.size()};
    if (spvValidate(c.context, &binary, &c.diagnostic) == SPV_SUCCESS)
        return {};
    if (c.diagnostic == nullptr)
        return fail("spirv-val: invalid module");
    return fail("spirv-val: word {}: {}", c.diagnostic->position.index, c.diagnostic->error);
}

Result<std::string> disassemble_spirv(std::span<const u32> words) {
    Context c;
    spv_text text = nullptr;
    if (spvBinaryToText(c.context, words.data(), words.size(), SPV_BINARY_TO_TEXT_OPTION_INDENT, &text,
                        &c.diagnostic) != SPV_SUCCESS)
        return fail("spirv-dis: {}", c.diagnostic != nullptr ? c.diagnostic->error : "invalid module");
    std::string result(text->str, text->length);
    spvTextDestroy(text);
    return result;
}

} // namespace heaviside::shader
