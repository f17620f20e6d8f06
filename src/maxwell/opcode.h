// The 153 mnemonics of the Maxwell (SM 5.x) instruction set, by name.
#pragma once

#include "base/types.h"

#include <string_view>

namespace heaviside::maxwell {

// clang-format off
#define HEAVISIDE_MAXWELL_OPCODES(X) \
    X(AL2P) X(ALD) X(AST) X(ATOM) X(ATOMS) X(B2R) X(BAR) X(BFE) X(BFI) X(BPT) X(BRA) X(BRK) X(BRX) X(CAL) X(CCTL) \
    X(CCTLL) X(CCTLT) X(CONT) X(CS2R) X(CSET) X(CSETP) X(DADD) X(DEPBAR) X(DFMA) X(DMNMX) X(DMUL) X(DSET) X(DSETP) \
    X(EXIT) X(F2F) X(F2I) X(FADD) X(FADD32I) X(FCHK) X(FCMP) X(FFMA) X(FFMA32I) X(FLO) X(FMNMX) X(FMUL) X(FMUL32I) \
    X(FSET) X(FSETP) X(FSWZADD) X(GETCRSPTR) X(GETLMEMBASE) X(HADD2) X(HADD2_32I) X(HFMA2) X(HFMA2_32I) X(HMUL2) \
    X(HMUL2_32I) X(HSET2) X(HSETP2) X(I2F) X(I2I) X(IADD) X(IADD3) X(IADD32I) X(ICMP) X(IDE) X(IMAD) X(IMAD32I) \
    X(IMADSP) X(IMNMX) X(IMUL) X(IMUL32I) X(IPA) X(ISBERD) X(ISCADD) X(ISCADD32I) X(ISET) X(ISETP) X(JCAL) X(JMP) \
    X(JMX) X(KIL) X(LD) X(LDC) X(LDG) X(LDL) X(LDS) X(LEA) X(LEPC) X(LONGJMP) X(LOP) X(LOP3) X(LOP32I) X(MEMBAR) \
    X(MOV) X(MOV32I) X(MUFU) X(NOP) X(OUT) X(P2R) X(PBK) X(PCNT) X(PEXIT) X(PIXLD) X(PLONGJMP) X(POPC) X(PRET) \
    X(PRMT) X(PSET) X(PSETP) X(R2B) X(R2P) X(RAM) X(RED) X(RET) X(RRO) X(RTT) X(S2R) X(SAM) X(SEL) X(SETCRSPTR) \
    X(SETLMEMBASE) X(SHF) X(SHFL) X(SHL) X(SHR) X(SSY) X(ST) X(STG) X(STL) X(STP) X(STS) X(SUATOM) X(SULD) \
    X(SURED) X(SUST) X(SYNC) X(TEX) X(TEXS) X(TLD) X(TLD4) X(TLD4S) X(TLDS) X(TMML) X(TXA) X(TXD) X(TXQ) \
    X(VABSDIFF) X(VABSDIFF4) X(VADD) X(VMAD) X(VMNMX) X(VOTE) X(VSET) X(VSETP) X(VSHL) X(VSHR) X(XMAD)
// clang-format on

enum class Opcode : u8 {
#define HEAVISIDE_OPCODE(name) name,
    HEAVISIDE_MAXWELL_OPCODES(HEAVISIDE_OPCODE)
#undef HEAVISIDE_OPCODE
};

inline constexpr unsigned opcode_count = 153;

// The mnemonic, e.g. "FADD32I". Static storage.
[[nodiscard]] std::string_view mnemonic(Opcode opcode);

} // namespace heaviside::maxwell
