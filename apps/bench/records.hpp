// SPDX-License-Identifier: BSD-3-Clause
// What was measured, as it is measured: a file with one JSON object on each line, written by rank 0 in batches, at
// least every second, so that a run that is killed leaves what it had.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace rondo::bench {

/// One line under construction.
class Record {
  public:
    explicit Record(const char* kind) { add("kind", std::string(kind)); }
    Record& add(const char* name, const std::string& value);
    Record& add(const char* name, const char* value) { return add(name, std::string(value)); }
    Record& add(const char* name, double value);
    Record& add(const char* name, std::int64_t value);
    Record& add(const char* name, int value) { return add(name, std::int64_t{value}); }
    Record& add(const char* name, const std::vector<std::string>& values);
    Record& add(const char* name, const std::vector<int>& values);
    [[nodiscard]] std::string line() const { return text_ + "}\n"; }

  private:
    void begin(const char* name);
    std::string text_ = "{";
};

class Records {
  public:
    /// Throws std::runtime_error if it cannot be written.
    explicit Records(const std::string& path);
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;
    ~Records();

    /// Takes a line; writes to the file if the last time is a while ago. Not while something is timed.
    void write(const Record& record);
    void flush();

  private:
    std::FILE* file_;
    std::string waiting_;
    double last_flush_ = 0;
};

}  // namespace rondo::bench
