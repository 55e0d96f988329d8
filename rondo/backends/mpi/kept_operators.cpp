// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/kept_operators.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace rondo::mpi {
namespace {

struct Users {
    int number = 0;
    bool is_freed = false;  // by the program
};

/// The operators that calls need. Never destroyed. Nobody calls MPI while he holds the mutex.
struct Table {
    std::mutex mutex;
    std::map<MPI_Op, Users> users;
};
Table& table() {
    static Table& the_table = *new Table;
    return the_table;
}
std::atomic<int> kept{0};  // a program without such calls need not look there

}  // namespace

void KeptOperator::keep(MPI_Op op) {
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    ++all.users[op].number;
    ++kept;
    op_ = op;
}

KeptOperator::~KeptOperator() {
    if (op_ == library().op_null) return;
    Table& all = table();
    std::unique_lock lock(all.mutex);
    --kept;
    const auto found = all.users.find(op_);
    if (--found->second.number > 0) return;
    const bool is_freed = found->second.is_freed;
    all.users.erase(found);
    lock.unlock();
    if (is_freed) library().Op_free(&op_);
}

int free_operator(MPI_Op* op) {
    if (kept.load(std::memory_order_acquire) > 0) {
        Table& all = table();
        const std::lock_guard lock(all.mutex);
        if (const auto found = all.users.find(*op); found != all.users.end()) {
            found->second.is_freed = true;
            *op = library().op_null;
            return MPI_SUCCESS;
        }
    }
    return library().Op_free(op);
}

}  // namespace rondo::mpi
