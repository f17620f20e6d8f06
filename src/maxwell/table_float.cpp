// Single precision arithmetic and comparison.
// form.h and docs/isa.md explain the notation.
#include "maxwell/form.h"

namespace heaviside::maxwell {
namespace {

// clang-format off
constexpr Row rows[] = {
    // Addition and multiplication
    {Opcode::FADD,
     "0101 1100 0101 1Syn Cxmf ---r r--- ---- ---- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.ftz f}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a -n |x}, {B:R b -m |y}"},
    {Opcode::FADD,
     "0100 1100 0101 1Syn Cxmf ---r rkkk kkoo oooo oooo oooo pppp aaaa aaaa dddd dddd",
     "{.ftz f}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a -n |x}, {B:C k o -m |y}"},
    {Opcode::FADD,
     "0011 100i 0101 1Syn Cxmf ---r riii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.ftz f}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a -n |x}, {B:F i -m |y}"},
    {Opcode::FADD32I,
     "0000 10yn fxmC iiii iiii iiii iiii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.ftz f} {D:R d}{.cc C}, {A:R a -n |x}, {B:F i -m |y}"},
    {Opcode::FMUL,
     "0101 1100 0110 1S-m C-ff sssr r--- ---- ---- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.scale s}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a}, {B:R b -m}"},
    {Opcode::FMUL,
     "0100 1100 0110 1S-m C-ff sssr rkkk kkoo oooo oooo oooo pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.scale s}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a}, {B:C k o -m}"},
    {Opcode::FMUL,
     "0011 100i 0110 1S-m C-ff sssr riii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.scale s}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a}, {B:F i -m}"},
    {Opcode::FMUL32I,
     "0001 1110 SffC iiii iiii iiii iiii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.sat S} {D:R d}{.cc C}, {A:R a}, {B:F i}"},
    {Opcode::FFMA,
     "0101 1001 1ffr rSlm Cccc cccc c--- ---- ---- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a}, {B:R b -m}, {C:R c -l}"},
    {Opcode::FFMA,
     "0100 1001 1ffr rSlm Cccc cccc ckkk kkoo oooo oooo oooo pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a}, {B:C k o -m}, {C:R c -l}"},
    {Opcode::FFMA,
     "0101 0001 1ffr rSlm Cbbb bbbb bkkk kkoo oooo oooo oooo pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a}, {B:R b -m}, {C:C k o -l}"},
    {Opcode::FFMA,
     "0011 001i 1ffr rSlm Cccc cccc ciii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a}, {B:F i -m}, {C:R c -l}"},
    {Opcode::FFMA32I,
     "0000 11ln SffC iiii iiii iiii iiii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.fmz f}{.sat S} {D:R d}{.cc C}, {A:R a -n}, {B:F i}, {C:R d -l}"},
    {Opcode::FSWZADD,
     "0101 0000 1111 1--- C--f ---r rN-- ssss ssss bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.ftz f}{.rnd r}{.ndv N} {D:R d}{.cc C}, {A:R a}, {B:R b}, {I:SWZ s}"},

    // Minimum, comparison, selection
    {Opcode::FMNMX,
     "0101 1100 0110 0-yn Cxmf -utt t--- ---- ---- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.ftz f} {D:R d}{.cc C}, {A:R a -n |x}, {B:R b -m |y}, {S:P t !u}"},
    {Opcode::FMNMX,
     "0100 1100 0110 0-yn Cxmf -utt tkkk kkoo oooo oooo oooo pppp aaaa aaaa dddd dddd",
     "{.ftz f} {D:R d}{.cc C}, {A:R a -n |x}, {B:C k o -m |y}, {S:P t !u}"},
    {Opcode::FMNMX,
     "0011 100i 0110 0-yn Cxmf -utt tiii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.ftz f} {D:R d}{.cc C}, {A:R a -n |x}, {B:F i -m |y}, {S:P t !u}"},
    {Opcode::FSET,
     "0101 1000 fxmB MMMM CLLy nutt t--- ---- ---- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.bf B}{.fcmp M}{.ftz f}{.bool L} {D:R d}{.cc C}, {A:R a -n |x}, {B:R b -m |y}, {S:P t !u}"},
    {Opcode::FSET,
     "0100 1000 fxmB MMMM CLLy nutt tkkk kkoo oooo oooo oooo pppp aaaa aaaa dddd dddd",
     "{.bf B}{.fcmp M}{.ftz f}{.bool L} {D:R d}{.cc C}, {A:R a -n |x}, {B:C k o -m |y}, {S:P t !u}"},
    {Opcode::FSET,
     "0011 000i fxmB MMMM CLLy nutt tiii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.bf B}{.fcmp M}{.ftz f}{.bool L} {D:R d}{.cc C}, {A:R a -n |x}, {B:F i -m |y}, {S:P t !u}"},
    {Opcode::FSETP,
     "0101 1011 1011 MMMM fLLy nutt t--- ---- ---- bbbb bbbb pppp aaaa aaaa xmqq qwww",
     "{.fcmp M}{.ftz f}{.bool L} {P:P q}, {Q:P w}, {A:R a -n |x}, {B:R b -m |y}, {S:P t !u}"},
    {Opcode::FSETP,
     "0100 1011 1011 MMMM fLLy nutt tkkk kkoo oooo oooo oooo pppp aaaa aaaa xmqq qwww",
     "{.fcmp M}{.ftz f}{.bool L} {P:P q}, {Q:P w}, {A:R a -n |x}, {B:C k o -m |y}, {S:P t !u}"},
    {Opcode::FSETP,
     "0011 011i 1011 MMMM fLLy nutt tiii iiii iiii iiii iiii pppp aaaa aaaa xmqq qwww",
     "{.fcmp M}{.ftz f}{.bool L} {P:P q}, {Q:P w}, {A:R a -n |x}, {B:F i -m |y}, {S:P t !u}"},
    {Opcode::FCMP,
     "0101 1011 1010 MMMM fccc cccc c--- ---- ---- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.fcmpgt M}{.ftz f} {D:R d}, {A:R a}, {B:R b}, {C:R c}"},
    {Opcode::FCMP,
     "0100 1011 1010 MMMM fccc cccc ckkk kkoo oooo oooo oooo pppp aaaa aaaa dddd dddd",
     "{.fcmpgt M}{.ftz f} {D:R d}, {A:R a}, {B:C k o}, {C:R c}"},
    {Opcode::FCMP,
     "0101 0011 1010 MMMM fbbb bbbb bkkk kkoo oooo oooo oooo pppp aaaa aaaa dddd dddd",
     "{.fcmpgt M}{.ftz f} {D:R d}, {A:R a}, {B:R b}, {C:C k o}"},
    {Opcode::FCMP,
     "0011 011i 1010 MMMM fccc cccc ciii iiii iiii iiii iiii pppp aaaa aaaa dddd dddd",
     "{.fcmpgt M}{.ftz f} {D:R d}, {A:R a}, {B:F i}, {C:R c}"},
    {Opcode::FCHK,
     "0101 1100 1000 1-yn -xm0 0000 0--- ---- ---- bbbb bbbb pppp aaaa aaaa --qq q---",
     ".DIVIDE {P:P q}, {A:R a -n |x}, {B:R b -m |y}"},
    {Opcode::FCHK,
     "0100 1100 1000 1-yn -xm0 0000 0kkk kkoo oooo oooo oooo pppp aaaa aaaa --qq q---",
     ".DIVIDE {P:P q}, {A:R a -n |x}, {B:C k o -m |y}"},
    {Opcode::FCHK,
     "0011 100i 1000 1-yn -xm0 0000 0iii iiii iiii iiii iiii pppp aaaa aaaa --qq q---",
     ".DIVIDE {P:P q}, {A:R a -n |x}, {B:F i -m |y}"},

    // Special functions
    {Opcode::MUFU,
     "0101 0000 1000 0S-n -x-- ---- ---- ---- ---- ---- mmmm pppp aaaa aaaa dddd dddd",
     "{.mufu m}{.sat S} {D:R d}, {A:R a -n |x}"},
    {Opcode::RRO,
     "0101 1100 1001 0-y- --m- ---- s--- ---- ---- bbbb bbbb pppp ---- ---- dddd dddd",
     "{.rro s} {D:R d}, {B:R b -m |y}"},
    {Opcode::RRO,
     "0100 1100 1001 0-y- --m- ---- skkk kkoo oooo oooo oooo pppp ---- ---- dddd dddd",
     "{.rro s} {D:R d}, {B:C k o -m |y}"},
    {Opcode::RRO,
     "0011 100i 1001 0-y- --m- ---- siii iiii iiii iiii iiii pppp ---- ---- dddd dddd",
     "{.rro s} {D:R d}, {B:F i -m |y}"},

    // Interpolation
    {Opcode::IPA,
     "1110 0000 iiee Sutt tccc cccc c0oo oooo oooo bbbb bbbb pppp 1111 1111 dddd dddd",
     "{.ipa i}{.ipasample e}{.sat S} {D:R d}, {A:AC o}, {B:R b}{C:R c ?255 <}{S:P t !u ?7 <}"},
    {Opcode::IPA,
     "1110 0000 iiee Sutt tccc cccc c1-- ---- ---- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.idx 1}{.ipa i}{.ipasample e}{.sat S} {D:R d}, {A:AX a}, {B:R b}{C:R c ?255 <}, {S:P t !u}"},
};
// clang-format on

} // namespace

std::span<const Row> float_rows() {
    return rows;
}

} // namespace heaviside::maxwell
