// The texts of modifier fields, by value. Sources: the vendor's disassembly of generated words (docs/isa.md).
#include "maxwell/form.h"

#include <algorithm>

namespace heaviside::maxwell {
namespace {

using V = ModifierValue;

template <class E>
constexpr V v(const char* text, E value) {
    return {text, static_cast<u8>(value)};
}
constexpr V bad{nullptr, 0};

// A flag's text; 0 prints nothing.
#define HEAVISIDE_FLAG(name, text)                                                                                     \
    constexpr V name[] {                                                                                               \
        {"", 0}, {                                                                                                     \
            text, 1                                                                                                    \
        }                                                                                                              \
    }

HEAVISIDE_FLAG(cc, "CC");
HEAVISIDE_FLAG(x, "X");
HEAVISIDE_FLAG(sat, "SAT");
HEAVISIDE_FLAG(ndv, "NDV");
HEAVISIDE_FLAG(bf, "BF");
HEAVISIDE_FLAG(hand, "H_AND");
HEAVISIDE_FLAG(hi, "HI");
HEAVISIDE_FLAG(psl, "PSL");
HEAVISIDE_FLAG(mrg, "MRG");
HEAVISIDE_FLAG(w, "W");
HEAVISIDE_FLAG(idx, "IDX");
HEAVISIDE_FLAG(le, "LE");
HEAVISIDE_FLAG(bindless, "B");
HEAVISIDE_FLAG(brev, "BREV");
HEAVISIDE_FLAG(sh, "SH");
HEAVISIDE_FLAG(u, "U");
HEAVISIDE_FLAG(e, "E");
HEAVISIDE_FLAG(o, "O");
HEAVISIDE_FLAG(patch, "P");
HEAVISIDE_FLAG(skew, "SKEW");
HEAVISIDE_FLAG(spin, "SPIN");
HEAVISIDE_FLAG(lc, "LC");
HEAVISIDE_FLAG(cl, "CL");
HEAVISIDE_FLAG(aoffi, "AOFFI");
HEAVISIDE_FLAG(dc, "DC");
HEAVISIDE_FLAG(ms, "MS");
HEAVISIDE_FLAG(nodep, "NODEP");
HEAVISIDE_FLAG(ba, "BA");
HEAVISIDE_FLAG(f16s, "F16");
HEAVISIDE_FLAG(lmt, "LMT");
HEAVISIDE_FLAG(uniform, "U");
HEAVISIDE_FLAG(keep, "KEEPREFCOUNT");
HEAVISIDE_FLAG(trig, "TRIG");
HEAVISIDE_FLAG(wait, "WAIT");
HEAVISIDE_FLAG(mx, "MX");
HEAVISIDE_FLAG(sd, "SD");
HEAVISIDE_FLAG(acc, "ACC");
#undef HEAVISIDE_FLAG
// Flags whose bit is 0 when the text is there.
constexpr V noinc[]{{"NOINC", 1}, {"", 0}};
constexpr V enable[]{{"EN", 1}, {"", 0}};
constexpr V f16[]{{"F16", 1}, {"", 0}};
constexpr V ud[]{v("UD", DataType::UD), v("", DataType::SD)};

constexpr V fmz[]{v("", FloatMode::None), v("FTZ", FloatMode::Ftz), v("FMZ", FloatMode::Fmz)};
constexpr V ftz_mode[]{v("", FloatMode::None), v("FTZ", FloatMode::Ftz)};
constexpr V rnd[]{v("", Rounding::Nearest), v("RM", Rounding::Down), v("RP", Rounding::Up), v("RZ", Rounding::Zero)};
constexpr V f2irnd[]{v("", IntegerRounding::Nearest), v("FLOOR", IntegerRounding::Down), v("CEIL", IntegerRounding::Up),
                     v("TRUNC", IntegerRounding::Zero)};
constexpr V scale[]{v("", Scale::None), v("D2", Scale::D2), v("D4", Scale::D4), v("D8", Scale::D8),
                    v("M8", Scale::M8), v("M4", Scale::M4), v("M2", Scale::M2)};
constexpr V fcmp[]{v("F", Compare::False),
                   v("LT", Compare::Less),
                   v("EQ", Compare::Equal),
                   v("LE", Compare::LessEqual),
                   v("GT", Compare::Greater),
                   v("NE", Compare::NotEqual),
                   v("GE", Compare::GreaterEqual),
                   v("NUM", Compare::Number),
                   v("NAN", Compare::Nan),
                   v("LTU", Compare::LessUnordered),
                   v("EQU", Compare::EqualUnordered),
                   v("LEU", Compare::LessEqualUnordered),
                   v("GTU", Compare::GreaterUnordered),
                   v("NEU", Compare::NotEqualUnordered),
                   v("GEU", Compare::GreaterEqualUnordered),
                   v("T", Compare::True)};
// FCMP does not print its GT.
constexpr auto fcmpgt = [] {
    std::array<V, 16> t{};
    std::copy(std::begin(fcmp), std::end(fcmp), t.begin());
    t[4].text = "";
    return t;
}();
constexpr V icmp[]{v("F", Compare::False),         v("LT", Compare::Less),    v("EQ", Compare::Equal),
                   v("LE", Compare::LessEqual),    v("GT", Compare::Greater), v("NE", Compare::NotEqual),
                   v("GE", Compare::GreaterEqual), v("T", Compare::True)};
constexpr V boolean[]{v("AND", BoolOp::And), v("OR", BoolOp::Or), v("XOR", BoolOp::Xor)};
constexpr V logic[]{v("AND", LogicOp::And), v("OR", LogicOp::Or), v("XOR", LogicOp::Xor), v("PASS_B", LogicOp::PassB)};
constexpr V pop[]{v("", PredicateResult::False), v("T", PredicateResult::True), v("Z", PredicateResult::Zero),
                  v("NZ", PredicateResult::NotZero)};
constexpr V mufu[]{
    v("COS", MultiFunction::Cos),       v("SIN", MultiFunction::Sin),       v("EX2", MultiFunction::Ex2),
    v("LG2", MultiFunction::Lg2),       v("RCP", MultiFunction::Rcp),       v("RSQ", MultiFunction::Rsq),
    v("RCP64H", MultiFunction::Rcp64H), v("RSQ64H", MultiFunction::Rsq64H), v("SQRT", MultiFunction::Sqrt)};
constexpr V rro[]{v("SINCOS", RangeReduction::SinCos), v("EX2", RangeReduction::Ex2)};
constexpr V ipa[]{v("PASS", InterpolationMode::Pass), v("", InterpolationMode::Perspective),
                  v("CONSTANT", InterpolationMode::Constant), v("SC", InterpolationMode::Sc)};
constexpr V ipasample[]{v("", SampleMode::Default), v("CENTROID", SampleMode::Centroid),
                        v("OFFSET", SampleMode::Offset)};

// Two negation bits: 2 negates A, 1 negates B (or C), 3 adds one instead.
constexpr V po[]{{"", 0}, {"", 0}, {"", 0}, {"PO", 1}};
constexpr V po32[]{{"", 0}, bad, {"", 0}, {"PO", 1}};
constexpr V u32[]{v("U32", DataType::U32), v("", DataType::S32)};
// Signedness of two factors, printed unless both are signed.
constexpr V imul1[]{v("U32", DataType::U32), v("S32", DataType::S32), v("U32", DataType::U32), v("", DataType::S32)};
constexpr V imul2[]{v("U32", DataType::U32), v("U32", DataType::U32), v("S32", DataType::S32), v("", DataType::S32)};
constexpr V xmad1[]{v("", DataType::U16), v("S16", DataType::S16), v("U16", DataType::U16), v("S16", DataType::S16)};
constexpr V xmad2[]{v("", DataType::U16), v("U16", DataType::U16), v("S16", DataType::S16), v("S16", DataType::S16)};
constexpr V xmode[]{v("", XmadMode::None), v("CLO", XmadMode::Clo), v("CHI", XmadMode::Chi), v("CSFU", XmadMode::Csfu),
                    v("CBCC", XmadMode::Cbcc)};
constexpr V xmodec[]{v("", XmadMode::None), v("CLO", XmadMode::Clo), v("CHI", XmadMode::Chi),
                     v("CSFU", XmadMode::Csfu)};
constexpr V sp1[]{v("U32", DataType::U32),     v("S32", DataType::S32),     v("U24", DataType::U24),
                  v("S24", DataType::S24),     v("U16H0", DataType::U16H0), v("S16H0", DataType::S16H0),
                  v("U16H1", DataType::U16H1), v("S16H1", DataType::S16H1)};
constexpr V sp2[]{v("U24", DataType::U24), v("S24", DataType::S24), v("U16H0", DataType::U16H0),
                  v("S16H0", DataType::S16H0)};
// Bits: sign of B, type of C (2), sign of A; C is signed if A or B is.
constexpr V sp3[]{v("U32", DataType::U32),
                  v("S32", DataType::S32),
                  v("U24", DataType::U24),
                  v("S24", DataType::S24),
                  v("U16H0", DataType::U16H0),
                  v("S16H0", DataType::S16H0),
                  bad,
                  bad,
                  v("S32", DataType::S32),
                  v("S32", DataType::S32),
                  v("S24", DataType::S24),
                  v("S24", DataType::S24),
                  v("S16H0", DataType::S16H0),
                  v("S16H0", DataType::S16H0),
                  bad,
                  bad};
constexpr V shf[]{v("", DataType::None), bad, v("U64", DataType::U64), v("S64", DataType::S64)};
constexpr V fhi[]{v("", FunnelHigh::None), v("HI", FunnelHigh::Hi), v("X", FunnelHigh::X), v("XHI", FunnelHigh::Xhi)};
constexpr V shrx[]{{"", 0}, bad, {"X", 2}, {"XHI", 3}};
constexpr V mnmx[]{v("", MinMaxExtended::None), v("XLO", MinMaxExtended::Xlo), v("XMED", MinMaxExtended::Xmed),
                   v("XHI", MinMaxExtended::Xhi)};
constexpr V prmt[]{v("", PermuteMode::Index),   v("F4E", PermuteMode::F4e), v("B4E", PermuteMode::B4e),
                   v("RC8", PermuteMode::Rc8),  v("ECL", PermuteMode::Ecl), v("ECR", PermuteMode::Ecr),
                   v("RC16", PermuteMode::Rc16)};
constexpr V add3[]{v("", Add3Shift::None), v("RS", Add3Shift::Right), v("LS", Add3Shift::Left)};

// Conversions
constexpr V ftype[]{bad, v("F16", DataType::F16), v("F32", DataType::F32), v("F64", DataType::F64)};
constexpr V itype[]{v("U8", DataType::U8), v("U16", DataType::U16), v("U32", DataType::U32), v("U64", DataType::U64),
                    v("S8", DataType::S8), v("S16", DataType::S16), v("S32", DataType::S32), v("S64", DataType::S64)};

constexpr V f2itype[]{bad, v("U16", DataType::U16), v("U32", DataType::U32), v("U64", DataType::U64),
                      bad, v("S16", DataType::S16), v("S32", DataType::S32), v("S64", DataType::S64)};
constexpr V i2itype[]{v("U8", DataType::U8), v("U16", DataType::U16), v("U32", DataType::U32), bad,
                      v("S8", DataType::S8), v("S16", DataType::S16), v("S32", DataType::S32), bad};

// Parts of operands
constexpr V half[]{v("", Part::H1H0), v("F32", Part::F32), v("H0_H0", Part::H0H0), v("H1_H1", Part::H1H1)};
constexpr V hmerge[]{v("", HalfMerge::F16), v("F32", HalfMerge::F32), v("MRG_H0", HalfMerge::MergeLow),
                     v("MRG_H1", HalfMerge::MergeHigh)};
constexpr V h0h1[]{v("", Part::All), v("H0", Part::H0), v("H1", Part::H1)};
constexpr V h1[]{v("", Part::H0), v("H1", Part::H1)};
constexpr V byte[]{{"", 0}, {"B1", 1}, {"B2", 2}, {"B3", 3}};
constexpr V bytepart[]{v("", Part::B0), v("B1", Part::B1), v("B2", Part::B2), v("B3", Part::B3)};
// Bits 0-1 byte, 2-3 type (8, 16, 32, 64 bits): a half for 16-bit types.
constexpr V ibyte[]{v("", Part::B0),   v("B1", Part::B1),
                    v("B2", Part::B2), v("B3", Part::B3),
                    v("", Part::H0),   bad,
                    v("H1", Part::H1), bad,
                    v("", Part::All),  v("B1", Part::B1),
                    v("B2", Part::B2), v("B3", Part::B3),
                    v("", Part::All),  v("B1", Part::B1),
                    v("B2", Part::B2), v("B3", Part::B3)};

// Predicates, condition code
constexpr V prcc[]{{"PR", 0}, {"CC", 1}};
constexpr V test[]{v("F", Test::False),
                   v("LT", Test::Less),
                   v("EQ", Test::Equal),
                   v("LE", Test::LessEqual),
                   v("GT", Test::Greater),
                   v("NE", Test::NotEqual),
                   v("GE", Test::GreaterEqual),
                   v("NUM", Test::Number),
                   v("NAN", Test::Nan),
                   v("LTU", Test::LessUnordered),
                   v("EQU", Test::EqualUnordered),
                   v("LEU", Test::LessEqualUnordered),
                   v("GTU", Test::GreaterUnordered),
                   v("NEU", Test::NotEqualUnordered),
                   v("GEU", Test::GreaterEqualUnordered),
                   v("T", Test::True),
                   v("OFF", Test::NotOverflow),
                   v("LO", Test::Lower),
                   v("SFF", Test::NotSign),
                   v("LS", Test::LowerSame),
                   v("HI", Test::Higher),
                   v("SFT", Test::Sign),
                   v("HS", Test::HigherSame),
                   v("OFT", Test::Overflow),
                   v("CSM_TA", Test::CsmTa),
                   v("CSM_TR", Test::CsmTr),
                   v("CSM_MX", Test::CsmMx),
                   v("FCSM_TA", Test::FcsmTa),
                   v("FCSM_TR", Test::FcsmTr),
                   v("FCSM_MX", Test::FcsmMx),
                   v("RLE", Test::Rle),
                   v("RGT", Test::Rgt)};
// The same before the operands of a branch; T is not printed.
#define HEAVISIDE_TEST(tail)                                                                                           \
    {                                                                                                                  \
        v(" CC.F" tail, Test::False), v(" CC.LT" tail, Test::Less), v(" CC.EQ" tail, Test::Equal),                     \
            v(" CC.LE" tail, Test::LessEqual), v(" CC.GT" tail, Test::Greater), v(" CC.NE" tail, Test::NotEqual),      \
            v(" CC.GE" tail, Test::GreaterEqual), v(" CC.NUM" tail, Test::Number), v(" CC.NAN" tail, Test::Nan),       \
            v(" CC.LTU" tail, Test::LessUnordered), v(" CC.EQU" tail, Test::EqualUnordered),                           \
            v(" CC.LEU" tail, Test::LessEqualUnordered), v(" CC.GTU" tail, Test::GreaterUnordered),                    \
            v(" CC.NEU" tail, Test::NotEqualUnordered), v(" CC.GEU" tail, Test::GreaterEqualUnordered),                \
            v("", Test::True), v(" CC.OFF" tail, Test::NotOverflow), v(" CC.LO" tail, Test::Lower),                    \
            v(" CC.SFF" tail, Test::NotSign), v(" CC.LS" tail, Test::LowerSame), v(" CC.HI" tail, Test::Higher),       \
            v(" CC.SFT" tail, Test::Sign), v(" CC.HS" tail, Test::HigherSame), v(" CC.OFT" tail, Test::Overflow),      \
            v(" CC.CSM_TA" tail, Test::CsmTa), v(" CC.CSM_TR" tail, Test::CsmTr), v(" CC.CSM_MX" tail, Test::CsmMx),   \
            v(" CC.FCSM_TA" tail, Test::FcsmTa), v(" CC.FCSM_TR" tail, Test::FcsmTr),                                  \
            v(" CC.FCSM_MX" tail, Test::FcsmMx), v(" CC.RLE" tail, Test::Rle), v(" CC.RGT" tail, Test::Rgt)            \
    }
constexpr V cct[] HEAVISIDE_TEST(",");
constexpr V cce[] HEAVISIDE_TEST("");
constexpr V ccn[] HEAVISIDE_TEST("");
#undef HEAVISIDE_TEST
constexpr V vote[]{v("ALL", VoteMode::All), v("ANY", VoteMode::Any), v("EQ", VoteMode::Equal)};
constexpr V vtg[]{v("R", VoteTarget::R), v("A", VoteTarget::A), v("RA", VoteTarget::RA)};
constexpr V r2b[]{v("", R2bMode::None), v("RESULT", R2bMode::Result), v("WARP", R2bMode::Warp)};

// Memory
constexpr V mem[]{v("U8", DataType::U8), v("S8", DataType::S8),  v("U16", DataType::U16), v("S16", DataType::S16),
                  v("", DataType::B32),  v("64", DataType::B64), v("128", DataType::B128)};
constexpr V ldmem[]{v("U8", DataType::U8),    v("S8", DataType::S8),     v("U16", DataType::U16),
                    v("S16", DataType::S16),  v("", DataType::B32),      v("64", DataType::B64),
                    v("128", DataType::B128), v("U.128", DataType::U128)};
constexpr V ldc[]{v("U8", DataType::U8),   v("S8", DataType::S8), v("U16", DataType::U16),
                  v("S16", DataType::S16), v("", DataType::B32),  v("64", DataType::B64)};
constexpr V ldcmode[]{v("", LdcMode::None), v("IL", LdcMode::Il), v("IS", LdcMode::Is), v("ISL", LdcMode::Isl)};
constexpr V ldcache[]{v("", CacheMode::None), v("CG", CacheMode::Cg), v("CI", CacheMode::Ci), v("CV", CacheMode::Cv)};
constexpr V ldlcache[]{v("", CacheMode::None), v("LU", CacheMode::Lu), v("CI", CacheMode::Ci), v("CV", CacheMode::Cv)};
constexpr V stcache[]{v("", CacheMode::None), v("CG", CacheMode::Cg), v("CS", CacheMode::Cs), v("WT", CacheMode::Wt)};
constexpr V red[]{v("ADD", AtomicOp::Add), v("MIN", AtomicOp::Min), v("MAX", AtomicOp::Max), v("INC", AtomicOp::Inc),
                  v("DEC", AtomicOp::Dec), v("AND", AtomicOp::And), v("OR", AtomicOp::Or),   v("XOR", AtomicOp::Xor)};
constexpr V atom[]{v("ADD", AtomicOp::Add),        v("MIN", AtomicOp::Min),
                   v("MAX", AtomicOp::Max),        v("INC", AtomicOp::Inc),
                   v("DEC", AtomicOp::Dec),        v("AND", AtomicOp::And),
                   v("OR", AtomicOp::Or),          v("XOR", AtomicOp::Xor),
                   v("EXCH", AtomicOp::Exch),      bad,
                   v("SAFEADD", AtomicOp::SafeAdd)};
constexpr V atoms[]{v("ADD", AtomicOp::Add), v("MIN", AtomicOp::Min), v("MAX", AtomicOp::Max),
                    v("INC", AtomicOp::Inc), v("DEC", AtomicOp::Dec), v("AND", AtomicOp::And),
                    v("OR", AtomicOp::Or),   v("XOR", AtomicOp::Xor), v("EXCH", AtomicOp::Exch)};
constexpr V atype[]{v("", DataType::U32),
                    v("S32", DataType::S32),
                    v("U64", DataType::U64),
                    v("F32.FTZ.RN", DataType::F32FtzRn),
                    v("F16x2.FTZ.RN", DataType::F16x2FtzRn),
                    v("S64", DataType::S64)};
constexpr V astype[]{v("", DataType::U32), v("S32", DataType::S32), v("U64", DataType::U64), v("S64", DataType::S64)};
constexpr V satype[]{v("", DataType::U32),
                     v("S32", DataType::S32),
                     v("U64", DataType::U64),
                     v("F32.FTZ.RN", DataType::F32FtzRn),
                     v("F16x2.FTZ.RN", DataType::F16x2FtzRn),
                     v("S64", DataType::S64),
                     v("SD32", DataType::SD32),
                     v("SD64", DataType::SD64)};
constexpr V vec[]{v("", DataType::B32), v("64", DataType::B64), v("96", DataType::B96), v("128", DataType::B128)};
constexpr V isberd[]{v("", IsberdMode::Default), v("PATCH", IsberdMode::Patch), v("PRIM", IsberdMode::Prim),
                     v("ATTR", IsberdMode::Attr)};
constexpr V isbtype[]{v("", DataType::U8), v("U16", DataType::U16), v("32", DataType::B32)};
constexpr V pixld[]{v("", PixelOp::Count),
                    v("COVMASK", PixelOp::CovMask),
                    v("COVERED", PixelOp::Covered),
                    v("OFFSET", PixelOp::Offset),
                    v("CENTROID_OFFSET", PixelOp::CentroidOffset),
                    v("MY_INDEX", PixelOp::MyIndex)};
constexpr V out[]{bad, v("EMIT", OutputOp::Emit), v("CUT", OutputOp::Cut), v("EMIT_THEN_CUT", OutputOp::EmitThenCut)};
constexpr V cctl[]{v(".QRY1", CacheOp::Qry1),
                   v(".PF1 ", CacheOp::Pf1),
                   v(".PF1.5 ", CacheOp::Pf15),
                   v(".PF2 ", CacheOp::Pf2),
                   v(".WB ", CacheOp::Wb),
                   v(".IV ", CacheOp::Iv),
                   bad,
                   v(".RS ", CacheOp::Rs),
                   bad,
                   v(".RSLB ", CacheOp::Rslb)};
constexpr V cctltarget[]{v("", CacheTarget::D), v("U", CacheTarget::U), v("C", CacheTarget::C), v("I", CacheTarget::I),
                         v("CRS", CacheTarget::Crs)};
constexpr V membar[]{v("CTA", MemoryScope::Cta), v("GL", MemoryScope::Gl), v("SYS", MemoryScope::Sys),
                     v("VC", MemoryScope::Vc)};
constexpr V ivall[]{v("", Invalidate::None), v("IVALLD", Invalidate::D), v("IVALLT", Invalidate::T),
                    v("IVALLTD", Invalidate::TD)};
constexpr V barmode[]{v("SYNC", BarrierMode::Sync), v("ARV", BarrierMode::Arrive), v("RED", BarrierMode::Reduce),
                      v("SCAN", BarrierMode::Scan)};
constexpr V cas[]{v("CAS", AtomicOp::Cas)};
constexpr V cast[]{v("CAST", AtomicOp::Cast)};
constexpr V caswide[]{v("", DataType::U32), v("64", DataType::U64)};
constexpr V right[]{{"L", 0}, {"R", 1}};
constexpr V styped[]{{"D", 0}, {"P", 1}};
constexpr V barred[]{v("POPC", BarrierReduction::PopCount), v("AND", BarrierReduction::And),
                     v("OR", BarrierReduction::Or)};

// Textures
constexpr V lod[]{v("", LodMode::Auto),
                  v("LZ", LodMode::Zero),
                  v("LB", LodMode::Bias),
                  v("LL", LodMode::Level),
                  bad,
                  bad,
                  v("LBA", LodMode::BiasArray),
                  v("LLA", LodMode::LevelArray)};
constexpr V tldlod[]{v("LZ", LodMode::Zero), v("LL", LodMode::Level)};
constexpr V offs[]{v("", OffsetMode::None), v("AOFFI", OffsetMode::Aoffi), v("PTP", OffsetMode::Ptp)};
constexpr V gather[]{{"R", 0}, {"G", 1}, {"B", 2}, {"A", 3}};
constexpr V dim[]{v("1D", Dimension::D1),       v("ARRAY_1D", Dimension::D1),    v("2D", Dimension::D2),
                  v("ARRAY_2D", Dimension::D2), v("3D", Dimension::D3),          v("ARRAY_3D", Dimension::D3),
                  v("CUBE", Dimension::Cube),   v("ARRAY_CUBE", Dimension::Cube)};
constexpr V array[]{{"", 0}, {"", 1}, {"", 0}, {"", 1}, {"", 0}, {"", 1}, {"", 0}, {"", 1}};
// TEXS and TLDS: one field names the whole kind of access.
constexpr V texslod[]{v("LZ", LodMode::Zero), v("", LodMode::Auto),    v("LZ", LodMode::Zero), v("LL", LodMode::Level),
                      v("", LodMode::Auto),   v("LL", LodMode::Level), v("LZ", LodMode::Zero), v("", LodMode::Auto),
                      v("LZ", LodMode::Zero), v("LZ", LodMode::Zero),  v("", LodMode::Auto),   v("LZ", LodMode::Zero),
                      v("", LodMode::Auto),   v("LL", LodMode::Level)};
constexpr V texsdc[]{{"", 0}, {"", 0}, {"", 0},   {"", 0}, {"DC", 1}, {"DC", 1}, {"DC", 1},
                     {"", 0}, {"", 0}, {"DC", 1}, {"", 0}, {"", 0},   {"", 0},   {"", 0}};
constexpr V texsdim[]{v("1D", Dimension::D1),       v("2D", Dimension::D2),       v("2D", Dimension::D2),
                      v("2D", Dimension::D2),       v("2D", Dimension::D2),       v("2D", Dimension::D2),
                      v("2D", Dimension::D2),       v("ARRAY_2D", Dimension::D2), v("ARRAY_2D", Dimension::D2),
                      v("ARRAY_2D", Dimension::D2), v("3D", Dimension::D3),       v("3D", Dimension::D3),
                      v("CUBE", Dimension::Cube),   v("CUBE", Dimension::Cube)};
constexpr V texsarray[]{{"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0},
                        {"", 1}, {"", 1}, {"", 1}, {"", 0}, {"", 0}, {"", 0}, {"", 0}};
constexpr V tldslod[]{v("LZ", LodMode::Zero),
                      v("LL", LodMode::Level),
                      v("LZ", LodMode::Zero),
                      bad,
                      v("LZ", LodMode::Zero),
                      v("LL", LodMode::Level),
                      v("LZ", LodMode::Zero),
                      v("LZ", LodMode::Zero),
                      v("LZ", LodMode::Zero),
                      bad,
                      bad,
                      bad,
                      v("LL", LodMode::Level)};
constexpr V tldsoffs[]{{"", 0}, {"", 0}, {"", 0}, {"", 0}, {"AOFFI", 1}, {"", 0},     {"", 0},
                       {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0},      {"AOFFI", 1}};
constexpr V tldsms[]{{"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"MS", 1},
                     {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}};
constexpr V tldsdim[]{v("1D", Dimension::D1), v("1D", Dimension::D1), v("2D", Dimension::D2),
                      v("", Dimension::D2),   v("2D", Dimension::D2), v("2D", Dimension::D2),
                      v("2D", Dimension::D2), v("3D", Dimension::D3), v("ARRAY_2D", Dimension::D2),
                      v("", Dimension::D2),   v("", Dimension::D2),   v("", Dimension::D2),
                      v("2D", Dimension::D2)};
constexpr V tldsarray[]{{"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0},
                        {"", 0}, {"", 1}, {"", 0}, {"", 0}, {"", 0}, {"", 0}};
constexpr V mask1[]{{"R", 1}, {"G", 2}, {"B", 4}, {"A", 8}, {"RG", 3}, {"RA", 9}, {"GA", 10}, {"BA", 12}};
constexpr V mask2[]{{"RGB", 7}, {"RGA", 11}, {"RBA", 13}, {"GBA", 14}, {"RGBA", 15}};
constexpr V txq[]{bad,
                  {"TEX_HEADER_DIMENSION", 1},
                  {"TEX_HEADER_TEXTURE_TYPE", 2},
                  bad,
                  {"2", 4},
                  {"TEX_HEADER_SAMPLER_POS", 5},
                  {"3", 6},
                  bad,
                  {"4", 8},
                  bad,
                  {"5", 10},
                  bad,
                  {"6", 12},
                  bad,
                  {"7", 14},
                  bad,
                  {"TEX_SAMPLER_FILTER", 16},
                  bad,
                  {"TEX_SAMPLER_LOD", 18},
                  bad,
                  {"TEX_SAMPLER_WRAP", 20},
                  bad,
                  {"TEX_SAMPLER_BORDER_COLOR", 22},
                  bad,
                  {"12", 24},
                  bad,
                  {"13", 26},
                  bad,
                  {"14", 28},
                  bad,
                  {"15", 30},
                  bad,
                  {"16", 32},
                  bad,
                  {"17", 34},
                  bad,
                  {"18", 36},
                  bad,
                  {"19", 38},
                  bad,
                  {"20", 40},
                  bad,
                  {"21", 42},
                  bad,
                  {"22", 44},
                  bad,
                  {"23", 46},
                  bad,
                  {"24", 48},
                  bad,
                  {"25", 50},
                  bad,
                  {"26", 52},
                  bad,
                  {"27", 54},
                  bad,
                  {"28", 56},
                  bad,
                  {"29", 58},
                  bad,
                  {"30", 60},
                  bad,
                  {"31", 62}};

// Surfaces
constexpr V sdim[]{
    v("1D", SurfaceDimension::D1), v("1D_BUFFER", SurfaceDimension::Buffer), v("1D_ARRAY", SurfaceDimension::D1Array),
    v("2D", SurfaceDimension::D2), v("2D_ARRAY", SurfaceDimension::D2Array), v("3D", SurfaceDimension::D3)};
constexpr V smask[]{bad,      {"R", 1},  {"G", 2},   {"RG", 3},   {"B", 4},   {"RB", 5},   {"GB", 6},   {"RGB", 7},
                    {"A", 8}, {"RA", 9}, {"GA", 10}, {"RGA", 11}, {"BA", 12}, {"RBA", 13}, {"GBA", 14}, {"", 15}};
constexpr V clamp[]{v("IGN", SurfaceClamp::Ignore), v("", SurfaceClamp::None), v("TRAP", SurfaceClamp::Trap)};

// Traps
constexpr V rtt[]{v("", RttMode::None), v("TERMINATE", RttMode::Terminate), v("FALLTHROUGH", RttMode::FallThrough),
                  v("PREEMPTED", RttMode::Preempted)};
constexpr V bpt[]{v("DRAIN_ILLEGAL", BreakpointKind::DrainIllegal),
                  v("CAL", BreakpointKind::Cal),
                  v("PAUSE", BreakpointKind::Pause),
                  v("TRAP", BreakpointKind::Trap),
                  v("INT", BreakpointKind::Int),
                  v("DRAIN", BreakpointKind::Drain)};
constexpr V shfl[]{v("IDX", ShuffleMode::Index), v("UP", ShuffleMode::Up), v("DOWN", ShuffleMode::Down),
                   v("BFLY", ShuffleMode::Butterfly)};

// Video: bits 0-2 select size and part, bit 3 the sign.
constexpr V va[]{v("U8", DataType::U8),   v("U8", DataType::U8),   v("U8", DataType::U8),   v("U8", DataType::U8),
                 v("U16", DataType::U16), v("U16", DataType::U16), v("U32", DataType::U32), bad,
                 v("S8", DataType::S8),   v("S8", DataType::S8),   v("S8", DataType::S8),   v("S8", DataType::S8),
                 v("S16", DataType::S16), v("S16", DataType::S16), v("S32", DataType::S32), bad};
constexpr V vbs[]{v("U8", DataType::U8),   v("U8", DataType::U8),   v("U8", DataType::U8),  v("U8", DataType::U8),
                  v("U16", DataType::U16), v("U16", DataType::U16), v("U32", DataType::U32)};
constexpr V vbi[]{v("U16", DataType::U16), v("S16", DataType::S16)};
constexpr V v4[]{v("U8", DataType::U8), v("S8", DataType::S8)};
constexpr V vpart[]{v("", Part::B0), v("B1", Part::B1), v("B2", Part::B2), v("B3", Part::B3),
                    v("", Part::H0), v("H1", Part::H1), v("", Part::All),  bad,
                    v("", Part::B0), v("B1", Part::B1), v("B2", Part::B2), v("B3", Part::B3),
                    v("", Part::H0), v("H1", Part::H1), v("", Part::All),  bad};
constexpr V vop[]{v("MRG_16H", VideoOp::MergeHigh16),
                  v("MRG_16L", VideoOp::MergeLow16),
                  v("MRG_8B0", VideoOp::MergeByte0),
                  v("MRG_8B2", VideoOp::MergeByte2),
                  v("ACC", VideoOp::Accumulate),
                  v("MIN", VideoOp::Min),
                  v("MAX", VideoOp::Max),
                  v("", VideoOp::None)};
constexpr V shr[]{v("", VideoShift::None), v("SHR_7", VideoShift::Shr7), v("SHR_15", VideoShift::Shr15)};
// Bits: Y, X, W, Z from the top; the number has bit 0 for X.
constexpr V vmask[]{bad,      {"Z", 4},  {"W", 8},   {"ZW", 12},  {"X", 1},  {"XZ", 5},  {"XW", 9},   {"XZW", 13},
                    {"Y", 2}, {"YZ", 6}, {"YW", 10}, {"YZW", 14}, {"XY", 3}, {"XYZ", 7}, {"XYW", 11}, {"", 15}};
// Byte selections of VABSDIFF4: the digit n is byte n of the pair of A and B.
constexpr V vsela[]{{"0000", 0}, {"1111", 1}, {"2222", 2}, {"3333", 3},  {"", 4},      {"4321", 5},  {"5432", 6},
                    {"6543", 7}, {"3201", 8}, {"3012", 9}, {"0213", 10}, {"3120", 11}, {"1230", 12}, {"2310", 13}};
constexpr V vselb[]{{"4444", 0}, {"5555", 1}, {"6666", 2}, {"7777", 3}, {"", 4},     {"6543", 5},
                    {"5432", 6}, {"4321", 7}, {"4567", 8}, {"6745", 9}, {"5476", 10}};

// F2F: rounding (2 bits), to an integer (1 bit), source and destination type (2 bits each). Between two types the
// result is rounded to the destination's precision; within one type it may be rounded to an integer, or passes.
struct F2fTables {
    std::array<V, 128> rounding, integer;
};
constexpr F2fTables make_f2f() {
    F2fTables t{};
    constexpr V round[]{v("ROUND", IntegerRounding::Nearest), v("FLOOR", IntegerRounding::Down),
                        v("CEIL", IntegerRounding::Up), v("TRUNC", IntegerRounding::Zero)};
    for (unsigned i = 0; i < 128; ++i) {
        const unsigned mode = i >> 4 & 3;
        const bool to_integer = (i >> 6) != 0, same = (i >> 2 & 3) == (i & 3);
        t.rounding[i] = same ? v("", Rounding::Nearest) : rnd[mode];
        t.integer[i] = !same        ? v("", IntegerRounding::None)
                       : to_integer ? round[mode]
                       : mode == 0  ? v("", IntegerRounding::None)
                                    : v("PASS", IntegerRounding::Pass);
    }
    return t;
}
constexpr F2fTables f2f = make_f2f();
// A half is selected for F16 sources only: selection, source type (2 bits).
constexpr V f2fh1[]{v("", Part::All), v("", Part::H0),   v("", Part::All), v("", Part::All),
                    v("", Part::All), v("H1", Part::H1), v("", Part::All), v("", Part::All)};
// LDS: U, then the type.
constexpr V lds[]{v("U8", DataType::U8),  v("S8", DataType::S8),  v("U16", DataType::U16),  v("S16", DataType::S16),
                  v("", DataType::B32),   v("64", DataType::B64), v("128", DataType::B128), bad,
                  v("U8", DataType::U8),  v("S8", DataType::S8),  v("U16", DataType::U16),  v("S16", DataType::S16),
                  v("32", DataType::B32), v("64", DataType::B64), v("128", DataType::B128)};

constexpr ModifierTable table(const char* name, Modifier modifier, std::span<const V> values, u8 hidden = 0xff) {
    return {name, modifier, false, hidden, values};
}
constexpr ModifierTable raw(const char* name, Modifier modifier, std::span<const V> values) {
    return {name, modifier, true, 0xff, values};
}
constexpr Modifier part = Modifier::Count_;

// By name, in order.
const ModifierTable tables[]{
    table("acc", Modifier::Accumulate, acc),
    table("add3", Modifier::Add3Shift, add3),
    table("aoffi", Modifier::Offset, aoffi),
    table("array", Modifier::Array, array),
    table("astype", Modifier::DataType, astype),
    table("atom", Modifier::AtomicOp, atom),
    table("atoms", Modifier::AtomicOp, atoms),
    table("atype", Modifier::DataType, atype),
    table("ba", Modifier::SurfaceByteAddress, ba),
    table("barmode", Modifier::BarrierMode, barmode),
    table("barred", Modifier::BarrierOp, barred),
    table("bf", Modifier::BoolResult, bf),
    table("bindless", Modifier::Bindless, bindless),
    table("bool", Modifier::BoolOp, boolean),
    table("bool2", Modifier::BoolOp2, boolean),
    table("bpt", Modifier::BreakpointKind, bpt),
    table("brev", Modifier::BitReverse, brev),
    table("byte", Modifier::ByteSelect, byte),
    table("bytepart", part, bytepart),
    table("cas", Modifier::AtomicOp, cas),
    table("cast", Modifier::AtomicOp, cast),
    table("caswide", Modifier::DataType, caswide),
    table("cc", Modifier::WriteCC, cc),
    raw("cce", Modifier::Test, cce),
    raw("ccn", Modifier::Test, ccn),
    raw("cct", Modifier::Test, cct),
    raw("cctl", Modifier::CacheOp, cctl),
    raw("cctll", Modifier::CacheOp, cctl),
    table("cctltarget", Modifier::CacheTarget, cctltarget),
    table("cl", Modifier::LodClamp, cl),
    table("clamp", Modifier::SurfaceClamp, clamp),
    table("dc", Modifier::DepthCompare, dc),
    raw("dim", Modifier::Dimension, dim),
    table("e", Modifier::WideAddress, e),
    table("en", Modifier::InterruptEnable, enable),
    table("f16", Modifier::HalfResult, f16),
    table("f16s", Modifier::HalfResult, f16s),
    table("f2fh1", part, f2fh1),
    table("f2fint", Modifier::IntegerRounding, f2f.integer),
    table("f2frnd", Modifier::Rounding, f2f.rounding),
    table("f2irnd", Modifier::IntegerRounding, f2irnd),
    table("f2itype", Modifier::DestinationType, f2itype),
    table("fcmp", Modifier::Compare, fcmp),
    table("fcmpgt", Modifier::Compare, fcmpgt),
    table("fhi", Modifier::FunnelHigh, fhi),
    table("fmz", Modifier::FloatMode, fmz),
    table("ftype", Modifier::DestinationType, ftype),
    table("ftype2", Modifier::SourceType, ftype),
    table("ftz", Modifier::FloatMode, ftz_mode),
    table("gather", Modifier::GatherComponent, gather),
    table("h0h1", part, h0h1),
    table("h1", part, h1),
    table("half", part, half),
    table("hand", Modifier::HalfAnd, hand),
    table("hi", Modifier::HighHalf, hi),
    table("hmerge", Modifier::HalfMerge, hmerge),
    table("i2itype", Modifier::DestinationType, i2itype),
    table("i2itype2", Modifier::SourceType, i2itype),
    table("ibyte", part, ibyte),
    table("icmp", Modifier::Compare, icmp),
    table("idx", Modifier::IndexedAttribute, idx),
    table("imad1", Modifier::SourceType, imul1),
    table("imad2", Modifier::SourceType2, imul2),
    table("imul1", Modifier::SourceType, imul1),
    table("imul2", Modifier::SourceType2, imul2),
    table("ipa", Modifier::InterpolationMode, ipa),
    table("ipasample", Modifier::SampleMode, ipasample),
    table("isberd", Modifier::IsberdMode, isberd),
    table("isbtype", Modifier::DataType, isbtype),
    table("itype", Modifier::DestinationType, itype),
    table("itype2", Modifier::SourceType, itype),
    table("ivall", Modifier::Invalidate, ivall),
    table("keep", Modifier::KeepRefCount, keep),
    table("lc", Modifier::LodClamp, lc),
    table("ldc", Modifier::DataType, ldc),
    table("ldcache", Modifier::CacheMode, ldcache),
    table("ldcmode", Modifier::LdcMode, ldcmode),
    table("ldlcache", Modifier::CacheMode, ldlcache),
    table("ldmem", Modifier::DataType, ldmem),
    table("ldsmem", Modifier::DataType, lds),
    table("le", Modifier::LessEqual, le),
    table("lmt", Modifier::Unlimited, lmt),
    table("lod", Modifier::LodMode, lod),
    table("logic", Modifier::LogicOp, logic),
    raw("mask1", Modifier::ComponentMask, mask1),
    raw("mask2", Modifier::ComponentMask, mask2),
    table("mem", Modifier::DataType, mem),
    table("membar", Modifier::MemoryScope, membar),
    table("mnmx", Modifier::MinMaxExtended, mnmx),
    table("mrg", Modifier::MergeResult, mrg),
    table("ms", Modifier::Multisample, ms),
    table("mufu", Modifier::MultiFunction, mufu),
    table("mx", Modifier::VideoMinMax, mx),
    table("ndv", Modifier::Ndv, ndv),
    table("nodep", Modifier::Nodep, nodep),
    table("noinc", Modifier::NoIncrement, noinc),
    table("o", Modifier::OutputAttribute, o),
    table("offs", Modifier::Offset, offs),
    table("out", Modifier::OutputOp, out),
    table("patch", Modifier::PatchAttribute, patch),
    table("pixld", Modifier::PixelOp, pixld),
    table("po", Modifier::PlusOne, po),
    table("po32", Modifier::PlusOne, po32),
    table("pop", Modifier::PredicateResult, pop),
    raw("prcc", Modifier::ToConditionCode, prcc),
    table("prmt", Modifier::PermuteMode, prmt),
    table("psl", Modifier::ShiftProduct, psl),
    table("r2b", Modifier::R2bMode, r2b),
    table("red", Modifier::AtomicOp, red),
    table("right", Modifier::ShiftRight, right),
    table("rnd", Modifier::Rounding, rnd),
    table("rro", Modifier::RangeReduction, rro),
    table("rtt", Modifier::RttMode, rtt),
    table("sat", Modifier::Saturate, sat),
    table("satom", Modifier::AtomicOp, atoms),
    table("satype", Modifier::DataType, satype),
    table("scale", Modifier::Scale, scale),
    table("sd", Modifier::DestinationType, sd),
    table("sdim", Modifier::SurfaceDimension, sdim),
    table("sh", Modifier::ShiftAmount, sh),
    table("shf", Modifier::DataType, shf),
    table("shfl", Modifier::ShuffleMode, shfl),
    table("shr", Modifier::VideoShift, shr),
    table("shrx", Modifier::ShiftExtended, shrx),
    table("skew", Modifier::Skew, skew),
    table("smask", Modifier::ComponentMask, smask),
    table("smem", Modifier::DataType, mem),
    table("sp1", Modifier::SourceType, sp1),
    table("sp2", Modifier::SourceType2, sp2),
    table("sp3", Modifier::SourceType3, sp3),
    table("spin", Modifier::Spin, spin),
    table("stcache", Modifier::CacheMode, stcache),
    table("styped", Modifier::SurfaceTyped, styped),
    table("test", Modifier::Test, test),
    table("texsarray", Modifier::Array, texsarray),
    table("texsdc", Modifier::DepthCompare, texsdc),
    raw("texsdim", Modifier::Dimension, texsdim),
    table("texslod", Modifier::LodMode, texslod),
    table("tldlod", Modifier::LodMode, tldlod),
    table("tldsarray", Modifier::Array, tldsarray),
    raw("tldsdim", Modifier::Dimension, tldsdim),
    table("tldslod", Modifier::LodMode, tldslod),
    table("tldsms", Modifier::Multisample, tldsms),
    table("tldsoffs", Modifier::Offset, tldsoffs),
    table("trig", Modifier::Trigger, trig),
    raw("txq", Modifier::TextureQuery, txq),
    table("u", Modifier::Unsigned, u),
    table("u32", Modifier::DataType, u32),
    table("ud", Modifier::DestinationType, ud),
    table("uniform", Modifier::Uniform, uniform),
    table("va", Modifier::SourceType, va, 14),
    table("va4", Modifier::SourceType, v4, 1),
    table("vb", Modifier::SourceType2, va, 14),
    table("vb4", Modifier::SourceType2, v4, 1),
    table("vbi", Modifier::SourceType2, vbi, 1),
    table("vbs", Modifier::SourceType2, vbs, 6),
    table("vcmp", Modifier::Compare, icmp),
    table("vec", Modifier::DataType, vec),
    table("vmask", Modifier::VideoMask, vmask),
    table("vop", Modifier::VideoOp, vop),
    table("vote", Modifier::VoteMode, vote),
    table("vpart", part, vpart),
    table("vsela", part, vsela),
    table("vselb", part, vselb),
    table("vtg", Modifier::VoteTarget, vtg),
    table("w", Modifier::Wrap, w),
    table("wait", Modifier::Wait, wait),
    table("x", Modifier::Extended, x),
    table("xmad1", Modifier::SourceType, xmad1),
    table("xmad2", Modifier::SourceType2, xmad2),
    table("xmode", Modifier::XmadMode, xmode),
    table("xmodec", Modifier::XmadMode, xmodec),
};

} // namespace

const ModifierTable* find_modifier_table(std::string_view name) {
    const auto* found =
        std::lower_bound(std::begin(tables), std::end(tables), name,
                         [](const ModifierTable& t, std::string_view n) { return std::string_view(t.name) < n; });
    return found != std::end(tables) && found->name == name ? found : nullptr;
}

std::span<const ModifierTable> modifier_tables() {
    return tables;
}

} // namespace heaviside::maxwell
