#include "tests/generate/program.h"

#include <algorithm>
#include <utility>

namespace heaviside::generate {
namespace {

class Reducer {
public:
    Reducer(Program& program, const std::function<bool(const Program&)>& fails) : program_(program), fails_(fails) {}

    // One round over a list of the program; true if something went.
    bool shrink(std::vector<Statement>& list) {
        bool changed = false;
        for (std::size_t chunk = std::max<std::size_t>(list.size() / 2, 1); chunk > 0; chunk /= 2)
            for (std::size_t at = 0; at + chunk <= list.size();) {
                const std::vector<Statement> before = list;
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(at),
                           list.begin() + static_cast<std::ptrdiff_t>(at + chunk));
                if (keep(list, before))
                    changed = true;
                else
                    at += chunk;
            }
        for (std::size_t i = 0; i < list.size(); ++i) {
            changed |= unwrap(list, i);
            if (i >= list.size())
                break;
            changed |= shrink(list[i].body);
            changed |= shrink(list[i].otherwise);
            if (!list[i].whole)
                changed |= shorten(list[i].lines);
        }
        return changed;
    }

private:
    template <class T>
    bool keep(T& now, const T& before) {
        if (fails_(program_))
            return true;
        now = before;
        return false;
    }

    // A branch, loop or call becomes what is inside.
    bool unwrap(std::vector<Statement>& list, std::size_t i) {
        if (list[i].kind == Statement::Kind::Lines)
            return false;
        for (const bool other : {false, true}) {
            const std::vector<Statement> before = list;
            const std::vector<Statement> inner = other ? before[i].otherwise : before[i].body;
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
            list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
            if (keep(list, before))
                return true;
        }
        return false;
    }

    // Lines go one by one from the end (what settles a result comes last), then guards.
    bool shorten(std::vector<std::string>& lines) {
        bool changed = false;
        for (std::size_t i = lines.size(); i-- > 0;) {
            const std::vector<std::string> before = lines;
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
            if (keep(lines, before)) {
                changed = true;
                continue;
            }
            if (lines[i].starts_with('@')) {
                lines[i].erase(0, lines[i].find(' ') + 1);
                changed |= keep(lines, before);
            }
        }
        return changed;
    }

    Program& program_;
    const std::function<bool(const Program&)>& fails_;
};

} // namespace

Program reduce(Program program, const std::function<bool(const Program&)>& fails) {
    Reducer reducer(program, fails);
    while (reducer.shrink(program.statements)) {
    }
    return program;
}

} // namespace heaviside::generate
