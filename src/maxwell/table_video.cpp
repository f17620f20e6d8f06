// Video: arithmetic on bytes and halves.
// form.h and docs/isa.md explain the notation.
#include "maxwell/form.h"

namespace heaviside::maxwell {
namespace {

// clang-format off
constexpr Row rows[] = {
    {Opcode::VADD,
     "0010 00nn SUvv v1ge Cccc cccc ceee ---- -ggg bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.ud U}{[}{.va e}{.vb g}{]}{.po n}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a -n=2 .vpart e}, {B:R b -n=1"
     " .vpart g}, {C:R c}"},
    {Opcode::VADD,
     "0010 00nn SUvv v0ge Cccc cccc ceee iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.ud U}{[}{.va e}{.vbi g}{]}{.po n}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a -n=2 .vpart e}, {B:IN i -n=1},"
     " {C:R c}"},
    {Opcode::VABSDIFF,
     "0101 0100 SUvv v1ge Cccc cccc ceee ---- -ggg bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.sd U}{[}{.va e}{.vb g}{]}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:R b .vpart g}, {C:R c}"},
    {Opcode::VABSDIFF,
     "0101 0100 SUvv v0ge Cccc cccc ceee iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.sd U}{[}{.va e}{.vbi g}{]}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:IS i g}, {C:R c}"},
    {Opcode::VMNMX,
     "0011 101X SUvv v1ge Cccc cccc ceee ---- -ggg bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.ud U}{[}{.va e}{.vb g}{]}{.mx X}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:R b .vpart g}, {C:R c}"},
    {Opcode::VMNMX,
     "0011 101X SUvv v0ge Cccc cccc ceee iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.ud U}{[}{.va e}{.vbi g}{]}{.mx X}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:IS i g}, {C:R c}"},
    {Opcode::VSET,
     "0100 000M MMvv v1ge Cccc cccc ceee ---- -ggg bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.vcmp M}{[}{.va e}{.vb g}{]}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:R b .vpart g}, {C:R c}"},
    {Opcode::VSET,
     "0100 000M MMvv v0ge Cccc cccc ceee iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.vcmp M}{[}{.va e}{.vbi g}{]}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:IS i g}, {C:R c}"},
    {Opcode::VSETP,
     "0101 0000 1111 01ge MLLM Mutt teee ---- -ggg bbbb bbbb pppp aaaa aaaa --qq qwww",
     "{.vcmp M}{[}{.va e}{.vb g}{]}{.bool L} {P:P q}, {Q:P w}, {A:R a .vpart e}, {B:R b .vpart g}, {S:P t !u}"},
    {Opcode::VSETP,
     "0101 0000 1111 00ge MLLM Mutt teee iiii iiii iiii iiii pppp aaaa aaaa --qq qwww",
     "{.vcmp M}{[}{.va e}{.vbi g}{]}{.bool L} {P:P q}, {Q:P w}, {A:R a .vpart e}, {B:IS i g}, {S:P t !u}"},
    {Opcode::VMAD,
     "0101 1111 Snnh h1ge Cccc cccc ceee ---- -ggg bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{[}{.va e}{.vb g}{]}{.po n}{.shr h}{.sat S} {D:R d}{.cc C}, {A:R a -n=2 .vpart e}, {B:R b .vpart g}, {C:R c"
     " -n=1}"},
    {Opcode::VMAD,
     "0101 1111 Snnh h0ge Cccc cccc ceee iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{[}{.va e}{.vbi g}{]}{.po n}{.shr h}{.sat S} {D:R d}{.cc C}, {A:R a -n=2 .vpart e}, {B:I i}, {C:R c -n=1}"},
    {Opcode::VSHR,
     "0101 0110 SUvv v1We Cccc cccc ceee ---- -ggg bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.ud U}{[}{.va e}{.vbs g}{]}{.w W}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:R b .vpart g}, {C:R c}"},
    {Opcode::VSHR,
     "0101 0110 SUvv v0We Cccc cccc ceee iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.ud U}{[}{.va e}.U16{]}{.w W}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:I i}, {C:R c}"},
    {Opcode::VSHL,
     "0101 0111 SUvv v1We Cccc cccc ceee ---- -ggg bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.ud U}{[}{.va e}{.vbs g}{]}{.w W}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:R b .vpart g}, {C:R c}"},
    {Opcode::VSHL,
     "0101 0111 SUvv v0We Cccc cccc ceee iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.ud U}{[}{.va e}.U16{]}{.w W}{.sat S}{.vop v} {D:R d}{.cc C}, {A:R a .vpart e}, {B:I i}, {C:R c}"},
    {Opcode::VABSDIFF4,
     "0101 0000 00Am mSgs Cccc cccc cUmm eeee hhhh bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.sd U}{[}{.va4 s}{.vb4 g}{]}{.sat S}{.acc A}{.vmask m} {D:R d}{.cc C}, {A:R a .vsela e}, {B:R b ^15:h"
     " .vselb h}, {C:R c}"},
    {Opcode::VABSDIFF4,
     "0101 0000 00Am mSgs Cccc cccc cUmm eeee 1111 iiii iiii pppp aaaa aaaa dddd dddd",
     "{.sd U}{[}{.va4 s}{.vb4 g}{]}{.sat S}{.acc A}{.vmask m} {D:R d}{.cc C}, {A:R a .vsela e}, {B:IS i g}, {C:R c}"},
};
// clang-format on

} // namespace

std::span<const Row> video_rows() {
    return rows;
}

} // namespace heaviside::maxwell
