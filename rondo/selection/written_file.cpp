// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/written_file.hpp"

#include "rondo/core/error.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/text.hpp"
#include "rondo/selection/text_file.hpp"
#include "rondo/written/rounds.hpp"

namespace rondo {
namespace {

std::string text_of(const std::string& path) { return read_text_file(path, "the schedule"); }

/// What `body(program)` gives of the program in a text; an Error with the path.
auto of_program(const std::string& path, const std::string& text, const auto& body) {
    try {
        if (!trimmed(text).starts_with("<")) throw Error("expected MSCCL's XML, which says what happens to the data");
        return body(written::read_msccl(text));
    } catch (const Error& error) {
        throw Error(path + ": " + error.what());
    }
}

}  // namespace

const AlgorithmInfo& written_algorithm(std::string_view path) {
    const std::string name(path), text = text_of(name);
    return written::algorithm_of(std::string(of_a_file) + name, text, [&] {
        return of_program(name, text, [](const auto& program) { return written::in_rounds(program); });
    });
}

written::MscclProgram written_program(const std::string& path) {
    return of_program(path, text_of(path), [](written::MscclProgram program) { return program; });
}

}  // namespace rondo
