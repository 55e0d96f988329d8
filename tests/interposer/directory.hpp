// SPDX-License-Identifier: BSD-3-Clause
// A directory of a test's own, and files in it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace rondo::interposer {

class Directory {
  public:
    Directory() : path_(::testing::TempDir() + "rondo-" + std::to_string(::getpid()) + ".learned") {
        std::filesystem::remove_all(path_);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() { std::filesystem::remove_all(path_); }

    [[nodiscard]] const std::string& path() const { return path_; }
    /// The path of the only file of verdicts in it; empty if there are none, or several.
    [[nodiscard]] std::string only_file() const {
        std::string found;
        for (const auto& each : std::filesystem::directory_iterator(path_)) {
            if (each.path().extension() != ".verdicts") continue;
            if (!found.empty()) return "";
            found = each.path();
        }
        return found;
    }
    static std::string text_of(const std::string& file) {
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }
    static void write(const std::string& file, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << text;
    }

  private:
    std::string path_;
};

}  // namespace rondo::interposer
