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

/// The communicator of messages from this process to itself, which tell the library that a start is over. Nobody else
/// sends any there.
class Answers {
  public:
    /// Makes the communicator, the first time. Returns an MPI error code.
    int prepare() {
        const std::lock_guard lock(making_);
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
    void end() {
        if (comm_ != library().comm_null) library().Comm_free(&comm_);
    }

  private:
    std::mutex making_;
    MPI_Comm comm_ = library().comm_null;
};

/// A request for a persistent call. For the library it is a persistent receive of nothing from this process. Once a
/// start is over, Rondo sends the message; so MPI_Wait, MPI_Test and all others do what they do for any receive. A
/// message that is too long lets them return an error.
class Persistent final : PendingCall::Owner {
  public:
    Persistent(std::unique_ptr<PendingCall> call, MPI_Comm answers, int tag)
        : call_(std::move(call)), answers_(answers), tag_(tag) {}

    /// Makes the library's request. Returns an MPI error code.
    int prepare(std::uint32_t number, MPI_Request* request) {
        int error = library().Recv_init(nullptr, 0, library().byte, 0, tag_, answers_, request);
        if (error != MPI_SUCCESS) return error;
        error = call_->persist(*this, number);
        if (error != MPI_SUCCESS) library().Request_free(request);
        return error;
    }
    int start(MPI_Request* request);
    /// Deletes itself, now or when the start under way is over.
    void release();
    /// Deletes the call in MPI_Finalize, where no thread calls MPI any more.
    void end() {
        if (!is_under_way_) delete this;  // else it may yet be asked to go on
    }

  private:
    ~Persistent() = default;
    void complete(int error) override;
    void end_now();

    std::unique_ptr<PendingCall> call_;
    MPI_Comm answers_{};
    int tag_;
    bool is_under_way_ = false, is_released_ = false;  // guarded by the table's mutex
};

/// The persistent calls of this process, by their requests. Never destroyed. Nobody calls MPI while he holds the mutex,
/// which those need whom the library's engine of progress has called.
struct Table {
    std::mutex mutex;
    std::map<MPI_Request, Persistent*> calls;
    int tags = 0;
    std::vector<int> free_tags;

    /// A tag that no other request has. Throws std::bad_alloc.
    int take_tag() {
        const std::lock_guard lock(mutex);
        if (free_tags.empty()) {
            free_tags.reserve(static_cast<std::size_t>(tags) + 1);  // to give it back needs no memory
            return tags++;
        }
        const int tag = free_tags.back();
        free_tags.pop_back();
        return tag;
    }
    void give_back_tag(int tag) {
        const std::lock_guard lock(mutex);
        free_tags.push_back(tag);
    }
};
Table& table() {
    static Table& the_table = *new Table;
    return the_table;
}
Answers& answers() {
    static Answers& all = *new Answers;
    return all;
}
std::atomic<int> calls_in_table{0};  // a program without such calls need not look there

/// Has the error of a request told to the handler of MPI_COMM_WORLD, as that of a generalized request is.
void tell_handler_of_world(MPI_Comm comm) {
    MPI_Errhandler handler;
    if (library().Comm_get_errhandler(library().comm_world, &handler) != MPI_SUCCESS) return;
    library().Comm_set_errhandler(comm, handler);
    library().Errhandler_free(&handler);
}

int Persistent::start(MPI_Request* request) {
    const int error = library().Start(request);
    if (error != MPI_SUCCESS) return error;  // it is started already
    {
        const std::lock_guard lock(table().mutex);
        is_under_way_ = true;
    }
    call_->start_again();
    return MPI_SUCCESS;
}

void Persistent::release() {
    bool is_last = false;
    {
        const std::lock_guard lock(table().mutex);
        is_last = !is_under_way_;
        is_released_ = true;
    }
    if (is_last) end_now();
}

void Persistent::end_now() {
    table().give_back_tag(tag_);
    delete this;
}

/// Once the message is sent, the program may start the call again, in another thread.
void Persistent::complete(int error) {
    const int tag = tag_;
    const MPI_Comm to = answers_;
    bool is_last = false;
    {
        const std::lock_guard lock(table().mutex);
        is_under_way_ = false;
        is_last = is_released_;
    }
    static const char too_long[1] = {};
    if (error != MPI_SUCCESS) tell_handler_of_world(to);
    MPI_Request sent = library().request_null;
    library().Isend(too_long, error == MPI_SUCCESS ? 0 : 1, library().byte, 0, tag, to, &sent);
    if (sent != library().request_null) library().Request_free(&sent);
    if (is_last) end_now();
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

void prepare_persistent_calls() { answers().prepare(); }

int make_persistent(std::unique_ptr<PendingCall> call, std::uint32_t number, MPI_Request* request) {
    Table& all = table();
    if (const int error = answers().prepare(); error != MPI_SUCCESS) return error;
    const int tag = all.take_tag();
    auto* const made = new Persistent(std::move(call), answers().comm(), tag);
    const int error = made->prepare(number, request);
    if (error != MPI_SUCCESS) {
        made->release();
        return error;
    }
    const std::lock_guard lock(all.mutex);
    all.calls[*request] = made;
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
    if (Persistent* const call = find(*request)) {
        {
            const std::lock_guard lock(table().mutex);
            table().calls.erase(*request);
            --calls_in_table;
        }
        call->release();
    }
    return library().Request_free(request);
}

void end_persistent_calls() {
    for (const auto& [request, call] : table().calls) call->end();
    table().calls.clear();
    calls_in_table = 0;
    answers().end();
}

}  // namespace rondo::mpi
