// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "rondo/core/error.hpp"
#include "rondo/selection/text.hpp"

namespace rondo {

// With C's files: no static initialiser of a stream library ends up in other people's programs.
std::string read_text_file(const std::string& path, const char* what) {
    const auto failure = [&] { return Error(path + ": cannot read " + what + ": " + std::strerror(errno)); };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    if (!file) throw failure();
    std::string text;
    char piece[4096];
    while (const std::size_t length = std::fread(piece, 1, sizeof piece, file.get())) text.append(piece, length);
    if (std::ferror(file.get()) != 0) throw failure();
    return text;
}

void read_lines(std::string_view text, std::string_view name,
                const std::function<void(std::string_view line, int number)>& read,
                const std::function<void()>& finish) {
    int number = 0;
    try {
        while (!text.empty()) {
            ++number;
            std::string_view line = take_until(text, "\n");
            line = trimmed(take_until(line, "#"));
            if (!line.empty()) read(line, number);
        }
        if (finish) finish();
    } catch (const Error& error) {
        throw Error(std::string(name) + ":" + std::to_string(std::max(number, 1)) + ": " + error.what());
    }
}

}  // namespace rondo
