// Textures and surfaces.
// form.h and docs/isa.md explain the notation.
#include "maxwell/form.h"

namespace heaviside::maxwell {
namespace {

// clang-format off
constexpr Row rows[] = {
    // Textures: any result mask
    {Opcode::TEX,
     "1100 0lmm moqq qzni iiii iiii iiii Nwww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.lod m}{.lc l}{.aoffi o}{.dc z}{.ndv N}{.nodep n} {P:P q ?7 >}{D:R d}, {A:R a}{B:R b ?255 <}, {I:I i},"
     " {.dim r}{.array r}, {I2:I w}"},
    {Opcode::TEX,
     "1101 1110 10qq qzn- ---- ---l mmmo Nwww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.bindless 1}{.lod m}{.lc l}{.aoffi o}{.dc z}{.ndv N}{.nodep n} {P:P q ?7 >}{D:R d}, {A:R a}{B:R b ?255 <},"
     " 0x0, {.dim r}{.array r}, {I2:I w}"},
    {Opcode::TLD,
     "1101 1100 mlqq qzni iiii iiii iiii owww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.tldlod m}{.aoffi o}{.ms z}{.cl l}{.nodep n} {P:P q ?7 >}{D:R d}, {A:R a}{B:R b ?255 <}, {I:I i}, {.dim"
     " r}{.array r}, {I2:I w}"},
    {Opcode::TLD,
     "1101 1101 mlqq qzn- ---- ---- ---- owww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.bindless 1}{.tldlod m}{.aoffi o}{.ms z}{.cl l}{.nodep n} {P:P q ?7 >}{D:R d}, {A:R a}{B:R b ?255 <}, 0x0,"
     " {.dim r}{.array r}, {I2:I w}"},
    {Opcode::TLD4,
     "1100 10gg ooqq qzni iiii iiii iiii Nwww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.gather g}{.offs o}{.dc z}{.ndv N}{.nodep n} {P:P q ?7 >}{D:R d}, {A:R a}{B:R b ?255 <}, {I:I i}, {.dim"
     " r}{.array r}, {I2:I w}"},
    {Opcode::TLD4,
     "1101 1110 11qq qzn- ---- ---g ggoo Nwww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.gather g}{.bindless 1}{.offs o}{.dc z}{.ndv N}{.nodep n} {P:P q ?7 >}{D:R d}, {A:R a}{B:R b ?255 <}, 0x0,"
     " {.dim r}{.array r}, {I2:I w}"},
    {Opcode::TXD,
     "1101 1110 00qq qlni iiii iiii iiii owww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.lc l}{.aoffi o}{.nodep n} {P:P q ?7 >}{D:R d}, {A:R a}, {B:R b}, {I:I i}, {.dim r}{.array r}, {I2:I w}"},
    {Opcode::TXD,
     "1101 1110 01qq qln- ---- ---- ---- owww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.bindless 1}{.lc l}{.aoffi o}{.nodep n} {P:P q ?7 >}{D:R d}, {A:R a}, {B:R b}, 0x0, {.dim r}{.array r},"
     " {I2:I w}"},
    {Opcode::TMML,
     "1101 1111 0101 1-ni iiii iiii iiii Nwww wrrr ++++ ++++ pppp aaaa aaaa dddd dddd",
     ".LOD{.ndv N}{.nodep n} {D:R d}, {A:R a}, {I:I i}, {.dim r}{.array r}, {I2:I w}"},
    {Opcode::TMML,
     "1101 1111 0110 0-n- ---- ---- ---- Nwww wrrr bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.bindless 1}.LOD{.ndv N}{.nodep n} {D:R d}, {A:R a}, {B:R b}, 0x0, {.dim r}{.array r}, {I2:I w}"},
    {Opcode::TXA,
     "1101 1111 0100 0-ni iiii iiii iiii Nwww w--- ---- ---- pppp aaaa aaaa dddd dddd",
     "{.ndv N}{.nodep n} {D:R d}, {A:R a}, {I:I i}, {I2:I w}"},
    {Opcode::TXQ,
     "1101 1111 0100 1-ni iiii iiii iiii -www w--- qqqq qq-- pppp aaaa aaaa dddd dddd",
     "{.nodep n} {D:R d}, {A:R a}, {.txq q}, {I:I i}, {I2:I w}"},
    {Opcode::TXQ,
     "1101 1111 0101 0-n- ---- ---- ---- -www w--- qqqq qq-- pppp aaaa aaaa dddd dddd",
     "{.bindless 1}{.nodep n} {D:R d}, {A:R a}, {.txq q}, 0x0, {I2:I w}"},

    // Textures: two result registers and the usual masks
    {Opcode::TEXS,
     "1101 F00t tttw wwni iiii iiii iiii 1111 1111 bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.f16 F}{.texslod t}{.texsdc t}{.nodep n} RZ, {D:R d}, {A:R a}{B:R b ?255 <}, {I:I i}, {.texsdim"
     " t}{.texsarray t}, {.mask1 w}"},
    {Opcode::TLDS,
     "1101 F01t tttw wwni iiii iiii iiii 1111 1111 bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.f16 F}{.tldslod t}{.tldsoffs t}{.tldsms t}{.nodep n} RZ, {D:R d}, {A:R a}{B:R b ?255 <}, {I:I i},"
     " {.tldsdim t}{.tldsarray t}, {.mask1 w}"},
    {Opcode::TLD4S,
     "1101 1111 F0gg ozni iiii iiii iiii 1111 1111 bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.f16s F}{.gather g}{.aoffi o}{.dc z}{.nodep n} RZ, {D:R d}, {A:R a}, {B:R b}, {I:I i}"},
    {Opcode::TEXS,
     "1101 F00t tttw wwni iiii iiii iiii eeee eeee bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.f16 F}{.texslod t}{.texsdc t}{.nodep n} {D2:R e ^255}, {D:R d}, {A:R a}{B:R b ?255 <}, {I:I i}, {.texsdim"
     " t}{.texsarray t}, {.mask2 w}"},
    {Opcode::TLDS,
     "1101 F01t tttw wwni iiii iiii iiii eeee eeee bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.f16 F}{.tldslod t}{.tldsoffs t}{.tldsms t}{.nodep n} {D2:R e ^255}, {D:R d}, {A:R a}{B:R b ?255 <}, {I:I"
     " i}, {.tldsdim t}{.tldsarray t}, {.mask2 w}"},
    {Opcode::TLD4S,
     "1101 1111 F0gg ozni iiii iiii iiii eeee eeee bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.f16s F}{.gather g}{.aoffi o}{.dc z}{.nodep n} {D2:R e ^255}, {D:R d}, {A:R a}, {B:R b}, {I:I i}"},

    // Surfaces
    {Opcode::SULD,
     "1110 1011 0000 0kk- -ccc cccc c--- rrrq qq-- --mm wwww pppp aaaa aaaa dddd dddd",
     "{.styped 1}{.sdim r}{.ldcache m}{.smask w}{.clamp k} {P:P q ^7 ?7 >}{D:R d}, {A:M a}, {C:R c}"},
    {Opcode::SULD,
     "1110 1011 0001 0kk- -ccc cccc c--- rrrq qq-- --mm Bttt pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.ldcache m}{.smem t}{.clamp k} {P:P q ^7 ?7 >}{D:R d}, {A:M a}, {C:R c}"},
    {Opcode::SUST,
     "1110 1011 0010 0kk- -ccc cccc c--- rrr- ---- --mm wwww pppp aaaa aaaa dddd dddd",
     "{.styped 1}{.sdim r}{.stcache m}{.smask w}{.clamp k} {A:M a}, {B:R d}, {C:R c}"},
    {Opcode::SUST,
     "1110 1011 0011 0kk- -ccc cccc c--- rrr- ---- --mm Bttt pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.stcache m}{.smem t}{.clamp k} {A:M a}, {B:R d}, {C:R c}"},
    {Opcode::SURED,
     "1110 1011 0100 0kk- -ccc cccc c--- rrr- ---- -mmm ---- pppp aaaa aaaa dddd dddd",
     "{.styped 1}{.sdim r}{.red m}{.clamp k} {A:M a}, {B:R d}, {C:R c}"},
    {Opcode::SURED,
     "1110 1011 0101 0kk- -ccc cccc c--- rrr- ---- -mmm Bttt pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.red m}{.satype t}{.clamp k} {A:M a}, {B:R d}, {C:R c}"},
    {Opcode::SULD,
     "1110 1011 0000 1kki iiii iiii iiii rrrq qq-- --mm wwww pppp aaaa aaaa dddd dddd",
     "{.styped 1}{.sdim r}{.ldcache m}{.smask w}{.clamp k} {P:P q ^7 ?7 >}{D:R d}, {A:M a}, {C:I i}"},
    {Opcode::SULD,
     "1110 1011 0001 1kki iiii iiii iiii rrrq qq-- --mm Bttt pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.ldcache m}{.smem t}{.clamp k} {P:P q ^7 ?7 >}{D:R d}, {A:M a}, {C:I i}"},
    {Opcode::SUST,
     "1110 1011 0010 1kki iiii iiii iiii rrr- ---- --mm wwww pppp aaaa aaaa dddd dddd",
     "{.styped 1}{.sdim r}{.stcache m}{.smask w}{.clamp k} {A:M a}, {B:R d}, {C:I i}"},
    {Opcode::SUST,
     "1110 1011 0011 1kki iiii iiii iiii rrr- ---- --mm Bttt pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.stcache m}{.smem t}{.clamp k} {A:M a}, {B:R d}, {C:I i}"},
    {Opcode::SURED,
     "1110 1011 0100 1kki iiii iiii iiii rrr- ---- -mmm ---- pppp aaaa aaaa dddd dddd",
     "{.styped 1}{.sdim r}{.red m}{.clamp k} {A:M a}, {B:R d}, {C:I i}"},
    {Opcode::SURED,
     "1110 1011 0101 1kki iiii iiii iiii rrr- ---- -mmm Bttt pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.red m}{.satype t}{.clamp k} {A:M a}, {B:R d}, {C:I i}"},
    {Opcode::SUATOM,
     "1110 1010 00tt tkki iiii iiii iiii rrrm mmmB bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.satom m}{.satype t}{.clamp k} {D:R d}, {A:M a}, {B:R b}, {C:I i}"},
    {Opcode::SUATOM,
     "1110 1010 0111 0kk- -ccc cccc cttt rrrm mmmB bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.satom m}{.satype t}{.clamp k} {D:R d}, {A:M a}, {B:R b}, {C:R c}"},
    {Opcode::SUATOM,
     "1110 1010 0110 0kk- -ccc cccc c--- rrrm mmm- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.styped 1}{.sdim r}{.satom m}{.clamp k} {D:R d}, {A:M a}, {B:R b}, {C:R c}"},
    {Opcode::SUATOM,
     "1110 1010 0110 1kki iiii iiii iiii rrrm mmm- bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.styped 1}{.sdim r}{.satom m}{.clamp k} {D:R d}, {A:M a}, {B:R b}, {C:I i}"},
    {Opcode::SUATOM,
     "1110 1011 10qq qkk- -ccc cccc cttt rrrm mmmB bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.satom m}{.satype t}{.clamp k} {P:P q ^7}, {D:R d}, {A:M a}, {B:R b}, {C:R c}"},
    {Opcode::SUATOM,
     "1110 1010 10tt tkki iiii iiii iiii rrrq qq-B bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.cas 0}{.satype t}{.clamp k} {P:P q ^7 ?7 >}{D:R d}, {A:M a}, {B:R b}, {C:I i}"},
    {Opcode::SUATOM,
     "1110 1010 1101 0kk- -ccc cccc cttt rrrq qq-B bbbb bbbb pppp aaaa aaaa dddd dddd",
     "{.styped 0}{.ba B}{.sdim r}{.cas 0}{.satype t}{.clamp k} {P:P q ^7 ?7 >}{D:R d}, {A:M a}, {B:R b}, {C:R c}"},
};
// clang-format on

} // namespace

std::span<const Row> texture_rows() {
    return rows;
}

} // namespace heaviside::maxwell
