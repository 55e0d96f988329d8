// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/persistent_call.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace rondo::mpi {
namespace {

/// Messages from this process to itself, which tell the library that a start is over. Nobody else sends any there.
class Answers {
  public:
    /// Makes the communicator, the first time. Returns an MPI error code.
    int prepare() {
        if (comm_ != library().comm_null) return MPI_SUCCESS;
        MPI_Group self;
        int error = library().Comm_group(library().comm_self, &self);
        if (error != MPI_SUCCESS) return error;
        error = library().Comm_create(library().comm_self, self, &comm_);
        library().Group_free(&self);
        if (error == MPI_SUCCESS) library().Comm_set_errhandler(comm_, library().errors_return);
        return error;
    }
    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    /// A tag that no other request has. Throws std::bad_alloc.
    int take_tag() {
        if (free_.empty()) {
            free_.reserve(static_cast<std::size_t>(++tags_));  // to give it back needs no memory
            return tags_ - 1;
        }
        const int tag = free_.back();
        free_.pop_back();
        return tag;
    }
    void give_back_tag(int tag) { free_.push_back(tag); }
    void end() {
        if (comm_ != library().comm_null) library().Comm_free(&comm_);
    }

  private:
    MPI_Comm comm_ = library().comm_null;
    int tags_ = 0;
    std::vector<int> free_;
};

/// A request for a persistent call. For the library it is a persistent receive of nothing from this process. Once a
/// start is over, Rondo sends the message; so MPI_Wait, MPI_Test and all others do what they do for any receive. A
/// message that is too long lets them return an error.
class Persistent final : PendingCall::Owner {
  public:
    explicit Persistent(std::unique_ptr<PendingCall> call, int tag) : call_(std::move(call)), tag_(tag) {}

    /// Makes the library's request. Returns an MPI error code.
    int prepare(MPI_Comm answers, std::uint32_t number, MPI_Request* request) {
        answers_ = answers;
        int error = library().Recv_init(nullptr, 0, library().byte, 0, tag_, answers_, request);
        if (error != MPI_SUCCESS) return error;
        error = call_->persist(*this, number);
        if (error != MPI_SUCCESS) library().Request_free(request);
        return error;
    }
    int start(MPI_Request* request) {
        const int error = library().Start(request);
        if (error != MPI_SUCCESS) return error;  // it is started already
        is_under_way_ = true;
        call_->start_again();
        return MPI_SUCCESS;
    }
    [[nodiscard]] int tag() const { return tag_; }
    [[nodiscard]] bool is_under_way() const { return is_under_way_; }
    /// Has the call delete itself when it is over.
    void release() { is_released_ = true; }

  private:
    void complete(int error) override;

    std::unique_ptr<PendingCall> call_;
    MPI_Comm answers_{};
    int tag_;
    bool is_under_way_ = false, is_released_ = false;
};

/// The persistent calls of this process, by their requests. Never destroyed.
struct Table {
    std::mutex mutex;
    Answers answers;
    std::map<MPI_Request, Persistent*> calls;
};
Table& table() {
    static Table& the_table = *new Table;
    return the_table;
}
std::atomic<int> calls_in_table{0};  // a program without such calls need not look there

void erase(Persistent* call) {
    Table& all = table();
    all.answers.give_back_tag(call->tag());
    delete call;
}

/// Has the error of a request told to the handler of MPI_COMM_WORLD, as that of a generalized request is.
void tell_handler_of_world(MPI_Comm comm) {
    MPI_Errhandler handler;
    if (library().Comm_get_errhandler(library().comm_world, &handler) != MPI_SUCCESS) return;
    library().Comm_set_errhandler(comm, handler);
    library().Errhandler_free(&handler);
}

void Persistent::complete(int error) {
    is_under_way_ = false;
    const bool is_last = is_released_;
    static const char too_long[1] = {};
    if (error != MPI_SUCCESS) tell_handler_of_world(answers_);
    MPI_Request sent = library().request_null;
    library().Isend(too_long, error == MPI_SUCCESS ? 0 : 1, library().byte, 0, tag_, answers_, &sent);
    if (sent != library().request_null) library().Request_free(&sent);
    if (is_last) erase(this);
}

/// The persistent call of a request; nullptr if that is another one.
Persistent* find(MPI_Request request) {
    if (calls_in_table.load(std::memory_order_acquire) == 0) return nullptr;
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    const auto found = all.calls.find(request);
    return found != all.calls.end() ? found->second : nullptr;
}

}  // namespace

int make_persistent(std::unique_ptr<PendingCall> call, std::uint32_t number, MPI_Request* request) {
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    if (const int error = all.answers.prepare(); error != MPI_SUCCESS) return error;
    auto made = std::make_unique<Persistent>(std::move(call), all.answers.take_tag());
    const int error = made->prepare(all.answers.comm(), number, request);
    if (error != MPI_SUCCESS) {
        all.answers.give_back_tag(made->tag());
        return error;
    }
    all.calls[*request] = made.release();
    ++calls_in_table;
    return MPI_SUCCESS;
}

int start(MPI_Request* request) {
    Persistent* const call = find(*request);
    return call != nullptr ? call->start(request) : library().Start(request);
}

int start_all(int count, MPI_Request* requests) {
    MPI_Request* const end = requests + std::max(0, count);
    if (std::all_of(requests, end, [](MPI_Request each) { return find(each) == nullptr; }))
        return library().Startall(count, requests);
    int first_error = MPI_SUCCESS;
    for (MPI_Request* each = requests; each < end; ++each) {
        const int error = start(each);
        if (first_error == MPI_SUCCESS) first_error = error;
    }
    return first_error;
}

int free_request(MPI_Request* request) {
    Persistent* const call = find(*request);
    if (call != nullptr) {
        Table& all = table();
        const std::lock_guard lock(all.mutex);
        all.calls.erase(*request);
        --calls_in_table;
        if (call->is_under_way()) call->release();
        else erase(call);
    }
    return library().Request_free(request);
}

/// A call that is still under way may yet be asked to go on.
void end_persistent_calls() {
    Table& all = table();
    for (const auto& [request, call] : all.calls) {
        if (!call->is_under_way()) erase(call);
    }
    all.calls.clear();
    calls_in_table = 0;
    all.answers.end();
}

}  // namespace rondo::mpi
