// The operations of the IR, one row each: X(Op, text, result, operands, imm, mods, effect).
//
//   result    type of the value: Void, U1, U32, U64, U32x2, U32x4; Same: that of the first operand (second for Select);
//             Any: chosen by the instruction (its own Inst::type)
//   operands  one letter each: b U1, w U32, q U64, v U32x2 or U32x4, x any; '*': any number of further U32 or U64
//   imm       what Inst::imm means: None, Register, Predicate, Flag, Component, Bank, Address, Lane, Index, Special
//   mods      how Inst::mods is read: None, Float, Compare, Memory, Atomic, Attribute, Interpolate, Texture, Image
//   effect    Pure: may be removed or merged; Read: may be removed, not moved; Write: stays
#pragma once

// clang-format off
#define HEAVISIDE_IR_OPS(X) \
    /* Structure. Const: imm = low word (or the U1), mods = high word; lives in no block. Phi: operand i comes from */ \
    /* predecessor i of its block. Guest registers exist only until SSA construction. */ \
    X(Const,        "const",         Any,   "",    None,      None,   Pure) \
    X(Phi,          "phi",           Any,   "*",   None,      None,   Pure) \
    X(Copy,         "copy",          Same,  "x",   None,      None,   Pure) \
    X(GetRegister,  "get_register",  U32,   "",    Register,  None,   Read) \
    X(SetRegister,  "set_register",  Void,  "w",   Register,  None,   Write) \
    X(GetPredicate, "get_predicate", U1,    "",    Predicate, None,   Read) \
    X(SetPredicate, "set_predicate", Void,  "b",   Predicate, None,   Write) \
    X(GetFlag,      "get_flag",      U1,    "",    Flag,      None,   Read) \
    X(SetFlag,      "set_flag",      Void,  "b",   Flag,      None,   Write) \
    /* Pieces. Extract: component imm of a vector. */ \
    X(Extract,      "extract",       U32,   "v",   Component, None,   Pure) \
    X(Pack64,       "pack64",        U64,   "ww",  None,      None,   Pure) /* low word, high word */ \
    X(Low,          "low",           U32,   "q",   None,      None,   Pure) \
    X(High,         "high",          U32,   "q",   None,      None,   Pure) \
    X(Select,       "select",        Same,  "bxx", None,      None,   Pure) /* condition ? second : third */ \
    X(BoolToMask,   "mask",          U32,   "b",   None,      None,   Pure) /* 0xffffffff or 0 */ \
    /* Booleans. */ \
    X(BoolAnd,      "band",          U1,    "bb",  None,      None,   Pure) \
    X(BoolOr,       "bor",           U1,    "bb",  None,      None,   Pure) \
    X(BoolXor,      "bxor",          U1,    "bb",  None,      None,   Pure) \
    X(BoolNot,      "bnot",          U1,    "b",   None,      None,   Pure) \
    /* 32-bit integers; arithmetic wraps. */ \
    X(And,          "and",           U32,   "ww",  None,      None,   Pure) \
    X(Or,           "or",            U32,   "ww",  None,      None,   Pure) \
    X(Xor,          "xor",           U32,   "ww",  None,      None,   Pure) \
    X(Not,          "not",           U32,   "w",   None,      None,   Pure) \
    X(IAdd,         "iadd",          U32,   "ww",  None,      None,   Pure) \
    X(ISub,         "isub",          U32,   "ww",  None,      None,   Pure) \
    X(IMul,         "imul",          U32,   "ww",  None,      None,   Pure) \
    X(IMulHighU,    "imulhi_u",      U32,   "ww",  None,      None,   Pure) \
    X(IMulHighS,    "imulhi_s",      U32,   "ww",  None,      None,   Pure) \
    X(INeg,         "ineg",          U32,   "w",   None,      None,   Pure) \
    X(IAbs,         "iabs",          U32,   "w",   None,      None,   Pure) /* |0x80000000| is itself */ \
    X(AddCarry,     "carry",         U1,    "wwb", None,      None,   Pure) /* carry out of first + second + third */ \
    X(AddOverflow,  "overflow",      U1,    "wwb", None,      None,   Pure) /* signed overflow of that sum */ \
    X(IMinS,        "imin_s",        U32,   "ww",  None,      None,   Pure) \
    X(IMinU,        "imin_u",        U32,   "ww",  None,      None,   Pure) \
    X(IMaxS,        "imax_s",        U32,   "ww",  None,      None,   Pure) \
    X(IMaxU,        "imax_u",        U32,   "ww",  None,      None,   Pure) \
    /* Shift counts are unsigned and clamp: 32 and more give 0 (ShiftRightS: the sign). Mask with 31 to wrap. */ \
    X(ShiftLeft,    "shl",           U32,   "ww",  None,      None,   Pure) \
    X(ShiftRightU,  "shr_u",         U32,   "ww",  None,      None,   Pure) \
    X(ShiftRightS,  "shr_s",         U32,   "ww",  None,      None,   Pure) \
    /* {second:first} as 64 bits, shifted by the third (clamped to 32): high word of <<, low word of logical >>. */ \
    X(FunnelLeft,   "funnel_l",      U32,   "www", None,      None,   Pure) \
    X(FunnelRight,  "funnel_r",      U32,   "www", None,      None,   Pure) \
    /* value, position, length, both any unsigned number. Bits beyond 31 read as 0 (S: as bit 31); length 0 gives 0. */ \
    X(BitExtractU,  "bfe_u",         U32,   "www", None,      None,   Pure) \
    X(BitExtractS,  "bfe_s",         U32,   "www", None,      None,   Pure) \
    X(BitInsert,    "bfi",           U32,   "wwww", None,     None,   Pure) /* base, insert, position, length */ \
    X(BitReverse,   "brev",          U32,   "w",   None,      None,   Pure) \
    X(PopCount,     "popc",          U32,   "w",   None,      None,   Pure) \
    X(FindMsbU,     "flo_u",         U32,   "w",   None,      None,   Pure) /* bit number, 0xffffffff if none */ \
    X(FindMsbS,     "flo_s",         U32,   "w",   None,      None,   Pure) /* highest bit unlike the sign, or ~0 */ \
    X(ICompareS,    "icmp_s",        U1,    "ww",  None,      Compare, Pure) /* relations F LT EQ LE GT NE GE T */ \
    X(ICompareU,    "icmp_u",        U1,    "ww",  None,      Compare, Pure) \
    /* 64-bit integers. Shift counts are U32 and clamp at 64 like the 32-bit ones. */ \
    X(IAdd64,       "iadd64",        U64,   "qq",  None,      None,   Pure) \
    X(ISub64,       "isub64",        U64,   "qq",  None,      None,   Pure) \
    X(ShiftLeft64,  "shl64",         U64,   "qw",  None,      None,   Pure) \
    X(ShiftRightU64, "shr64_u",      U64,   "qw",  None,      None,   Pure) \
    X(ShiftRightS64, "shr64_s",      U64,   "qw",  None,      None,   Pure) \
    X(IMulWideU,    "imulwide_u",    U64,   "ww",  None,      None,   Pure) \
    X(IMulWideS,    "imulwide_s",    U64,   "ww",  None,      None,   Pure) \
    X(SignExtend64, "sext64",        U64,   "w",   None,      None,   Pure) \
    /* 32-bit floats. mods Float: rounding, ftz (denormal operands and results become zero of their sign), fmz (ftz, */ \
    /* and a product with a zero factor is +0 whatever the other factor), scale (FMul). Each operation rounds once; */ \
    /* never contracted. */ \
    X(FAdd,         "fadd",          U32,   "ww",  None,      Float,  Pure) \
    X(FMul,         "fmul",          U32,   "ww",  None,      Float,  Pure) \
    X(FFma,         "ffma",          U32,   "www", None,      Float,  Pure) \
    X(FMin,         "fmin",          U32,   "ww",  None,      Float,  Pure) /* of a NaN and a number: the number */ \
    X(FMax,         "fmax",          U32,   "ww",  None,      Float,  Pure) \
    X(FNeg,         "fneg",          U32,   "w",   None,      None,   Pure) /* flips the sign bit */ \
    X(FAbs,         "fabs",          U32,   "w",   None,      None,   Pure) /* clears the sign bit */ \
    X(FSaturate,    "fsat",          U32,   "w",   None,      None,   Pure) /* to 0..1, NaN gives 0 */ \
    X(FFlush,       "fflush",        U32,   "w",   None,      None,   Pure) /* denormals become zero of their sign */ \
    X(FRoundInt,    "fround",        U32,   "w",   None,      Float,  Pure) /* RN to even, RM floor, RP ceil, RZ trunc */ \
    X(FCompare,     "fcmp",          U1,    "ww",  None,      Compare, Pure) /* mods: Relation | float_ftz */ \
    X(FRcp,         "frcp",          U32,   "w",   None,      Float,  Pure) /* MUFU precision: approximations */ \
    X(FRsq,         "frsq",          U32,   "w",   None,      Float,  Pure) \
    X(FSqrt,        "fsqrt",         U32,   "w",   None,      Float,  Pure) \
    X(FSin,         "fsin",          U32,   "w",   None,      Float,  Pure) /* radians: RRO is the identity */ \
    X(FCos,         "fcos",          U32,   "w",   None,      Float,  Pure) \
    X(FEx2,         "fex2",          U32,   "w",   None,      Float,  Pure) \
    X(FLg2,         "flg2",          U32,   "w",   None,      Float,  Pure) \
    X(Rcp64High,    "rcp64h",        U32,   "w",   None,      None,   Pure) /* high word of 1/x, x = {w, 0} as double */ \
    X(Rsq64High,    "rsq64h",        U32,   "w",   None,      None,   Pure) \
    /* imm: FSWZADD's 8-bit mask, two bits per quad lane, lane 0 in bits 6-7: 0 PP a+b, 1 NP b-a, 2 PN a-b, 3 ZP b. */ \
    X(FSwizzleAdd,  "fswzadd",       U32,   "ww",  Lane,      Float,  Pure) \
    /* Doubles in U64. */ \
    X(DAdd,         "dadd",          U64,   "qq",  None,      Float,  Pure) \
    X(DMul,         "dmul",          U64,   "qq",  None,      Float,  Pure) \
    X(DFma,         "dfma",          U64,   "qqq", None,      Float,  Pure) \
    X(DMin,         "dmin",          U64,   "qq",  None,      None,   Pure) \
    X(DMax,         "dmax",          U64,   "qq",  None,      None,   Pure) \
    X(DNeg,         "dneg",          U64,   "q",   None,      None,   Pure) \
    X(DAbs,         "dabs",          U64,   "q",   None,      None,   Pure) \
    X(DRoundInt,    "dround",        U64,   "q",   None,      Float,  Pure) \
    X(DCompare,     "dcmp",          U1,    "qq",  None,      Compare, Pure) \
    /* Halves. Arithmetic on them is done in F32 and rounded by PackHalf2 (exact for add, mul, min, max of halves). ftz */ \
    /* means halves too: HalfToFloat's source, PackHalf2's result; not FloatToHalf. */ \
    X(HalfToFloat,  "half_to_f32",   U32,   "w",   Component, Float,  Pure) /* half imm (0 low, 1 high), exact */ \
    X(FloatToHalf,  "f32_to_half",   U32,   "w",   None,      Float,  Pure) /* to bits 0-15, high half zero */ \
    X(PackHalf2,    "pack_half2",    U32,   "ww",  None,      Float,  Pure) /* low, high: each rounded to half */ \
    X(PackHalf2Fma, "pack_half2_fma", U32,  "wwwwww", None,   Float,  Pure) /* a0 b0 c0 a1 b1 c1: fma, one rounding */ \
    /* Conversions. Float to integer rounds by mods and saturates; NaN gives 0. Integer to float rounds by mods. */ \
    X(F32ToS32,     "f32_to_s32",    U32,   "w",   None,      Float,  Pure) \
    X(F32ToU32,     "f32_to_u32",    U32,   "w",   None,      Float,  Pure) \
    X(F32ToS64,     "f32_to_s64",    U64,   "w",   None,      Float,  Pure) \
    X(F32ToU64,     "f32_to_u64",    U64,   "w",   None,      Float,  Pure) \
    X(F64ToS32,     "f64_to_s32",    U32,   "q",   None,      Float,  Pure) \
    X(F64ToU32,     "f64_to_u32",    U32,   "q",   None,      Float,  Pure) \
    X(F64ToS64,     "f64_to_s64",    U64,   "q",   None,      Float,  Pure) \
    X(F64ToU64,     "f64_to_u64",    U64,   "q",   None,      Float,  Pure) \
    X(S32ToF32,     "s32_to_f32",    U32,   "w",   None,      Float,  Pure) \
    X(U32ToF32,     "u32_to_f32",    U32,   "w",   None,      Float,  Pure) \
    X(S64ToF32,     "s64_to_f32",    U32,   "q",   None,      Float,  Pure) \
    X(U64ToF32,     "u64_to_f32",    U32,   "q",   None,      Float,  Pure) \
    X(S32ToF64,     "s32_to_f64",    U64,   "w",   None,      Float,  Pure) \
    X(U32ToF64,     "u32_to_f64",    U64,   "w",   None,      Float,  Pure) \
    X(S64ToF64,     "s64_to_f64",    U64,   "q",   None,      Float,  Pure) \
    X(U64ToF64,     "u64_to_f64",    U64,   "q",   None,      Float,  Pure) \
    X(F32ToF64,     "f32_to_f64",    U64,   "w",   None,      Float,  Pure) /* ftz flushes the operand */ \
    X(F64ToF32,     "f64_to_f32",    U32,   "q",   None,      Float,  Pure) /* ftz flushes the result */ \
    /* Memory. LoadBank: word at byte offset `operand & ~3` of c[imm]; 0 beyond the bank or 64 KiB. Loads give U32 for */ \
    /* U8..B32 (extended), U32x2, U32x4; stores take 1, 2 or 4 words behind the address. Unaligned: low bits ignored. */ \
    X(LoadBank,     "load_bank",     U32,   "w",   Bank,      None,   Pure) \
    X(LoadGlobal,   "load_global",   Any,   "q",   None,      Memory, Read) \
    X(StoreGlobal,  "store_global",  Void,  "q*",  None,      Memory, Write) \
    X(LoadShared,   "load_shared",   Any,   "w",   None,      Memory, Read) \
    X(StoreShared,  "store_shared",  Void,  "w*",  None,      Memory, Write) \
    X(LoadLocal,    "load_local",    Any,   "w",   None,      Memory, Read) \
    X(StoreLocal,   "store_local",   Void,  "w*",  None,      Memory, Write) \
    /* address, value (CompareExchange: address, compare, value); result: the old value, U32 or U64 by AtomicType. */ \
    X(AtomicGlobal, "atomic_global", Any,   "q*",  None,      Atomic, Write) \
    X(AtomicShared, "atomic_shared", Any,   "w*",  None,      Atomic, Write) \
    /* Stage interface by guest attribute byte address. Operands after the value: vertex index if attribute_vertex, */ \
    /* then a byte offset added to the address if attribute_indexed. */ \
    X(LoadAttribute, "load_attribute", U32, "*",   Address,   Attribute, Read) \
    X(StoreAttribute, "store_attribute", Void, "w*", Address, Attribute, Write) \
    /* Fragment input. Operands by mods: multiplier (mode Multiply), offset word (sampling Offset: as IPA takes it: */ \
    /* s16 x low, s16 y high, units of 1/4096 pixel), byte offset (indexed). Pass gives value / w for perspective inputs. */ \
    X(Interpolate,  "interpolate",   U32,   "*",   Address,   Interpolate, Pure) \
    X(StoreColor,   "store_color",   Void,  "w",   Index,     None,   Write) /* imm = target * 4 + component */ \
    X(StoreDepth,   "store_depth",   Void,  "w",   None,      None,   Write) \
    X(StoreSampleMask, "store_sample_mask", Void, "w", None,  None,   Write) \
    /* Textures; operands in this order, those that mods (TextureMods) and dimension ask for: handle word, coordinates */ \
    /* (D1 1, D2 2, D3 and cube 3; floats, for Fetch integers), layer (arrays; integer), gradients (SampleGradient: */ \
    /* per axis dx, dy: x.dx x.dy y.dx y.dy ...), lod or bias (float; Fetch: integer level), sample (multisample), */ \
    /* depth reference, offsets (one signed integer per axis; gather4: x0 y0 .. x3 y3), minimum lod. Handle: bits */ \
    /* 0-19 texture, 20-31 sampler. Result: four words as the format's class delivers them; a depth comparison gives its */ \
    /* result in component 0 (Gather: four). */ \
    X(Sample,       "sample",        U32x4, "w*",  None,      Texture, Pure) \
    X(SampleGradient, "sample_grad", U32x4, "w*",  None,      Texture, Pure) \
    X(Gather,       "gather",        U32x4, "w*",  None,      Texture, Pure) \
    X(Fetch,        "fetch",         U32x4, "w*",  None,      Texture, Pure) \
    X(QuerySize,    "query_size",    U32x4, "ww",  None,      Texture, Pure) /* handle, level: w, h, d or layers, levels */ \
    X(QuerySamples, "query_samples", U32,   "w",   None,      Texture, Pure) \
    X(QueryLod,     "query_lod",     U32x2, "w*",  None,      Texture, Pure) /* floats: clamped, unclamped level */ \
    /* Images: handle, coordinates (integers, layer last), then for stores four words (raw: 1, 2 or 4), for atomics */ \
    /* value (CompareExchange: compare, value). x counts texels in all forms. */ \
    X(ImageLoad,    "image_load",    U32x4, "w*",  None,      Image,  Read) \
    X(ImageStore,   "image_store",   Void,  "w*",  None,      Image,  Write) \
    X(ImageAtomic,  "image_atomic",  U32,   "w*",  None,      Image,  Write) \
    X(QueryImageSize, "query_image_size", U32x4, "w", None,   Image,  Pure) \
    /* Threads of a group and of a warp. */ \
    X(Barrier,      "barrier",       Void,  "",    None,      None,   Write) \
    X(BarrierReduce, "barrier_reduce", U32, "b",   Index,     None,   Write) /* imm 0 popcount, 1 all, 2 any (0 or ~0) */ \
    X(MemoryBarrier, "memory_barrier", Void, "",   Index,     None,   Write) /* imm 0 group, 1 device, 2 system */ \
    X(VoteAll,      "vote_all",      U1,    "b",   None,      None,   Read) \
    X(VoteAny,      "vote_any",      U1,    "b",   None,      None,   Read) \
    X(VoteEqual,    "vote_equal",    U1,    "b",   None,      None,   Read) \
    X(Ballot,       "ballot",        U32,   "b",   None,      None,   Read) \
    /* SHFL: value, lane operand, clamp and segment mask word as the instruction takes them; imm 0 IDX, 1 UP, 2 DOWN, */ \
    /* 3 BFLY. ShuffleValid: its predicate result. */ \
    X(Shuffle,      "shuffle",       U32,   "www", Index,     None,   Read) \
    X(ShuffleValid, "shuffle_valid", U1,    "ww",  Index,     None,   Read) \
    X(ShuffleSource, "shuffle_source", U32, "ww",  Index,     None,   Read) /* lane operand, mask: the lane that is read */ \
    /* All threads of the group pass it together: state (~0: over; odd: a barrier of the group), word, lane. Gives 1 to */ \
    /* threads that may go on, 0 to those that wait, 2 when all are over; then the lane's word, a mask of the lanes in */ \
    /* this thread's state whose word is not 0, and one of the lanes in it (barrier: how many threads of the group). */ \
    X(Meet,         "meet",          U32x4, "www", None,      None,   Write) \
    X(ReadSpecial,  "special",       U32,   "",    Special,   None,   Pure) \
    X(IsHelper,     "is_helper",     U1,    "",    None,      None,   Read) \
    X(Demote,       "demote",        Void,  "",    None,      None,   Write) /* KIL: the lane goes on as a helper */ \
    X(EmitVertex,   "emit_vertex",   Void,  "",    Index,     None,   Write) /* imm: stream */ \
    X(EndPrimitive, "end_primitive", Void,  "",    Index,     None,   Write)
// clang-format on
