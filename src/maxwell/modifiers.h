// What the dotted suffixes of an instruction mean, as small integers to switch on.
//
// Instruction::get<Rounding>() gives the value of the one field of that type; an instruction without the field gives
// the enumerator 0. Where an instruction has two fields of one type (conversions, XMAD, video), name the field:
// instruction.get<DataType>(Modifier::SourceType).
#pragma once

#include "base/types.h"

namespace heaviside::maxwell {

// Fields of an instruction. Those with an enumeration of their own say so; the others are flags, 0 or 1, or numbers.
enum class Modifier : u8 {
    // Arithmetic
    FloatMode,       // FloatMode
    Rounding,        // Rounding
    IntegerRounding, // IntegerRounding: F2F, F2I
    Saturate,        // flag .SAT
    WriteCC,         // flag .CC: also writes the condition code
    Extended,        // flag .X: takes the carry (or zero flag) of the condition code
    Scale,           // Scale: FMUL
    HighHalf,        // flag .HI: IMUL, IMAD give the upper 32 bits; LEA.HI
    PlusOne,         // flag .PO: adds one (the two negation bits of IADD and its kin both set)
    Compare,         // Compare
    BoolOp,          // BoolOp: joins the comparison and the source predicate
    BoolOp2,         // BoolOp: PSET, PSETP, the second one
    BoolResult,      // flag .BF: xSET gives 1.0 instead of ~0
    LogicOp,         // LogicOp: LOP, LOP32I
    PredicateResult, // PredicateResult: what LOP, LOP3 write to their predicate
    DataType,        // DataType: of the operation, or of the memory access
    DestinationType, // DataType
    SourceType,      // DataType: of the (first) source
    SourceType2,     // DataType: of the second source
    SourceType3,     // DataType: IMADSP
    MultiFunction,   // MultiFunction: MUFU
    RangeReduction,  // RangeReduction: RRO
    BitReverse,      // flag .BREV
    ShiftAmount,     // flag .SH: FLO gives the shift count instead of the bit number
    Wrap,            // flag .W: shift counts are taken modulo 32, not clamped
    FunnelHigh,      // FunnelHigh: SHF
    ShiftRight,      // flag: SHF.R, otherwise SHF.L
    ShiftExtended,   // number: SHR, 0 none, 2 .X, 3 .XHI
    MinMaxExtended,  // MinMaxExtended: IMNMX
    PermuteMode,     // PermuteMode: PRMT
    Add3Shift,       // Add3Shift: IADD3
    XmadMode,        // XmadMode
    ShiftProduct,    // flag .PSL: XMAD shifts the product left by 16
    MergeResult,     // flag .MRG: XMAD keeps the low half, the high half is that of B
    NegatedProduct,  // flag: the product (HFMA2, VMAD) is negated
    // Half precision
    HalfMerge, // HalfMerge: HADD2 and kin
    HalfAnd,   // flag .H_AND: HSETP2 joins the comparisons of both halves
    // Video
    VideoOp,     // VideoOp: what becomes of the result and C
    VideoShift,  // VideoShift: VMAD
    VideoMask,   // number: VABSDIFF4, one bit per byte
    Accumulate,  // flag .ACC: VABSDIFF4
    VideoMinMax, // flag: VMNMX, 1 for .MX
    // Control flow
    Unlimited,    // flag .LMT
    Uniform,      // flag .U
    NoIncrement,  // flag .NOINC
    KeepRefCount, // flag .KEEPREFCOUNT
    Test,         // Test: the condition-code test; True when nothing is printed
    // Memory
    WideAddress, // flag .E: the address is a register pair
    CacheMode,   // CacheMode
    AtomicOp,    // AtomicOp
    Spin,        // flag .SPIN: ATOMS.CAS
    Unsigned,    // flag .U: LDS
    LdcMode,     // LdcMode
    CacheOp,     // CacheOp
    CacheTarget, // CacheTarget
    MemoryScope, // MemoryScope: MEMBAR
    Invalidate,  // Invalidate: MEMBAR
    // Attributes
    OutputAttribute,   // flag .O: reads the outputs of the own stage
    PatchAttribute,    // flag .P
    InterpolationMode, // InterpolationMode: IPA
    SampleMode,        // SampleMode: IPA
    IndexedAttribute,  // flag .IDX
    PixelOp,           // PixelOp: PIXLD
    OutputOp,          // OutputOp: OUT
    IsberdMode,        // IsberdMode
    Skew,              // flag .SKEW
    // Textures and surfaces
    Dimension,          // Dimension
    Array,              // flag: the first coordinate register holds the layer
    LodMode,            // LodMode
    Offset,             // OffsetMode: .AOFFI, .PTP
    DepthCompare,       // flag .DC
    Multisample,        // flag .MS
    Bindless,           // flag .B: the handle is in a register
    Nodep,              // flag .NODEP
    Ndv,                // flag .NDV
    LodClamp,           // flag .LC, .CL
    GatherComponent,    // number 0-3: R, G, B, A
    HalfResult,         // flag .F16
    ComponentMask,      // number: one bit per component R, G, B, A
    TextureQuery,       // number: the query of TXQ
    SurfaceDimension,   // SurfaceDimension
    SurfaceClamp,       // SurfaceClamp
    SurfaceByteAddress, // flag .BA
    SurfaceTyped,       // flag: 1 for .P (formatted), 0 for .D (raw)
    // Warp
    VoteMode,        // VoteMode
    VoteTarget,      // VoteTarget: VOTE.VTG
    ShuffleMode,     // ShuffleMode
    SwizzleMask,     // number: FSWZADD, eight signs of two bits
    BarrierMode,     // BarrierMode: BAR
    BarrierOp,       // BoolOp-like: BAR.RED, see BarrierReduction
    R2bMode,         // R2bMode
    ByteSelect,      // number 0-3: the byte that R2P, P2R work on
    ToConditionCode, // flag: R2P, P2R work on the condition code instead of the predicates
    // Others
    BreakpointKind,  // BreakpointKind
    RttMode,         // RttMode
    InterruptEnable, // flag .EN: IDE
    Wait,            // flag .WAIT: STP
    LessEqual,       // flag .LE: DEPBAR waits for a count
    Trigger,         // flag .TRIG: NOP
    Count_,
};

inline constexpr unsigned modifier_count = static_cast<unsigned>(Modifier::Count_);

enum class FloatMode : u8 { None, Ftz, Fmz };
enum class Rounding : u8 { Nearest, Down, Up, Zero };                    // RN, RM, RP, RZ
enum class IntegerRounding : u8 { None, Nearest, Down, Up, Zero, Pass }; // -, ROUND, FLOOR, CEIL, TRUNC, PASS
enum class Scale : u8 { None, D2, D4, D8, M8, M4, M2 };
// One list for integers and floats: integer comparisons use False to GreaterEqual and True.
enum class Compare : u8 {
    False,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Number,
    Nan,
    LessUnordered,
    EqualUnordered,
    LessEqualUnordered,
    GreaterUnordered,
    NotEqualUnordered,
    GreaterEqualUnordered,
    True
};
enum class BoolOp : u8 { And, Or, Xor };
enum class LogicOp : u8 { And, Or, Xor, PassB };
enum class PredicateResult : u8 { False, True, Zero, NotZero };
enum class DataType : u8 {
    None,
    U8,
    S8,
    U16,
    S16,
    U24,
    S24,
    U32,
    S32,
    U64,
    S64,
    U128,
    B32,
    B64,
    B96,
    B128,
    F16,
    F32,
    F64,
    F16x2,
    U16H0,
    U16H1,
    S16H0,
    S16H1, // IMADSP
    SD32,
    SD64, // surface atomics
    Cas32,
    Cas64, // ATOMS.CAST and kin
    UD,
    SD, // video destinations: unsigned, signed
    F32FtzRn,
    F16x2FtzRn, // atomics: printed .F32.FTZ.RN
};
// Bits of a value; 32 for the types that only say how a word is used, None among them.
[[nodiscard]] constexpr unsigned bits_of(DataType type) {
    using enum DataType;
    switch (type) {
    case U8:
    case S8:
        return 8;
    case U16:
    case S16:
    case F16:
        return 16;
    case U24:
    case S24:
        return 24;
    case U64:
    case S64:
    case SD64:
    case B64:
    case F64:
        return 64;
    case B96:
        return 96;
    case U128:
    case B128:
        return 128;
    default:
        return 32;
    }
}
// Registers of a value.
[[nodiscard]] constexpr unsigned words_of(DataType type) {
    return (bits_of(type) + 31) / 32;
}
[[nodiscard]] constexpr bool is_signed(DataType type) {
    using enum DataType;
    return type == S8 || type == S16 || type == S24 || type == S32 || type == S64 || type == SD32 || type == SD64 ||
           type == SD;
}
enum class MultiFunction : u8 { Cos, Sin, Ex2, Lg2, Rcp, Rsq, Rcp64H, Rsq64H, Sqrt };
enum class RangeReduction : u8 { SinCos, Ex2 };
enum class FunnelHigh : u8 { None, Hi, X, Xhi };
enum class MinMaxExtended : u8 { None, Xlo, Xmed, Xhi };
enum class PermuteMode : u8 { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
enum class Add3Shift : u8 { None, Right, Left }; // .RS, .LS: (A + B) shifted by 16, then + C
enum class XmadMode : u8 { None, Clo, Chi, Csfu, Cbcc };
enum class HalfMerge : u8 { F16, F32, MergeLow, MergeHigh };
enum class VideoOp : u8 { MergeHigh16, MergeLow16, MergeByte0, MergeByte2, Accumulate, Min, Max, None };
enum class VideoShift : u8 { None, Shr7, Shr15 };
enum class Test : u8 { // of the condition code {overflow, carry, sign, zero}
    True,
    False,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Number,
    Nan,
    LessUnordered,
    EqualUnordered,
    LessEqualUnordered,
    GreaterUnordered,
    NotEqualUnordered,
    GreaterEqualUnordered,
    NotOverflow,
    Lower,
    NotSign,
    LowerSame,
    Higher,
    Sign,
    HigherSame,
    Overflow,
    CsmTa,
    CsmTr,
    CsmMx,
    FcsmTa,
    FcsmTr,
    FcsmMx,
    Rle,
    Rgt
};
enum class CacheMode : u8 { None, Cg, Ci, Cv, Cs, Wt, Lu };
enum class AtomicOp : u8 { Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas, SafeAdd, Cast, CasSpin, CastSpin };
enum class LdcMode : u8 { None, Il, Is, Isl };
enum class CacheOp : u8 { Qry1, Pf1, Pf15, Pf2, Wb, Iv, Ivall, Rs, Rslb, Wballl };
enum class CacheTarget : u8 { D, U, C, I, Crs };
enum class MemoryScope : u8 { Cta, Gl, Sys, Vc };
enum class Invalidate : u8 { None, D, T, TD };
enum class InterpolationMode : u8 { Pass, Perspective, Constant, Sc }; // IPA.PASS, IPA, IPA.CONSTANT, IPA.SC
enum class SampleMode : u8 { Default, Centroid, Offset };
enum class PixelOp : u8 { Count, CovMask, Covered, Offset, CentroidOffset, MyIndex };
enum class OutputOp : u8 { None, Emit, Cut, EmitThenCut };
enum class IsberdMode : u8 { Default, Patch, Prim, Attr };
enum class Dimension : u8 { D1, D2, D3, Cube };
enum class LodMode : u8 { Auto, Zero, Bias, Level, BiasArray, LevelArray }; // -, .LZ, .LB, .LL, .LBA, .LLA
enum class OffsetMode : u8 { None, Aoffi, Ptp };
enum class SurfaceDimension : u8 { D1, Buffer, D1Array, D2, D2Array, D3 };
enum class SurfaceClamp : u8 { Ignore, None, Trap };
enum class VoteMode : u8 { All, Any, Equal };
enum class VoteTarget : u8 { None, R, A, RA };
enum class ShuffleMode : u8 { Index, Up, Down, Butterfly };
enum class BarrierMode : u8 { Sync, Arrive, Reduce, Scan, SyncAll };
enum class BarrierReduction : u8 { PopCount, And, Or };
enum class R2bMode : u8 { None, Warp, Result };
enum class BreakpointKind : u8 { DrainIllegal, Cal, Pause, Trap, Int, Drain };
enum class RttMode : u8 { None, Preempted, FallThrough, Terminate };

// The field that get<E>() reads when no field is named.
// clang-format off
template <class E> inline constexpr Modifier modifier_of = Modifier::Count_;
#define HEAVISIDE_MODIFIER(type) template <> inline constexpr Modifier modifier_of<type> = Modifier::type;
HEAVISIDE_MODIFIER(FloatMode) HEAVISIDE_MODIFIER(Rounding) HEAVISIDE_MODIFIER(IntegerRounding)
HEAVISIDE_MODIFIER(Scale) HEAVISIDE_MODIFIER(Compare) HEAVISIDE_MODIFIER(BoolOp) HEAVISIDE_MODIFIER(LogicOp)
HEAVISIDE_MODIFIER(PredicateResult) HEAVISIDE_MODIFIER(DataType) HEAVISIDE_MODIFIER(MultiFunction)
HEAVISIDE_MODIFIER(RangeReduction) HEAVISIDE_MODIFIER(FunnelHigh) HEAVISIDE_MODIFIER(MinMaxExtended)
HEAVISIDE_MODIFIER(PermuteMode) HEAVISIDE_MODIFIER(Add3Shift) HEAVISIDE_MODIFIER(XmadMode)
HEAVISIDE_MODIFIER(HalfMerge) HEAVISIDE_MODIFIER(VideoOp) HEAVISIDE_MODIFIER(VideoShift) HEAVISIDE_MODIFIER(Test)
HEAVISIDE_MODIFIER(CacheMode) HEAVISIDE_MODIFIER(AtomicOp) HEAVISIDE_MODIFIER(LdcMode) HEAVISIDE_MODIFIER(CacheOp)
HEAVISIDE_MODIFIER(CacheTarget) HEAVISIDE_MODIFIER(MemoryScope) HEAVISIDE_MODIFIER(Invalidate)
HEAVISIDE_MODIFIER(InterpolationMode) HEAVISIDE_MODIFIER(SampleMode) HEAVISIDE_MODIFIER(PixelOp)
HEAVISIDE_MODIFIER(OutputOp) HEAVISIDE_MODIFIER(IsberdMode) HEAVISIDE_MODIFIER(Dimension) HEAVISIDE_MODIFIER(LodMode)
HEAVISIDE_MODIFIER(SurfaceDimension) HEAVISIDE_MODIFIER(SurfaceClamp)
HEAVISIDE_MODIFIER(VoteMode) HEAVISIDE_MODIFIER(VoteTarget) HEAVISIDE_MODIFIER(ShuffleMode)
HEAVISIDE_MODIFIER(BarrierMode) HEAVISIDE_MODIFIER(R2bMode) HEAVISIDE_MODIFIER(BreakpointKind)
HEAVISIDE_MODIFIER(RttMode)
#undef HEAVISIDE_MODIFIER
template <> inline constexpr Modifier modifier_of<OffsetMode> = Modifier::Offset;
template <> inline constexpr Modifier modifier_of<BarrierReduction> = Modifier::BarrierOp;
// clang-format on

} // namespace heaviside::maxwell
