// SPDX-License-Identifier: BSD-3-Clause
// Programs for tests: ranks that call the exported functions, with a made-up library behind them.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "rondo.h"
#include "tests/backends/mpi/made_up_library.hpp"

namespace rondo::interposer {

namespace made_up = mpi::made_up;

/// Of the environment.
using Variables = std::vector<std::pair<const char*, std::string>>;

/// MPI_Init, by which Rondo reads the variables. Messages are the library's, which counts them, if none says otherwise.
inline void start(const Variables& variables) {
    ::setenv("RONDO_SHARED_MEMORY", "off", 1);
    for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 1);
    MPI_Init(nullptr, nullptr);
}

/// Runs a program from MPI_Init to MPI_Finalize.
inline void run(int ranks, const Variables& variables, const std::function<void()>& program) {
    made_up::play(ranks, [&] {
        start(variables);
        program();
        made_up::finalize();
    });
}

/// A rules file with this text.
class RulesFile {
  public:
    explicit RulesFile(const std::string& text)
        : path_(::testing::TempDir() + "rondo-" + std::to_string(::getpid()) + ".rules") {
        std::FILE* const file = std::fopen(path_.c_str(), "w");
        std::fputs(text.c_str(), file);
        std::fclose(file);
    }
    RulesFile(const RulesFile&) = delete;
    RulesFile& operator=(const RulesFile&) = delete;
    ~RulesFile() { std::remove(path_.c_str()); }

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// How many calls of a collective went to the library, and why the last of them did; "" if none did.
inline long long left(const char* collective) { return rondo_left_to_library(collective, nullptr, 0); }
inline std::string reason(const char* collective) {
    char text[256] = "";
    return rondo_left_to_library(collective, text, sizeof text) > 0 ? text : "";
}

/// The sum of the numbers of all ranks, on each of them.
inline int allreduce(MPI_Comm comm, int count = 1, MPI_Op op = MPI_SUM) {
    std::vector<int> input(static_cast<std::size_t>(count), made_up::rank() + 1), output(input.size(), -1);
    EXPECT_EQ(MPI_Allreduce(input.data(), output.data(), count, MPI_INT, op, comm), MPI_SUCCESS);
    return output.back();
}

/// True if the call is carried out without a second look.
template <class Call>
bool is_repeated(Call&& call) {
    const unsigned long long before = rondo_served_again();
    call();
    return rondo_served_again() > before;
}

}  // namespace rondo::interposer
