// SPDX-License-Identifier: BSD-3-Clause
// Collectives of which the last rank alone has its data in memory of a device, every second time. Only that rank loads
// a GPU runtime: before the first collective or after some.
//
//   device_memory RUNTIME ROUNDS early|late|unused|never [fail]    unused: loaded early, but all data are the host's
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

int failures = 0;
int rank = 0, size = 1;

/// A runtime's memory, or none.
struct Device {
    char* memory = nullptr;
    void (*copy)(void* into, const void* from, std::size_t bytes) = nullptr;
    int (*questions)() = nullptr;
    void (*fail)(int copies) = nullptr;
};
Device device;

template <class Function>
void find(void* runtime, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(runtime, name));
}

void load(const char* name) {
    void* const runtime = dlopen(name, RTLD_NOW);
    if (runtime == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
    char* (*memory)() = nullptr;
    find(runtime, memory, "stand_in_memory");
    find(runtime, device.copy, "stand_in_copy");
    find(runtime, device.questions, "stand_in_questions");
    find(runtime, device.fail, "stand_in_fail");
    device.memory = memory();
}

using Vector = std::vector<long>;

/// A vector where a call is to find it: its own memory, or the device's.
class Placed {
  public:
    Placed(Vector& vector, bool on_device, std::size_t place) : vector_(vector) {
        if (!on_device) return;
        there_ = reinterpret_cast<long*>(device.memory + place);
        device.copy(there_, vector_.data(), bytes());
    }
    Placed(const Placed&) = delete;
    Placed& operator=(const Placed&) = delete;
    ~Placed() {
        if (there_ != nullptr) device.copy(vector_.data(), there_, bytes());
    }
    [[nodiscard]] long* data() const { return there_ != nullptr ? there_ : vector_.data(); }

  private:
    [[nodiscard]] std::size_t bytes() const { return vector_.size() * sizeof(long); }
    Vector& vector_;
    long* there_ = nullptr;
};

bool input_on_device = false, output_on_device = false;

/// Calls, and compares what has become of the output.
void expect(const char* name, Vector input, Vector output, const Vector& right,
            const std::function<int(long*, long*)>& call) {
    int error = MPI_SUCCESS;
    {
        const Placed in(input, input_on_device, 0);
        const Placed out(output, output_on_device, std::size_t{1} << 19);
        error = call(in.data(), out.data());
    }
    if (error == MPI_SUCCESS && output == right) return;
    ++failures;
    std::fprintf(stderr, "rank %d: %s returns %d, and %ld %ld ...\n", rank, name, error, output[0], output[1]);
}

void add(void* left, void* right, int* count, MPI_Datatype* type) {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(*type, &lower_bound, &extent);
    for (MPI_Aint index = 0; index < *count; ++index) {
        *reinterpret_cast<long*>(static_cast<char*>(right) + index * extent) +=
            *reinterpret_cast<const long*>(static_cast<char*>(left) + index * extent);
    }
}

/// So many elements equal to the first value, then so many to the second one.
Vector values(std::size_t count, long value, std::size_t more = 0, long next = 0) {
    Vector result(count, value);
    result.insert(result.end(), more, next);
    return result;
}

void call_all(std::size_t count) {
    const auto n = static_cast<int>(count);
    const auto p = static_cast<std::size_t>(size);
    const auto me = static_cast<std::size_t>(rank);
    const long own = rank + 1;
    const long sum = static_cast<long>(size) * (size + 1) / 2;
    const long before = static_cast<long>(rank) * own / 2;
    const int last = size - 1;
    const MPI_Comm all = MPI_COMM_WORLD;
    const Vector mine = values(count, own);
    const Vector anything = values(count, -1, 1, -1);
    const Vector summed = values(count, sum, 1, -1);
    expect("allreduce", mine, anything, summed,
           [&](long* in, long* out) { return MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, all); });
    expect("allreduce in place", {0}, mine, values(count, sum),
           [&](long*, long* out) { return MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_LONG, MPI_SUM, all); });
    for (const int root : {0, last}) {
        expect("bcast", {0}, mine, values(count, root + 1),
               [&](long*, long* out) { return MPI_Bcast(out, n, MPI_LONG, root, all); });
        expect("reduce", mine, anything, rank == root ? summed : anything,
               [&](long* in, long* out) { return MPI_Reduce(in, out, n, MPI_LONG, MPI_SUM, root, all); });
    }
    expect("scan", mine, anything, values(count, before + own, 1, -1),
           [&](long* in, long* out) { return MPI_Scan(in, out, n, MPI_LONG, MPI_SUM, all); });
    expect("exscan", mine, anything, rank == 0 ? anything : values(count, before, 1, -1),
           [&](long* in, long* out) { return MPI_Exscan(in, out, n, MPI_LONG, MPI_SUM, all); });
    expect("exscan in place", {0}, mine, values(count, rank == 0 ? own : before),
           [&](long*, long* out) { return MPI_Exscan(MPI_IN_PLACE, out, n, MPI_LONG, MPI_SUM, all); });
    expect("reduce_scatter_block", values(p * count, own), anything, summed,
           [&](long* in, long* out) { return MPI_Reduce_scatter_block(in, out, n, MPI_LONG, MPI_SUM, all); });
    // The second half of the ranks get nothing.
    std::vector<int> counts(p, n);
    for (std::size_t each = p / 2; each < p; ++each) counts[each] = 0;
    expect("reduce_scatter", values(p * count, own), anything, me < p / 2 ? summed : anything,
           [&](long* in, long* out) { return MPI_Reduce_scatter(in, out, counts.data(), MPI_LONG, MPI_SUM, all); });

    Vector gathered, with_gaps, own_part;
    std::vector<int> displacements;
    for (std::size_t each = 0; each < p; ++each) {
        const auto number = static_cast<long>(each) + 1;
        const Vector part = values(count, number);
        const Vector part_and_gap = values(count, number, 1, -1);
        const Vector before_call = each == me ? part : values(count, -1);
        gathered.insert(gathered.end(), part.begin(), part.end());
        with_gaps.insert(with_gaps.end(), part_and_gap.begin(), part_and_gap.end());
        own_part.insert(own_part.end(), before_call.begin(), before_call.end());
        displacements.push_back(static_cast<int>(each * (count + 1)));
    }
    std::fill(counts.begin(), counts.end(), n);
    expect("allgather", mine, values(p * count, -1), gathered,
           [&](long* in, long* out) { return MPI_Allgather(in, n, MPI_LONG, out, n, MPI_LONG, all); });
    expect("allgather in place", {0}, own_part, gathered,
           [&](long*, long* out) { return MPI_Allgather(MPI_IN_PLACE, 0, MPI_LONG, out, n, MPI_LONG, all); });
    expect("allgatherv", mine, values(p * (count + 1), -1), with_gaps, [&](long* in, long* out) {
        return MPI_Allgatherv(in, n, MPI_LONG, out, counts.data(), displacements.data(), MPI_LONG, all);
    });

    Vector outgoing;
    Vector incoming;
    Vector incoming_with_gaps;
    for (std::size_t each = 0; each < p; ++each) {
        const auto number = static_cast<long>(each) + 1;
        const Vector sent = values(count, 100 * own + number);
        const Vector received = values(count, 100 * number + own);
        const Vector received_and_gap = values(count, 100 * number + own, 1, -1);
        outgoing.insert(outgoing.end(), sent.begin(), sent.end());
        incoming.insert(incoming.end(), received.begin(), received.end());
        incoming_with_gaps.insert(incoming_with_gaps.end(), received_and_gap.begin(), received_and_gap.end());
    }
    expect("alltoall", outgoing, values(p * count, -1), incoming,
           [&](long* in, long* out) { return MPI_Alltoall(in, n, MPI_LONG, out, n, MPI_LONG, all); });
    expect("alltoall in place", {0}, outgoing, incoming,
           [&](long*, long* out) { return MPI_Alltoall(MPI_IN_PLACE, 0, MPI_LONG, out, n, MPI_LONG, all); });
    std::vector<int> one_after_the_other;
    for (int each = 0; each < size; ++each) one_after_the_other.push_back(each * n);
    expect("alltoallv", outgoing, values(p * (count + 1), -1), incoming_with_gaps, [&](long* in, long* out) {
        return MPI_Alltoallv(in, counts.data(), one_after_the_other.data(), MPI_LONG, out, counts.data(),
                             displacements.data(), MPI_LONG, all);
    });

    // Every second element: what lies between stays.
    MPI_Datatype sparse;
    MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &sparse);
    MPI_Type_commit(&sparse);
    MPI_Op operation;
    MPI_Op_create(add, 1, &operation);
    Vector result = values(2 * count, -1);
    for (std::size_t index = 0; index < count; ++index) result[2 * index] = sum;
    expect("allreduce with gaps", values(2 * count, own), values(2 * count, -1), result,
           [&](long* in, long* out) { return MPI_Allreduce(in, out, n, sparse, operation, all); });
    MPI_Op_free(&operation);
    MPI_Type_free(&sparse);
}

/// Copies fail on the last rank: its calls do, and nobody waits for it.
void call_without_copies() {
    const auto report = [](const char* name, const std::function<int(long*)>& call) {
        long host = rank + 1;
        const bool fails = device.memory != nullptr;
        if (fails) device.fail(1);
        const int code = call(fails ? reinterpret_cast<long*>(device.memory) : &host);
        if ((code != MPI_SUCCESS) == fails) return;
        ++failures;
        std::fprintf(stderr, "rank %d: %s returns %d\n", rank, name, code);
    };
    long sum = 0;
    Vector all(static_cast<std::size_t>(size));
    report("allreduce", [&](long* in) { return MPI_Allreduce(in, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); });
    report("bcast from there", [](long* data) { return MPI_Bcast(data, 1, MPI_LONG, size - 1, MPI_COMM_WORLD); });
    report("bcast to there", [](long* data) { return MPI_Bcast(data, 1, MPI_LONG, 0, MPI_COMM_WORLD); });
    report("alltoall", [&](long* in) {
        Vector mine(static_cast<std::size_t>(size), rank);
        return MPI_Alltoall(device.memory != nullptr ? in : mine.data(), 1, MPI_LONG, all.data(), 1, MPI_LONG,
                            MPI_COMM_WORLD);
    });
    report("allgather",
           [&](long* in) { return MPI_Allgather(in, 1, MPI_LONG, all.data(), 1, MPI_LONG, MPI_COMM_WORLD); });
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
    const std::string when = argv[3];
    const bool loads = rank == size - 1 && when != "never", is_used = when != "unused";
    if (loads && when != "late") load(argv[1]);
    for (int round = 0; round < std::atoi(argv[2]); ++round) {
        input_on_device = is_used && device.memory != nullptr && round % 4 != 0;
        output_on_device = is_used && device.memory != nullptr && round % 4 != 2;
        call_all(1);
        call_all(5000);
        if (loads && device.memory == nullptr) load(argv[1]);
    }
    if (argc > 4) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        call_without_copies();
        call_all(1);
    }
    if (device.questions != nullptr) std::printf("questions %d\n", device.questions());
    int total = 0;
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("failures %d\n", total);
    MPI_Finalize();
    return total == 0 ? 0 : 1;
}
