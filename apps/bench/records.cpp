// SPDX-License-Identifier: BSD-3-Clause
#include "records.hpp"

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "rondo/core/json_text.hpp"
#include "clock.hpp"

namespace rondo::bench {
namespace {

constexpr double between_flushes = 0.5;  // seconds

}  // namespace

void Record::begin(const char* name) {
    if (text_.size() > 1) text_ += ',';
    text_ += json_text(name) + ":";
}

Record& Record::add(const char* name, const std::string& value) {
    begin(name);
    text_ += json_text(value);
    return *this;
}

Record& Record::add(const char* name, double value) {
    begin(name);
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", std::isfinite(value) ? value : 0.0);
    text_ += digits;
    return *this;
}

Record& Record::add(const char* name, std::int64_t value) {
    begin(name);
    text_ += std::to_string(value);
    return *this;
}

Record& Record::add(const char* name, const std::vector<std::string>& values) {
    begin(name);
    const char* separator = "[";
    for (const std::string& value : values) {
        text_ += separator + json_text(value);
        separator = ",";
    }
    text_ += values.empty() ? "[]" : "]";
    return *this;
}

Record& Record::add(const char* name, const std::vector<int>& values) {
    begin(name);
    const char* separator = "[";
    for (const int value : values) {
        text_ += separator + std::to_string(value);
        separator = ",";
    }
    text_ += values.empty() ? "[]" : "]";
    return *this;
}

Records::Records(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

Records::~Records() {
    flush();
    std::fclose(file_);
}

void Records::write(const Record& record) {
    waiting_ += record.line();
    if (monotonic_seconds() - last_flush_ >= between_flushes) flush();
}

void Records::flush() {
    std::fwrite(waiting_.data(), 1, waiting_.size(), file_);
    std::fflush(file_);
    waiting_.clear();
    last_flush_ = monotonic_seconds();
}

}  // namespace rondo::bench
