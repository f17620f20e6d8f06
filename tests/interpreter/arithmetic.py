#!/usr/bin/env python3
"""Writes tests/data/arithmetic.tsv: one instruction a row with its operands and its result, in the format of
shared/isa/hardware.tsv. The results are worked out here with integers and fractions of any size from the instructions'
definitions (docs/isa.md), independently of the interpreter. Usage: arithmetic.py > ../data/arithmetic.tsv, which keeps
every fifth row, and all with long immediates; arithmetic.py --all writes all."""
import random
import struct
import sys
from fractions import Fraction

M32 = 0xffffffff
random.seed(20)
EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, M32]


def word():
    return random.choice(EDGES) if random.random() < 0.4 else random.getrandbits(32)


def signed(x, bits=32):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


count = 0
every = 1 if '--all' in sys.argv else 5


def row(group, words, text, expected, reg=2):
    global count
    count += 1
    if count % every:
        return
    setup = [f'MOV R{4 + i}, c[0x2][{4 * i:#x}]' for i in range(len(words))]
    print(group, ' '.join(f'{w:08x}' for w in words), '; '.join(setup + [text]), f'R{reg}', f'{expected & M32:08x}', sep='\t')


def flags_row(group, words, text, flags):
    row(group, words, text + '; P2R R2, CC, RZ, 0xff', flags)


def zs(x):
    return (x & M32 == 0) | (x >> 31 & 1) << 1


# Binary floats: a value is 'nan', ('inf', sign) or (sign, Fraction).
F16, F32, F64 = (5, 10), (8, 23), (11, 52)


def size(f):
    return 1 + f[0] + f[1]


def unpack(f, bits, ftz=False):
    e, m = f
    sign, exp, frac = bits >> (e + m) & 1, bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    bias = (1 << (e - 1)) - 1
    if exp == (1 << e) - 1:
        return 'nan' if frac else ('inf', sign)
    if exp == 0:
        return (sign, Fraction(0) if ftz else Fraction(frac) / 2 ** (bias - 1 + m))
    return (sign, Fraction((1 << m) + frac) * Fraction(2) ** (exp - bias - m))


def integer(q, mode, sign):  # of a magnitude
    whole = q.numerator // q.denominator
    rest = q - whole
    if mode == 'RN':
        return whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1))
    return whole + (rest > 0 and ((mode == 'RP' and not sign) or (mode == 'RM' and sign)))


def pack(f, v, mode='RN', ftz=False):
    e, m = f
    bias = (1 << (e - 1)) - 1
    if v == 'nan':
        return (1 << (e + m)) - 1
    if v[0] == 'inf':
        return v[1] << (e + m) | ((1 << e) - 1) << m
    sign, q = v
    s = sign << (e + m)
    if q == 0:
        return s
    exp = 0
    while q >= Fraction(2) ** (exp + 1):
        exp += 1
    while q < Fraction(2) ** exp:
        exp -= 1
    full = integer(q * Fraction(2) ** (m - exp), mode, sign) * Fraction(2) ** (exp - m)
    smallest = Fraction(2) ** (1 - bias)
    if full < smallest:
        if ftz:
            return s
        return s | integer(q * Fraction(2) ** (bias - 1 + m), mode, sign)
    if full >= Fraction(2) ** (bias + 1):
        largest = mode == 'RZ' or (mode == 'RP' and sign) or (mode == 'RM' and not sign)
        return s | ((((1 << e) - 1) << m) - (1 if largest else 0))
    exp = max(exp, 1 - bias)
    if full >= Fraction(2) ** (exp + 1):
        exp += 1
    return s | (exp + bias) << m | int(full * Fraction(2) ** (m - exp)) - (1 << m)


def neg(v):
    return v if v == 'nan' else ('inf', 1 - v[1]) if v[0] == 'inf' else (1 - v[0], v[1])


def mag(v):
    return v if v == 'nan' else ('inf', 0) if v[0] == 'inf' else (0, v[1])


def real(v):
    return -v[1] if v[0] else v[1]


def add(a, b, mode='RN'):
    if 'nan' in (a, b):
        return 'nan'
    if a[0] == 'inf' or b[0] == 'inf':
        if a[0] == b[0] == 'inf':
            return a if a == b else 'nan'
        return a if a[0] == 'inf' else b
    total = real(a) + real(b)
    if total == 0:
        return (a[0] if a[1] == b[1] == 0 and a[0] == b[0] else int(mode == 'RM'), Fraction(0))
    return (int(total < 0), abs(total))


def mul(a, b):
    if 'nan' in (a, b):
        return 'nan'
    sign_a, sign_b = (v[1] if v[0] == 'inf' else v[0] for v in (a, b))
    if a[0] == 'inf' or b[0] == 'inf':
        return 'nan' if 0 in [v[1] for v in (a, b) if v[0] != 'inf'] else ('inf', sign_a ^ sign_b)
    return (sign_a ^ sign_b, a[1] * b[1])


def is_zero(v):
    return v != 'nan' and v[0] != 'inf' and v[1] == 0


def sat(v):
    if v == 'nan' or (v[1] if v[0] == 'inf' else v[0]):
        return (0, Fraction(0))
    return (0, Fraction(1)) if v[0] == 'inf' or v[1] > 1 else v


def key(v):
    return (Fraction(2) ** 2000 * (-1 if v[1] else 1)) if v[0] == 'inf' else real(v)


def ordering(a, b):
    if 'nan' in (a, b):
        return 'U'
    return 'L' if key(a) < key(b) else 'G' if key(a) > key(b) else 'E'


FLOAT_TESTS = {'F': '', 'LT': 'L', 'EQ': 'E', 'LE': 'LE', 'GT': 'G', 'NE': 'LG', 'GE': 'GE', 'NUM': 'LEG', 'NAN': 'U',
               'LTU': 'LU', 'EQU': 'EU', 'LEU': 'LEU', 'GTU': 'GU', 'NEU': 'LGU', 'GEU': 'GEU', 'T': 'LEGU'}
BOOLS = {'AND': lambda a, b: a and b, 'OR': lambda a, b: a or b, 'XOR': lambda a, b: a != b}


def float_bits(f):
    """Numbers near the ends of the range, near halves of the last place, and any."""
    e, m = f
    kind = random.random()
    if kind < 0.15:
        return random.choice([0, 1 << (e + m), 1, (1 << m) - 1, 1 << m, (1 << m) + 1, ((1 << e) - 1) << m,
                              (1 << (e + m)) | ((1 << e) - 1) << m, (((1 << e) - 1) << m) - 1, ((1 << e) - 1) << m | 1 << (m - 1)])
    bias = (1 << (e - 1)) - 1
    if kind < 0.3:
        return random.getrandbits(1) << (e + m) | random.getrandbits(m)
    if kind < 0.75:
        exp = bias + random.randint(-m - 2, m + 2)
        return random.getrandbits(1) << (e + m) | max(1, min(exp, 2 * bias)) << m | random.choice(
            [random.getrandbits(m), 0, (1 << m) - 1, 1 << (m - 1)])
    return random.getrandbits(size(f))


def near_smallest_product():
    """Two singles whose product lies around the smallest normal."""
    a = 0x3f800000 + random.getrandbits(23)
    q = Fraction(2) ** -126 / unpack(F32, a)[1]
    return a, pack(F32, (0, q)) + random.randint(-2, 2)


def mods(*names):
    """Random source modifiers: the text of an operand and what they do to a value."""
    result = []
    for name in names:
        n, a = random.random() < 0.3, random.random() < 0.3
        text = f'|{name}|' if a else name
        result.append((('-' if n else '') + text, lambda v, n=n, a=a: (neg if n else lambda x: x)(mag(v) if a else v)))
    return result


def neg_mods(*names):
    result = []
    for name in names:
        n = random.random() < 0.3
        result.append((('-' if n else '') + name, neg if n else lambda v: v))
    return result


ROUNDINGS = {'': 'RN', '.RM': 'RM', '.RP': 'RP', '.RZ': 'RZ'}


def singles():
    for suffix, mode in ROUNDINGS.items():
        for ftz in ('', '.FTZ'):
            for _ in range(14):
                s = random.choice(['', '', '.SAT'])
                x, y = float_bits(F32), float_bits(F32)
                (ta, fa), (tb, fb) = mods('R4', 'R5')
                a, b = fa(unpack(F32, x, ftz)), fb(unpack(F32, y, ftz))
                v = add(a, b, mode)
                row('fadd', [x, y], f'FADD{ftz}{suffix}{s} R2, {ta}, {tb}',
                    pack(F32, sat(v), mode, ftz) if s else pack(F32, v, mode, ftz))
        for fm in ('', '.FTZ', '.FMZ'):
            for k in range(16):
                s = random.choice(['', '', '.SAT'])
                x, y = near_smallest_product() if k < 6 else (float_bits(F32), float_bits(F32))
                (tb, fb), = neg_mods('R5')
                a, b = unpack(F32, x, fm), fb(unpack(F32, y, fm))
                scale, factor = random.choice([('', 0), ('', 0), ('.D2', -1), ('.D4', -2), ('.D8', -3), ('.M2', 1), ('.M4', 2), ('.M8', 3)])
                v = (0, Fraction(0)) if fm == '.FMZ' and (is_zero(a) or is_zero(b)) else mul(a, b)
                if v != 'nan' and v[0] != 'inf':
                    v = (v[0], v[1] * Fraction(2) ** factor)
                row('fmul', [x, y], f'FMUL{fm}{scale}{suffix}{s} R2, R4, {tb}', pack(F32, sat(v) if s else v, mode, fm))
                z = float_bits(F32)
                (tb, fb), (tc, fc) = neg_mods('R5', 'R6')
                b, c = fb(unpack(F32, y, fm)), fc(unpack(F32, z, fm))
                p = (0, Fraction(0)) if fm == '.FMZ' and (is_zero(a) or is_zero(b)) else mul(a, b)
                v = add(p, c, mode)
                row('ffma', [x, y, z], f'FFMA{fm}{suffix}{s} R2, R4, {tb}, {tc}', pack(F32, sat(v) if s else v, mode, fm))
    for ftz in ('', '.FTZ'):
        for name, test in FLOAT_TESTS.items():
            for _ in range(4):
                x = float_bits(F32)
                y = x if random.random() < 0.3 else float_bits(F32)
                (ta, fa), (tb, fb) = mods('R4', 'R5')
                o = ordering(fa(unpack(F32, x, ftz)), fb(unpack(F32, y, ftz)))
                j, s = random.choice(list(BOOLS)), random.random() < 0.5
                p = 'PT' if s else '!PT'
                hit = BOOLS[j](o in test, s)
                row('fset', [x, y], f'FSET.{name}{ftz}.{j} R2, {ta}, {tb}, {p}', M32 if hit else 0)
                row('fset', [x, y], f'FSET.BF.{name}{ftz}.{j} R2, {ta}, {tb}, {p}', 0x3f800000 if hit else 0)
                other = BOOLS[j](o not in test, s)
                row('fsetp', [x, y], f'FSETP.{name}{ftz}.{j} P0, P1, {ta}, {tb}, {p}; P2R R2, PR, RZ, 0x3', hit | other << 1)
                hit = ordering(unpack(F32, y, ftz), (0, Fraction(0))) in test
                row('fcmp', [x, y], f'FCMP.{name}{ftz} R2, R4, RZ, R5', x if hit else 0)
        for _ in range(30):
            x, y = float_bits(F32), float_bits(F32)
            (ta, fa), (tb, fb) = mods('R4', 'R5')
            a, b = fa(unpack(F32, x, ftz)), fb(unpack(F32, y, ftz))
            if is_zero(a) and is_zero(b):
                continue
            low, high = (b, b) if a == 'nan' else (a, a) if b == 'nan' else sorted((a, b), key=key)
            row('fmnmx', [x, y], f'FMNMX{ftz} R2, {ta}, {tb}, PT', pack(F32, low))
            row('fmnmx', [x, y], f'FMNMX{ftz} R2, {ta}, {tb}, !PT', pack(F32, high))
            for k, signs in enumerate(('PP', 'NP', 'PN', 'ZP')):
                x0 = (0, Fraction(0)) if k == 3 else unpack(F32, x, ftz)
                v = add(neg(x0) if k == 1 else x0, neg(unpack(F32, y, ftz)) if k == 2 else unpack(F32, y, ftz))
                row('fswzadd', [x, y], f'FSWZADD{ftz} R2, R4, R5, {signs}PPPPPP', pack(F32, v, 'RN', ftz))
    for x, flags in ((0, 1), (0x80000000, 1), (0x3f800000, 0), (0xbf800000, 2), (0x7fc00000, 3), (0xff800000, 2)):
        flags_row('fadd', [x], 'FADD RZ.CC, R4, -RZ', flags)


def doubles():
    for suffix, mode in ROUNDINGS.items():
        for _ in range(16):
            x, y, z = float_bits(F64), float_bits(F64), float_bits(F64)
            words = [x & M32, x >> 32, y & M32, y >> 32, z & M32, z >> 32]
            (ta, fa), (tb, fb) = mods('R4', 'R6')
            (tm, fm), (tc, fc) = neg_mods('R6', 'R8')
            a, b, c = (unpack(F64, v) for v in (x, y, z))
            for name, text, v in (('dadd', f'DADD{suffix} R2, {ta}, {tb}', add(fa(a), fb(b), mode)),
                                  ('dmul', f'DMUL{suffix} R2, R4, {tm}', mul(a, fm(b))),
                                  ('dfma', f'DFMA{suffix} R2, R4, {tm}, {tc}', add(mul(a, fm(b)), fc(c), mode))):
                bits = pack(F64, v, mode)
                if v == 'nan':
                    continue
                row(name, words, text, bits)
                row(name, words, text, bits >> 32, 3)
    for name, test in FLOAT_TESTS.items():
        for _ in range(3):
            x = float_bits(F64)
            y = x if random.random() < 0.3 else float_bits(F64)
            words = [x & M32, x >> 32, y & M32, y >> 32]
            (ta, fa), (tb, fb) = mods('R4', 'R6')
            a, b = fa(unpack(F64, x)), fb(unpack(F64, y))
            hit = ordering(a, b) in test
            row('dset', words, f'DSET.{name}.AND R2, {ta}, {tb}, PT', M32 if hit else 0)
            row('dset', words, f'DSET.BF.{name}.AND R2, {ta}, {tb}, PT', 0x3f800000 if hit else 0)
            row('dsetp', words, f'DSETP.{name}.XOR P0, P1, {ta}, {tb}, PT; P2R R2, PR, RZ, 0x3', (not hit) | hit << 1)
            if (is_zero(a) and is_zero(b)) or a == b == 'nan':
                continue
            low, high = (b, b) if a == 'nan' else (a, a) if b == 'nan' else sorted((a, b), key=key)
            row('dmnmx', words, f'DMNMX R2, {ta}, {tb}, PT', pack(F64, low))
            row('dmnmx', words, f'DMNMX R2, {ta}, {tb}, !PT', pack(F64, high) >> 32, 3)


SWIZZLES = {'': lambda w, i: w >> 16 * i & 0xffff, '.H0_H0': lambda w, i: w & 0xffff, '.H1_H1': lambda w, i: w >> 16}


def halves():
    pair = lambda: float_bits(F16) | float_bits(F16) << 16
    for merge in ('', '.F32', '.MRG_H0', '.MRG_H1'):
        for fm in ('', '.FTZ', '.FMZ'):
            for k in range(14):
                s = random.choice(['', '', '.SAT'])
                x, y, z, old = pair(), pair(), pair(), pair()
                (sa, ga), (sb, gb), (sc, gc) = (random.choice(list(SWIZZLES.items())) for _ in range(3))
                single = k % 5 == 0  # A as single precision
                if single:
                    x = float_bits(F32)
                a = [unpack(F32, x, fm) if single else unpack(F16, ga(x, i), fm) for i in range(2)]
                sa = '.F32' if single else sa
                b = [unpack(F16, gb(y, i), fm) for i in range(2)]
                c = [unpack(F16, gc(z, i), fm) for i in range(2)]
                (tb, fb), (tc, fc) = neg_mods('R5' + sb, 'R6' + sc)
                zero = (0, Fraction(0))
                product = [zero if fm == '.FMZ' and (is_zero(p) or is_zero(q)) else mul(p, q) for p, q in zip(a, map(fb, b))]
                ops = [('hmul2', f'HMUL2{merge}{fm}{s} R7, R4{sa}, {tb}', product),
                       ('hfma2', f'HFMA2{merge}{fm}{s} R7, R4{sa}, {tb}, {tc}', [add(p, fc(q)) for p, q in zip(product, c)])]
                if fm != '.FMZ':
                    ops.append(('hadd2', f'HADD2{merge}{fm}{s} R7, R4{sa}, {tb}', [add(p, fb(q)) for p, q in zip(a, b)]))
                for name, text, v in ops:
                    if s:
                        v = [sat(q) for q in v]
                    low, high = (pack(F16, q, 'RN', fm) for q in v)
                    expected = {'': low | high << 16, '.F32': pack(F32, v[0], 'RN', fm),
                                '.MRG_H0': old & 0xffff0000 | low, '.MRG_H1': old & 0xffff | high << 16}[merge]
                    row(name, [x, y, z, old], text, expected, 7)
    for name, test in FLOAT_TESTS.items():
        for ftz in ('', '.FTZ'):
            x = pair()
            y = x if random.random() < 0.3 else pair()
            (sa, ga), (sb, gb) = (random.choice(list(SWIZZLES.items())) for _ in range(2))
            hits = [ordering(unpack(F16, ga(x, i), ftz), unpack(F16, gb(y, i), ftz)) in test for i in range(2)]
            row('hset2', [x, y], f'HSET2.{name}{ftz}.AND R2, R4{sa}, R5{sb}, PT', 0xffff * hits[0] | 0xffff0000 * hits[1])
            row('hset2', [x, y], f'HSET2.BF.{name}{ftz}.AND R2, R4{sa}, R5{sb}, PT', 0x3c00 * hits[0] | 0x3c000000 * hits[1])
            row('hsetp2', [x, y], f'HSETP2.{name}{ftz}.AND P0, P1, R4{sa}, R5{sb}, PT; P2R R2, PR, RZ, 0x3', hits[0] | hits[1] << 1)
            both = hits[0] and hits[1]
            row('hsetp2', [x, y], f'HSETP2.{name}.H_AND{ftz}.OR P0, P1, R4{sa}, R5{sb}, !PT; P2R R2, PR, RZ, 0x3', both | (not both) << 1)
    for old, x in ((0x3c004000, 0x42004400), (0xc5000001, 0x00013555)):
        two, three = (0, Fraction(2)), (1, Fraction(3))
        a, d = ([unpack(F16, w >> 16 * i & 0xffff) for i in range(2)] for w in (x, old))
        row('hfma2', [old, x], 'HFMA2_32I R4, R5, 2, -3, R4', pack(F16, add(mul(a[0], three), d[0])) |
            pack(F16, add(mul(a[1], two), d[1])) << 16, 4)
        row('hadd2', [old, x], 'HADD2_32I R2, R5, 2, -3', pack(F16, add(a[0], three)) | pack(F16, add(a[1], two)) << 16)
        row('hmul2', [old, x], 'HMUL2_32I R2, R5, 2, -3', pack(F16, mul(a[0], three)) | pack(F16, mul(a[1], two)) << 16)


WHOLE = {'': 'RN', '.FLOOR': 'RM', '.CEIL': 'RP', '.TRUNC': 'RZ'}


def clamp(value, bits, sign):
    return max(-(1 << bits - 1), min(value, (1 << bits - 1) - 1)) if sign else max(0, min(value, (1 << bits) - 1))


def conversions():
    names = {'F16': F16, 'F32': F32, 'F64': F64}
    for source, fs in names.items():
        for ftz in ('', '.FTZ'):
            flush = ftz and source == 'F32'
            for to in ('U16', 'S16', 'U32', 'S32', 'U64', 'S64'):
                bits, sign = int(to[1:]), to[0] == 'S'
                for suffix, mode in WHOLE.items():
                    for k in range(3):
                        x = float_bits(fs)
                        if k == 0:  # around the type's ends and halves
                            near = Fraction(random.choice([0, 1 << bits - 1, (1 << bits) - 1, -(1 << bits - 1)])) + Fraction(random.randint(-3, 3), 2)
                            x = pack(fs, (int(near < 0), abs(near)))
                        (t, f), = mods('R4')
                        v = f(unpack(fs, x, flush))
                        if v == 'nan':
                            r = 1 << bits - 1 if source == 'F64' or bits == 64 else 0
                        elif v[0] == 'inf':
                            r = clamp((-1 if v[1] else 1) << 80, bits, sign)
                        else:
                            r = clamp(integer(v[1], mode, v[0]) * (-1 if v[0] else 1), bits, sign)
                        row('f2i', [x & M32, x >> 32], f'F2I{ftz}.{to}.{source}{suffix} R2, {t}', r)
                        if bits == 64:
                            row('f2i', [x & M32, x >> 32], f'F2I{ftz}.{to}.{source}{suffix} R2, {t}', r >> 32, 3)
            for to, ft in names.items():
                for suffix, mode in ROUNDINGS.items() if to != source else {'.ROUND': 'RN', '.FLOOR': 'RM', '.CEIL': 'RP', '.TRUNC': 'RZ', '': None}.items():
                    for k in range(6):
                        x = float_bits(fs)
                        if k < 3 and size(ft) < size(fs):  # around the smallest normal
                            q = unpack(ft, (1 << ft[1]) + random.randint(-2, 2))[1] * (1 + Fraction(random.randint(-3, 3), 1 << ft[1] + 2))
                            x = pack(fs, (random.getrandbits(1), q))
                        s = random.choice(['', '', '.SAT'])
                        (t, f), = mods('R4')
                        v = f(unpack(fs, x, flush))
                        if to == source and mode and v != 'nan' and v[0] != 'inf':
                            v = (v[0], Fraction(integer(v[1], mode, v[0])))
                        v = sat(v) if s else v
                        if v == 'nan' and to == 'F64':
                            continue
                        r = pack(ft, v, mode if to != source else 'RN', ftz and to == 'F32')
                        row('f2f', [x & M32, x >> 32], f'F2F{ftz}.{to}.{source}{suffix}{s} R2, {t}', r)
                        if to == 'F64':
                            row('f2f', [x & M32, x >> 32], f'F2F{ftz}.{to}.{source}{suffix}{s} R2, {t}', r >> 32, 3)
    for source in ('U8', 'S8', 'U16', 'S16', 'U32', 'S32', 'U64', 'S64'):
        bits, sign = int(source[1:]), source[0] == 'S'
        for to, ft in names.items():
            for suffix, mode in ROUNDINGS.items():
                for k in range(3):
                    x, high = word(), word()
                    part, shift = {8: random.choice([('', 0), ('.B1', 8), ('.B2', 16), ('.B3', 24)]), 16: random.choice([('', 0), ('.H1', 16)])}.get(bits, ('', 0))
                    v = (x | high << 32) >> shift & ((1 << bits) - 1)
                    v = signed(v, bits) if sign else v
                    t = f'R4{part}'
                    if sign and bits < 64 and k == 1:
                        v, t = -abs(v) if v != -1 << 31 else v, f'-|R4{part}|' if v != -1 << 31 else t
                    r = pack(ft, (int(v < 0), Fraction(abs(v))), mode)
                    row('i2f', [x, high], f'I2F.{to}.{source}{suffix} R2, {t}', r)
                    if to == 'F64':
                        row('i2f', [x, high], f'I2F.{to}.{source}{suffix} R2, {t}', r >> 32, 3)
    for source in ('U8', 'S8', 'U16', 'S16', 'U32', 'S32'):
        sbits, ssign = int(source[1:]), source[0] == 'S'
        for to in ('U8', 'S8', 'U16', 'S16', 'U32', 'S32'):
            bits, sign = int(to[1:]), to[0] == 'S'
            for s in ('', '.SAT'):
                for _ in range(3):
                    x = word()
                    part, shift = {8: random.choice([('', 0), ('.B2', 16)]), 16: random.choice([('', 0), ('.H1', 16)])}.get(sbits, ('', 0))
                    v = signed(x >> shift, sbits) if ssign else x >> shift & ((1 << sbits) - 1)
                    r = (clamp(v, bits, sign) if s else v) & ((1 << bits) - 1)
                    row('i2i', [x], f'I2I.{to}.{source}{s} R2, R4{part}', r)


def wide(text, words, value, group):
    row(group, words, text, value)
    row(group, words, text, value >> 32, 3)


def integers():
    for _ in range(30):
        x, y = word(), word()
        for text, a, b, ones in ((f'R4, R5', x, y, 0), ('-R4, R5', ~x & M32, y, 1), ('R4, -R5', x, ~y & M32, 1)):
            total = a + b + ones
            row('iadd', [x, y], f'IADD R2, {text}', total)
            overflow = signed(a) + signed(b) + ones != signed(total)
            flags_row('iadd', [x, y], f'IADD RZ.CC, {text}', zs(total & M32) | (total >> 32) << 2 | overflow << 3)
            row('iadd', [x, y], f'IADD.SAT R2, {text}', clamp(signed(a) + signed(b) + ones, 32, True))
        row('iadd', [x, y], 'IADD.PO R2, R4, R5', x + y + 1)
        n = random.randint(0, 31)
        row('iscadd', [x, y], f'ISCADD R2, R4, -R5, {n:#x}', (x << n) - y)
        row('iscadd', [x], f'ISCADD32I R2, R4, 0x12345678, {n:#x}', (x << n) + 0x12345678)
        # Wide sums and differences: the carry, no borrow for differences.
        z, w = word(), word()
        a, b = x | y << 32, z | w << 32
        wide('IADD R2.CC, R4, R6; IADD.X R3, R5, R7', [x, y, z, w], a + b, 'iadd')
        wide('IADD R2.CC, R4, -R6; IADD.X R3, R5, -R7', [x, y, z, w], a - b, 'iadd')
        wide('IADD3 R2.CC, R4, R6, R5; IADD3.X R3, R5, R7, R4', [x, y, z, w], a + b + (y | x << 32), 'iadd3')
        wide('IADD3 R2.CC, R4, -R6, -R5; IADD3.X R3, R5, -R7, -R4', [x, y, z, w], a - b - (y | x << 32), 'iadd3')
        wide(f'LEA R2.CC, R4, R6, {n:#x}; LEA.HI.X R3, R4, R7, R5, {n:#x}', [x, y, z, w], (a << n) + b, 'lea')
        wide(f'LEA R2.CC, -R4, R6, {n:#x}; LEA.HI.X R3, -R4, R7, R5, {n:#x}', [x, y, z, w], b - (a << n), 'lea')
        row('lea', [x, y], f'LEA P0, RZ, R4, R5, {n:#x}; P2R R2, PR, RZ, 0x1', ((x << n & M32) + y) >> 32)
        row('iadd3', [x, y, z], 'IADD3 R2, R4.H1, -R5.H0, R6', (x >> 16) - (y & 0xffff) + z)
        row('iadd3', [x, y, z], 'IADD3.RS R2, R4, R5, R6', ((x + y) >> 16) + z)
        row('iadd3', [x, y, z], 'IADD3.LS R2, R4, R5, R6', ((x + y) << 16) + z)
        first = x + y
        second = (first & M32) + z
        flags_row('iadd3', [x, y, z], 'IADD3 RZ.CC, R4, R5, R6', zs(second & M32) | (second >> 32) << 2 | (first >> 32) << 3)
        # Comparisons of one and of two words, minimum and maximum.
        if random.random() < 0.4:
            w = y
        if random.random() < 0.5:
            z = x
        a, b = x | y << 32, z | w << 32
        for sign in ('.U32', ''):
            s = (lambda v, k: v) if sign else signed
            for name, hit in (('LT', s(y, 32) < s(w, 32)), ('GE', s(y, 32) >= s(w, 32)), ('EQ', y == w), ('T', True), ('F', False)):
                row('isetp', [x, y, z, w], f'ISETP.{name}{sign}.AND P0, P1, R5, R7, PT; P2R R2, PR, RZ, 0x3', hit | (not hit) << 1)
                row('iset', [x, y, z, w], f'ISET.{name}{sign}.XOR R2, R5, R7, PT', 0 if hit else M32)
            for name, hit in (('LT', s(a, 64) < s(b, 64)), ('LE', s(a, 64) <= s(b, 64)), ('EQ', a == b), ('NE', a != b),
                              ('GT', s(a, 64) > s(b, 64)), ('GE', s(a, 64) >= s(b, 64))):
                row('isetp', [x, y, z, w], f'IADD RZ.CC, R4, -R6; ISETP.{name}{sign}.X.AND P0, P1, R5, R7, PT; P2R R2, PR, RZ, 0x3', hit | (not hit) << 1)
                row('iset', [x, y, z, w], f'IADD RZ.CC, R4, -R6; ISET.BF.{name}{sign}.X.AND R2, R5, R7, PT', 0x3f800000 if hit else 0)
            for p, pick in (('PT', min), ('!PT', max)):
                row('imnmx', [x, z], f'IMNMX{sign} R2, R4, R5, {p}', pick(x, z, key=lambda v: s(v, 32)))
                wide(f'IMNMX{sign}.XHI R3.CC, R5, R7, {p}; IMNMX.U32.XLO R2, R4, R6, {p}', [x, y, z, w], pick(a, b, key=lambda v: s(v, 64)), 'imnmx')
                low, mid, high = random.getrandbits(32), random.getrandbits(32), random.getrandbits(32)
                other = [low ^ random.getrandbits(1), mid ^ random.choice([0, 0, 1]), high]
                u, v = low | mid << 32 | high << 64, other[0] | other[1] << 32 | other[2] << 64
                best = pick(u, v, key=lambda k: s(k, 96))
                text = f'IMNMX{sign}.XHI R12.CC, R6, R9, {p}; IMNMX.U32.XMED R11.CC, R5, R8, {p}; IMNMX.U32.XLO R10, R4, R7, {p}'
                for i in range(3):
                    row('imnmx', [low, mid, high] + other, text, best >> 32 * i, 10 + i)
            row('icmp', [x, y, z], f'ICMP.GT{sign} R2, R4, R5, R6', x if s(z, 32) > 0 else y)
            row('icmp', [x, y, z], f'ICMP.LE{sign} R2, R4, R5, R6', x if s(z, 32) <= 0 else y)
    for _ in range(25):
        x, y, z, w = word(), word(), word(), word()
        for types, a, b in (('.U32.U32', x, y), ('', signed(x), signed(y)), ('.S32.U32', signed(x), y), ('.U32.S32', x, signed(y))):
            row('imul', [x, y], f'IMUL{types} R2, R4, R5', a * b)
            row('imul', [x, y], f'IMUL{types}.HI R2, R4, R5', a * b >> 32)
            row('imad', [x, y, z], f'IMAD{types} R2, R4, R5, R6', a * b + z)
            row('imad', [x, y, z], f'IMAD{types}.HI R2, R4, R5, R6', (a * b >> 32) + z)
            wide(f'IMAD{types} R2.CC, R4, R5, R6; IMAD{types}.HI.X R3, R4, R5, R7', [x, y, z, w], a * b + (z | w << 32), 'imad')
            wide(f'IMAD{types} R2.CC, -R4, R5, R6; IMAD{types}.HI.X R3, -R4, R5, R7', [x, y, z, w], (z | w << 32) - a * b, 'imad')
            wide(f'IMAD{types} R2.CC, R4, R5, -R6; IMAD{types}.HI.X R3, R4, R5, -R7', [x, y, z, w], a * b - (z | w << 32), 'imad')
        row('imad', [x, y, z], 'IMAD.PO R2, R4, R5, R6', x * y + z + 1)
        row('imad', [x, y, z], 'IMAD.HI.SAT R2, R4, R5, R6', clamp((signed(x) * signed(y) >> 32) + signed(z), 32, True))
        row('imul', [x], 'IMUL32I.U32.U32.HI R2, R4, 0x7fffabcd', x * 0x7fffabcd >> 32)
        row('imad', [x, y], 'IMAD32I R5, R4, 0x12345, -R5', signed(x) * 0x12345 - y, 5)
        parts = {'U32': lambda v: v, 'S32': signed, 'U24': lambda v: v & 0xffffff, 'S24': lambda v: signed(v, 24),
                 'U16H0': lambda v: v & 0xffff, 'S16H0': lambda v: signed(v, 16), 'U16H1': lambda v: v >> 16, 'S16H1': lambda v: signed(v >> 16, 16)}
        ta, tb, tc = random.choice(list(parts)), random.choice(['U24', 'S24', 'U16H0', 'S16H0']), random.choice(['32', '24', '16H0'])
        tc = ('S' if 'S' in (ta[0], tb[0]) else random.choice('US')) + tc
        if not ('S' in (ta[0], tb[0]) or tc[0] == 'U'):
            tc = 'U' + tc[1:]
        row('imadsp', [x, y, z], f'IMADSP.{ta}.{tb}.{tc} R2, R4, R5, R6', parts[ta](x) * parts[tb](y) + parts[tc](z))
        # XMAD: the vendor's sequences for whole products, and each mode by itself.
        row('xmad', [x, y, z], 'XMAD R2, R4, R5, R6; XMAD.MRG R8, R4, R5.H1, RZ; XMAD.PSL.CBCC R2, R4.H1, R8.H1, R2', x * y + z)
        row('xmad', [x, y], 'XMAD R10, R4, R5, RZ; XMAD R11, R4, R5.H1, RZ; XMAD R12, R4.H1, R5.H1, RZ; '
            'XMAD.CHI R13, R4.H1, R5, R10; IADD3.RS R2, R13, R11, R12', x * y >> 32)
        row('xmad', [x, y], 'XMAD R10, R4, R5, RZ; XMAD.U16.S16 R11, R4, R5.H1, RZ; XMAD.S16.S16.CSFU R12, R4.H1, R5.H1, RZ; '
            'XMAD.S16.U16.CHI R13, R4.H1, R5, R10; IADD3.RS R2, R13, R11, R12', signed(x) * signed(y) >> 32)
        for tx, ty, a, b in (('', '', x & 0xffff, y >> 16), ('S16', 'U16', signed(x, 16), y >> 16), ('S16', 'S16', signed(x, 16), signed(y >> 16, 16))):
            types = f'.{tx}.{ty}' if tx else ''
            p = a * b
            row('xmad', [x, y, z], f'XMAD{types} R2, R4, R5.H1, R6', p + z)
            row('xmad', [x, y, z], f'XMAD{types}.PSL.CLO R2, R4, R5.H1, R6', (p << 16) + (z & 0xffff))
            row('xmad', [x, y, z], f'XMAD{types}.CHI.MRG R2, R4, R5.H1, R6', (p + (z >> 16)) & 0xffff | y << 16)
            row('xmad', [x, y, z], f'XMAD{types}.CBCC R2, R4, R5.H1, R6', p + z + (y << 16))
            wide(f'XMAD{types} R2.CC, R4, R5.H1, R6; XMAD.X R3, RZ, RZ, R7', [x, y, z, w], (p & M32) + (z | w << 32), 'xmad')


def bit_operations():
    rev = lambda v: int(f'{v:032b}'[::-1], 2)
    for _ in range(30):
        x, y, z = word(), word(), word()
        table = random.getrandbits(8)
        lut = sum((table >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | z >> i & 1) & 1) << i for i in range(32))
        row('lop3', [x, y, z], f'LOP3.LUT R2, R4, R5, R6, {table:#x}', lut)
        row('lop3', [x, y, z], f'LOP3.LUT.Z P0, RZ, R4, R5, R6, {table:#x}; P2R R2, PR, RZ, 0x1', lut == 0)
        row('lop3', [x, y, z], f'LOP3.LUT.NZ P0, RZ, R4, R5, R6, {table:#x}; P2R R2, PR, RZ, 0x1', lut != 0)
        for name, v in (('AND', x & ~y), ('OR', x | ~y), ('XOR', x ^ ~y), ('PASS_B', ~y)):
            row('lop', [x, y], f'LOP.{name} R2, R4, ~R5', v)
        row('lop', [x], 'LOP32I.XOR R2, ~R4, 0x12345678', ~x ^ 0x12345678)
        n = random.choice([0, 1, 7, 31, 32, 33, 40, 63, 64, 65, 95, 96, 127, 255, 0x80000000])
        row('shl', [x, n], 'SHL R2, R4, R5', x << n if n < 32 else 0)
        row('shl', [x, n], 'SHL.W R2, R4, R5', x << (n & 31))
        row('shr', [x, n], 'SHR.U32 R2, R4, R5', x >> min(n, 32))
        row('shr', [x, n], 'SHR R2, R4, R5', signed(x) >> min(n, 32))
        row('shr', [x, n], 'SHR.W R2, R4, R5', signed(x) >> (n & 31))
        row('shr', [x, n], 'SHR.U32.BREV R2, R4, R5', rev(x) >> min(n, 32))
        pair = x | y << 32
        for w in ('', '.W'):
            narrow, long = (n & 31, n & 63) if w else (min(n, 32), min(n, 64))
            row('shf', [x, n, y], f'SHF.L{w} R2, R4, R5, R6', pair << narrow >> 32)
            row('shf', [x, n, y], f'SHF.R{w} R2, R4, R5, R6', pair >> narrow)
            row('shf', [x, n, y], f'SHF.L{w}.U64 R2, R4, R5, R6', (pair << long & (1 << 64) - 1) >> 32)
            row('shf', [x, n, y], f'SHF.R{w}.U64 R2, R4, R5, R6', pair >> long)
            row('shf', [x, n, y], f'SHF.R{w}.S64 R2, R4, R5, R6', signed(pair, 64) >> long)
            row('shf', [x, n, y], f'SHF.R{w}.S64.HI R2, R4, R5, R6', signed(pair, 64) >> long >> 32)
        pos, length = random.choice([0, 1, 5, 16, 31, 32, 40, 255]), random.choice([0, 1, 4, 8, 27, 31, 32, 33, 255])
        field = pos | length << 8 | random.getrandbits(16) << 16
        for v, brev in ((x, ''), (rev(x), '.BREV')):
            row('bfe', [x, field], f'BFE.U32{brev} R2, R4, R5', (v >> pos) & ((1 << length) - 1))
            # Signed: the bit above the last one read, or the word's last, is copied.
            r = 0 if length == 0 else signed(signed(v) >> pos & ((1 << length) - 1), length)
            row('bfe', [x, field], f'BFE{brev} R2, R4, R5', r)
        ones = ((1 << length) - 1) << pos
        row('bfi', [x, field, z], 'BFI R2, R4, R5, R6', z & ~ones | x << pos & ones)
        row('popc', [x], 'POPC R2, R4', bin(x).count('1'))
        row('popc', [x], 'POPC R2, ~R4', 32 - bin(x).count('1'))
        v = ~signed(x) if signed(x) < 0 else x
        row('flo', [x], 'FLO.U32 R2, R4', x.bit_length() - 1)
        row('flo', [x], 'FLO R2, R4', v.bit_length() - 1)
        row('flo', [x], 'FLO.U32.SH R2, R4', 32 - x.bit_length() if x else M32)
        data = [(x | z << 32) >> 8 * i & 0xff for i in range(8)]
        pick = [y >> 4 * i & 15 for i in range(4)]
        row('prmt', [x, y, z], 'PRMT R2, R4, R5, R6', sum((0xff * (data[k & 7] >> 7) if k & 8 else data[k]) << 8 * i for i, k in enumerate(pick)))
        n = y & 3
        for name, order in (('F4E', [n, n + 1, n + 2, n + 3]), ('B4E', [(n - i) % 8 for i in range(4)]), ('RC8', [n] * 4),
                            ('ECL', [max(n, i) for i in range(4)]), ('ECR', [min(n, i) for i in range(4)]), ('RC16', [2 * (n & 1), 2 * (n & 1) + 1] * 2)):
            row('prmt', [x, y, z], f'PRMT.{name} R2, R4, R5, R6', sum(data[k] << 8 * i for i, k in enumerate(order)))


def conditions():
    # Z, S, C, O as a subtraction or a float leaves them; the tests as signed and unsigned comparisons of the numbers.
    for x, y in ((5, 7), (7, 5), (5, 5), (0x80000000, 1), (1, 0x80000000), (0x7fffffff, M32), (0, 0), (M32, 0)):
        a, b = signed(x), signed(y)
        for name, hit in (('LT', a < b), ('EQ', a == b), ('LE', a <= b), ('GT', a > b), ('NE', a != b), ('GE', a >= b), ('LO', x < y),
                          ('LS', x <= y), ('HI', x > y), ('HS', x >= y), ('NUM', True), ('NAN', False), ('T', True), ('F', False),
                          ('LTU', a < b), ('EQU', a == b), ('LEU', a <= b), ('GTU', a > b), ('NEU', a != b), ('GEU', a >= b)):
            row('cset', [x, y], f'IADD RZ.CC, R4, -R5; CSET.{name}.AND R2, CC, PT', M32 if hit else 0)
            row('csetp', [x, y], f'IADD RZ.CC, R4, -R5; CSETP.{name}.AND P0, P1, CC, PT; P2R R2, PR, RZ, 0x3', hit | (not hit) << 1)
    for x in (0, 0x3f800000, 0xbf800000, 0x7fc00000, 0x80000000):
        o = ordering(unpack(F32, x), (0, Fraction(0)))
        for name, test in FLOAT_TESTS.items():
            row('cset', [x], f'FADD RZ.CC, R4, -RZ; CSET.BF.{name}.OR R2, CC, !PT', 0x3f800000 if o in test else 0)
    for flags in range(16):
        z, s, c, o = (flags >> i & 1 for i in range(4))
        for name, hit in (('OFF', not o), ('OFT', o), ('SFF', not s), ('SFT', s), ('RLE', z or s), ('RGT', not (z or s))):
            row('cset', [flags], f'R2P CC, R4, 0xf; CSET.{name}.AND R2, CC, PT', M32 if hit else 0)
    for bits in range(8):
        for j in BOOLS:
            for k in BOOLS:
                p, q, r = (bool(bits >> i & 1) for i in range(3))
                first = BOOLS[k](BOOLS[j](p, not q), r)
                row('pset', [bits], f'R2P PR, R4, 0x7; PSET.{j}.{k} R2, P0, !P1, P2', M32 if first else 0)


def video():
    types = {'U8': (8, 0), 'S8': (8, 1), 'U16': (16, 0), 'S16': (16, 1), 'U32': (32, 0), 'S32': (32, 1)}

    def source(reg, x, t):
        bits, sign = types[t]
        part = random.randrange(32 // bits)
        name = {8: ['', '.B1', '.B2', '.B3'], 16: ['', '.H1'], 32: ['']}[bits][part]
        v = x >> bits * part & ((1 << bits) - 1)
        return reg + name, signed(v, bits) if sign else v

    merges = {'': None, '.MRG_16H': (16, 16), '.MRG_16L': (0, 16), '.MRG_8B0': (0, 8), '.MRG_8B2': (16, 8), '.ACC': None, '.MIN': None, '.MAX': None}

    def finish(v, op, c, sign, saturate):
        if saturate:
            v = clamp(v, merges[op][1] if merges[op] else 32, sign)
        v &= M32
        if merges[op]:
            first, n = merges[op]
            ones = ((1 << n) - 1) << first
            return c & ~ones | v << first & ones
        s = signed if sign else lambda k: k
        return {'': v, '.ACC': v + c, '.MIN': min(v, c, key=s), '.MAX': max(v, c, key=s)}[op]

    for _ in range(260):
        x, y, c = word(), word(), word()
        t, u = random.choice(list(types)), random.choice(list(types))
        kinds = '' if (t, u) == ('S32', 'S32') else f'.{t}.{u}'
        (ta, a), (tb, b) = source('R4', x, t), source('R5', y, u)
        op, s = random.choice(list(merges)), random.choice(['', '.SAT'])
        ud, sign = random.choice([('.UD', False), ('', True)])
        words = [x, y, c]
        na, nb, po = random.choice([('', '', ''), ('-', '', ''), ('', '-', ''), ('', '', '.PO')])
        v = (-a if na else a) + (-b if nb else b) + bool(po)
        row('vadd', words, f'VADD{ud}{kinds}{po}{s}{op} R2, {na}{ta}, {nb}{tb}, R6', finish(v, op, c, sign, s))
        row('vabsdiff', words, f'VABSDIFF{"" if ud else ".SD"}{kinds}{s}{op} R2, {ta}, {tb}, R6', finish(abs(a - b), op, c, sign, s))
        row('vmnmx', words, f'VMNMX{ud}{kinds}{s}{op} R2, {ta}, {tb}, R6', finish(min(a, b), op, c, sign, s))
        row('vmnmx', words, f'VMNMX{ud}{kinds}.MX{s}{op} R2, {ta}, {tb}, R6', finish(max(a, b), op, c, sign, s))
        count_type = random.choice(['U8', 'U16', 'U32'])
        tn, n = source('R5', y, count_type)
        shift_kinds = '' if (t, count_type) == ('S32', 'U32') else f'.{t}.{count_type}'
        w = random.choice(['', '.W'])
        n = n & 31 if w else min(n, 32)
        row('vshl', words, f'VSHL{ud}{shift_kinds}{w}{s}{op} R2, {ta}, {tn}, R6', finish(a << n, op, c, sign, s))
        row('vshr', words, f'VSHR{ud}{shift_kinds}{w}{s}{op} R2, {ta}, {tn}, R6', finish(a >> n, op, c, sign, s))
        name = random.choice(['LT', 'EQ', 'LE', 'GT', 'NE', 'GE', 'T', 'F'])
        hit = ('L' if a < b else 'G' if a > b else 'E') in {**FLOAT_TESTS}[name]
        row('vset', words, f'VSET.{name}{kinds}{op} R2, {ta}, {tb}, R6', finish(int(hit), op, c, types[t][1], ''))
        row('vsetp', words, f'VSETP.{name}{kinds}.AND P0, P1, {ta}, {tb}, PT; P2R R2, PR, RZ, 0x3', hit | (not hit) << 1)
        na, nc, po = random.choice([('', '', ''), ('-', '', ''), ('', '-', ''), ('', '', '.PO')])
        shr, scale = random.choice([('', 0), ('.SHR_7', 7), ('.SHR_15', 15)])
        final = types[t][1] or types[u][1] or bool(na) or bool(nc)
        addend = signed(c) if final else c
        v = ((-a * b if na else a * b) + (-addend if nc else addend) + bool(po)) >> scale
        row('vmad', words, f'VMAD{kinds}{po}{shr}{s} R2, {na}{ta}, {tb}, {nc}R6', clamp(v, 32, final) if s else v)
    lanes = {'': 15, '.X': 1, '.YZ': 6, '.W': 8, '.XZW': 13}
    for _ in range(60):
        x, y, c = word(), word(), word()
        pair = x | y << 32
        sa, sb = random.choice(['1111', '3210', '4321', '0213']), random.choice(['4444', '7654', '6543', '4567'])
        ta, tb = random.choice(['U8', 'S8']), random.choice(['U8', 'S8'])
        kinds = '' if (ta, tb) == ('S8', 'S8') else f'.{ta}.{tb}'
        sd, s, acc = random.choice(['', '.SD']), random.choice(['', '.SAT']), random.choice(['', '.ACC'])
        mask, chosen = random.choice(list(lanes.items()))
        result, total = c, c
        for i in range(4):
            if not chosen >> i & 1:
                continue
            p, q = (pair >> 8 * int(k[3 - i]) & 0xff for k in (sa, sb))
            d = abs((signed(p, 8) if ta == 'S8' else p) - (signed(q, 8) if tb == 'S8' else q))
            d = clamp(d, 8, bool(sd)) if s else d
            total += d
            result = result & ~(0xff << 8 * i) | (d & 0xff) << 8 * i
        part_a, part_b = '' if sa == '3210' else '.' + sa, '' if sb == '7654' else '.' + sb
        row('vabsdiff4', [x, y, c], f'VABSDIFF4{sd}{kinds}{s}{acc}{mask} R2, R4{part_a}, R5{part_b}, R6', total if acc else result)


def long_immediates():
    """The forms with 32 bits of immediate, every row kept."""
    global every
    every = 1
    numbers = [0.0, -0.0, 1.0, -1.5, 0.1, -3.25e-20, 7.75e30, 16777217.0, 1e-40, 3.4e38]
    for i in range(40):
        number = numbers[i % len(numbers)]
        bits = struct.unpack('<I', struct.pack('<f', number))[0]
        text = repr(struct.unpack('<f', struct.pack('<I', bits))[0])
        x, old = float_bits(F32), float_bits(F32)
        ftz, s = random.choice(['', '.FTZ']), random.choice(['', '.SAT'])
        a, b, c = (unpack(F32, w, ftz) for w in (x, bits, old))
        (ta, fa), = mods('R4')
        row('fadd', [x], f'FADD32I{ftz} R2, {ta}, {text}', pack(F32, add(fa(a), b), 'RN', ftz))
        row('fmul', [x], f'FMUL32I{ftz}{s} R2, R4, {text}', pack(F32, sat(mul(a, b)) if s else mul(a, b), 'RN', ftz))
        v = add(mul(neg(a), b), neg(c))
        row('ffma', [old, x], f'FFMA32I{ftz}{s} R4, -R5, {text}, -R4', pack(F32, sat(v) if s else v, 'RN', ftz), 4)
    for i in range(12):
        old, x = (random.choice([0x3c00, 0xc200, 0x0001, 0x83ff, 0x7bff, 0x4248]) | random.getrandbits(15) << 16 for _ in range(2))
        (sa, ga) = list(SWIZZLES.items())[i % len(SWIZZLES)]
        fm, s = ('', '.FTZ')[i % 2], ('', '.SAT')[i // 2 % 2]
        a, d = [unpack(F16, ga(x, k), fm) for k in range(2)], [unpack(F16, old >> 16 * k & 0xffff, fm) for k in range(2)]
        b = [(1, Fraction(3)), (0, Fraction(1, 4))]  # written upper half first
        join = lambda vs: sum(pack(F16, sat(v) if s else v, 'RN', fm) << 16 * k for k, v in enumerate(vs))
        row('hadd2', [old, x], f'HADD2_32I{fm}{s} R2, R5{sa}, 0.25, -3', join(map(add, a, b)))
        row('hmul2', [old, x], f'HMUL2_32I{fm}{s} R2, R5{sa}, 0.25, -3', join(map(mul, a, b)))
        s = ''
        row('hfma2', [old, x], f'HFMA2_32I{fm} R4, R5{sa}, 0.25, -3, -R4', join(add(mul(p, q), neg(c)) for p, q, c in zip(a, b, d)), 4)
    for immediate in (0, 1, 0x7fffffff, -0x80000000, -1, 0x12345678, -0x6543210):
        x, old = word(), word()
        n = random.randint(0, 31)
        row('iadd', [x], f'IADD32I R2, R4, {immediate:#x}', x + immediate)
        row('iadd', [x], f'IADD32I R2, -R4, {immediate:#x}', immediate - x)
        row('iadd', [x], f'IADD32I.SAT R2, R4, {immediate:#x}', clamp(signed(x) + immediate, 32, True))
        total = x + (immediate & M32)
        flags_row('iadd', [x], f'IADD32I RZ.CC, R4, {immediate:#x}',
                  zs(total & M32) | (total >> 32) << 2 | (signed(x) + immediate != signed(total)) << 3)
        row('iscadd', [x], f'ISCADD32I R2, R4, {immediate:#x}, {n:#x}', (x << n) + immediate)
        row('lop', [x], f'LOP32I.AND R2, R4, {immediate & M32:#x}.INV', x & ~immediate)
        row('lop', [x], f'LOP32I.OR R2, ~R4, {immediate & M32:#x}', ~x | immediate)
        row('lop', [x], f'LOP32I.PASS_B R2, R4, {immediate & M32:#x}', immediate)
        for types, fa, fb in (('', signed, lambda v: v), ('.U32.U32', lambda v: v, lambda v: v & M32)):
            a, b = fa(x), fb(immediate)
            row('imul', [x], f'IMUL32I{types} R2, R4, {immediate:#x}', a * b)
            row('imul', [x], f'IMUL32I{types}.HI R2, R4, {immediate:#x}', a * b >> 32)
            row('imad', [old, x], f'IMAD32I{types} R4, R5, {immediate:#x}, R4', a * b + old, 4)
            row('imad', [old, x], f'IMAD32I{types} R4, -R5, {immediate:#x}, R4', old - a * b, 4)
            row('imad', [old, x], f'IMAD32I{types}.HI R4, R5, {immediate:#x}, R4', (a * b >> 32) + old, 4)
        row('mov', [x], f'MOV32I R2, {immediate & M32:#x}', immediate)


print('# group\tconstant words c[2][0..] (hex)\tinstructions\tresult register\texpected (hex), worked out by tests/interpreter/arithmetic.py')
for part in (singles, doubles, halves, conversions, integers, bit_operations, conditions, video, long_immediates):
    part()
