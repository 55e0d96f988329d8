// SPDX-License-Identifier: BSD-3-Clause
// Messages, and the collectives that Rondo needs itself.
#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "tests/backends/mpi/made_up_objects.hpp"

namespace rondo::mpi::made_up {
namespace {

Communicator& known(MPI_Comm comm) { return *state().communicators.find(comm); }

int world_rank(MPI_Comm comm, int rank) { return known(comm).ranks[static_cast<std::size_t>(rank)]; }

/// What the library finds wrong with a message.
int judge(MPI_Datatype type, MPI_Count count, int peer, int tag, MPI_Comm comm) {
    if (state().communicators.find(comm) == nullptr) return MPI_ERR_COMM;
    if (!behaviour().checks_arguments) return MPI_SUCCESS;
    if (count < 0) return MPI_ERR_COUNT;
    if (find_type(type) == nullptr || !find_type(type)->is_committed) return MPI_ERR_TYPE;
    if (tag < 0 || tag > behaviour().largest_tag) return MPI_ERR_TAG;
    const bool is_rank = peer >= 0 && peer < static_cast<int>(known(comm).ranks.size());
    return is_rank || peer == MPI_PROC_NULL ? MPI_SUCCESS : MPI_ERR_RANK;
}

int receive(const Message& message, void* buffer, MPI_Count count, MPI_Datatype type) {
    const auto room = static_cast<std::size_t>(bytes_of(count, type));
    unpack(message.data, std::min(room, message.bytes), buffer, count, type);
    return message.bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/// Messages that have come complete receives. Where one has not come yet, those behind it have not, whatever comes
/// meanwhile.
void progress() {
    auto& receiving = state().receiving;
    std::set<std::tuple<int, std::uint64_t, int>> still_to_come;
    for (auto each = receiving.begin(); each != receiving.end();) {
        Request& request = *state().requests.find(*each);
        const std::tuple place{request.from, request.context, request.tag};
        const Message* const message =
            still_to_come.contains(place) ? nullptr : take(request.from, request.context, request.tag);
        if (message == nullptr) {
            still_to_come.insert(place);
            ++each;
            continue;
        }
        request.error = receive(*message, request.buffer, request.count, request.type);
        request.is_done = true;
        each = receiving.erase(each);
    }
}

int complete(MPI_Request& handle) {
    const int error = state().requests.find(handle)->error;
    state().requests.remove(handle);
    handle = MPI_REQUEST_NULL;
    return error;
}

template <class Condition>
void wait_until(Condition&& condition) {
    for (;;) {
        const std::uint64_t before = posted();
        progress();
        if (condition()) return;
        wait_for_more(before);
    }
}

/// From each rank of the communicator, what it gives.
std::vector<std::vector<std::byte>> from_all(MPI_Comm comm, const std::vector<std::byte>& own) {
    Communicator& all = known(comm);
    const std::uint64_t context = ~all.context;
    const int tag = all.collectives++;
    for (const int each : all.ranks) post(each, context, tag, own.data(), own.size());
    std::vector<std::vector<std::byte>> given;
    for (const int each : all.ranks) {
        const Message* message = nullptr;
        wait_until([&] { return (message = take(each, context, tag)) != nullptr; });
        given.emplace_back(message->data, message->data + message->bytes);
    }
    return given;
}

}  // namespace

namespace functions {

int Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (const int error = judge(type, count, to, tag, comm); error != MPI_SUCCESS) return raise(comm, error);
    if (to == MPI_PROC_NULL) return MPI_SUCCESS;
    const std::vector<std::byte> bytes = packed(data, count, type);
    post(world_rank(comm, to), known(comm).context, tag, bytes.data(), bytes.size());
    return MPI_SUCCESS;
}
int Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = Irecv(buffer, count, type, from, tag, comm, &request);
    return error != MPI_SUCCESS ? error : Wait(&request, status);
}
int Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    if (const int error = Send(data, count, type, to, tag, comm); error != MPI_SUCCESS) return error;
    return *request = state().requests.add({.is_done = true}), MPI_SUCCESS;
}
int Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    if (const int error = judge(type, count, from, tag, comm); error != MPI_SUCCESS) return raise(comm, error);
    *request = state().requests.add({.is_receive = true,
                                     .buffer = buffer,
                                     .count = count,
                                     .type = type,
                                     .from = world_rank(comm, from),
                                     .tag = tag,
                                     .context = known(comm).context});
    state().receiving.push_back(*request);
    return MPI_SUCCESS;
}
int Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* buffer, int room,
             MPI_Datatype received, int from, int other_tag, MPI_Comm comm, MPI_Status* status) {
    if (const int error = Send(data, count, type, to, tag, comm); error != MPI_SUCCESS) return error;
    return Recv(buffer, room, received, from, other_tag, comm, status);
}

int Wait(MPI_Request* request, MPI_Status*) {
    if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
    wait_until([&] { return state().requests.find(*request)->is_done; });
    return complete(*request);
}
int Waitall(int count, MPI_Request requests[], MPI_Status*) {
    int error = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) error = std::max(error, Wait(&requests[i], MPI_STATUS_IGNORE));
    return error == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS;
}
int Test(MPI_Request* request, int* flag, MPI_Status*) {
    *flag = 1;
    if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
    progress();
    *flag = state().requests.find(*request)->is_done ? 1 : 0;
    return *flag != 0 ? complete(*request) : MPI_SUCCESS;
}
int Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
    progress();
    *completed = 0;
    bool failed = false;
    for (int i = 0; i < count; ++i) {
        if (requests[i] == MPI_REQUEST_NULL || !state().requests.find(requests[i])->is_done) continue;
        indices[*completed] = i;
        const int error = statuses[*completed].MPI_ERROR = complete(requests[i]);
        failed = failed || error != MPI_SUCCESS;
        ++*completed;
    }
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}
int Cancel(MPI_Request* handle) {
    Request& request = *state().requests.find(*handle);
    if (request.is_done) return MPI_SUCCESS;
    request.is_done = request.is_cancelled = true;
    state().receiving.remove(*handle);
    return MPI_SUCCESS;
}
// Nobody starts Rondo's persistent calls.
int Recv_init(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) { return MPI_ERR_OTHER; }
int Start(MPI_Request*) { return MPI_ERR_REQUEST; }
int Startall(int, MPI_Request*) { return MPI_ERR_REQUEST; }
int Op_free(MPI_Op* op) { return *op = MPI_OP_NULL, MPI_SUCCESS; }
int Request_free(MPI_Request* request) {
    state().receiving.remove(*request);
    state().requests.remove(*request);
    return *request = MPI_REQUEST_NULL, MPI_SUCCESS;
}
int Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status*) {
    *flag = look(world_rank(comm, from), known(comm).context, tag) != nullptr ? 1 : 0;
    return MPI_SUCCESS;
}

int Barrier(MPI_Comm comm) { return from_all(comm, {}), MPI_SUCCESS; }
int Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    const bool is_root = known(comm).rank == root;
    const auto given = from_all(comm, is_root ? packed(buffer, count, type) : std::vector<std::byte>());
    const auto& data = given[static_cast<std::size_t>(root)];
    if (!is_root) unpack(data.data(), data.size(), buffer, count, type);
    return MPI_SUCCESS;
}
int Allgather(const void* input, int input_count, MPI_Datatype input_type, void* output, int count, MPI_Datatype type,
              MPI_Comm comm) {
    const MPI_Aint part = count * find_type(type)->extent;
    if (input == MPI_IN_PLACE) {
        input = static_cast<char*>(output) + known(comm).rank * part;
        input_count = count;
        input_type = type;
    }
    char* into = static_cast<char*>(output);
    for (const auto& given : from_all(comm, packed(input, input_count, input_type))) {
        unpack(given.data(), given.size(), into, count, type);
        into += part;
    }
    return MPI_SUCCESS;
}
/// Of types without gaps.
int Allreduce(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    auto given = from_all(comm, packed(input == MPI_IN_PLACE ? output : input, count, type));
    std::vector<std::byte>& result = given.back();
    state().longest_allreduce = std::max(state().longest_allreduce, result.size());
    for (std::size_t each = given.size() - 1; each-- > 0;) {
        const int error = reduce(given[each].data(), result.data(), count, type, op);
        if (error != MPI_SUCCESS) return error;
    }
    if (!result.empty()) std::memcpy(output, result.data(), result.size());
    return MPI_SUCCESS;
}

// These are counted.
int Allgatherv(const void*, int, MPI_Datatype, void*, const int[], const int[], MPI_Datatype, MPI_Comm) {
    return MPI_SUCCESS;
}
int Alltoall(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) { return MPI_SUCCESS; }
int Alltoallv(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[], MPI_Datatype,
              MPI_Comm) {
    return MPI_SUCCESS;
}
int Alltoallw(const void*, const int[], const int[], const MPI_Datatype[], void*, const int[], const int[],
              const MPI_Datatype[], MPI_Comm) {
    return MPI_SUCCESS;
}
int Exscan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_SUCCESS; }
int Gather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }
int Gatherv(const void*, int, MPI_Datatype, void*, const int[], const int[], MPI_Datatype, int, MPI_Comm) {
    return MPI_SUCCESS;
}
int Reduce(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm) { return MPI_SUCCESS; }
int Reduce_scatter(const void*, void*, const int[], MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_SUCCESS; }
int Reduce_scatter_block(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_SUCCESS; }
int Scan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_SUCCESS; }
int Scatter(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }
int Scatterv(const void*, const int[], const int[], MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm) {
    return MPI_SUCCESS;
}

#ifdef RONDO_HAVE_LARGE_COUNT_API
int Isend_c(const void* data, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
            MPI_Request* request) {
    return Isend(data, static_cast<int>(count), type, to, tag, comm, request);
}
int Irecv_c(void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    return Irecv(buffer, static_cast<int>(count), type, from, tag, comm, request);
}
#endif

}  // namespace functions
}  // namespace rondo::mpi::made_up
