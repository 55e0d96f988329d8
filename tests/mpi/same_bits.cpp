// SPDX-License-Identifier: BSD-3-Clause
// Reductions at the extremes: MPI's operators on integers, truth values and bytes, and minima and maxima of
// floating-point numbers with NaN and zeros of both signs. The same calls, over and over, on a communicator of their
// own for each type and operator: results shall be the same to the last bit, whoever carries them out.
// Arguments: of which type, and operator. None: of all, with MPI_THREAD_MULTIPLE, for else a guard compares once for
// all communicators. Prints what changed, and how many operators on types there were.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <mpi.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

constexpr int calls = 12;
int rank = 0, reductions = 0, changes = 0;
std::string wanted_type, wanted_op;

using Bytes = std::vector<char>;
using Operator = std::pair<const char*, MPI_Op>;

/// `elements`: of this rank, one behind the other.
void check(const char* type_name, MPI_Datatype type, const Operator& op, int count, const Bytes& elements,
           MPI_Comm comm) {
    const auto again_and_again = [&](const char* name, auto&& call) {
        Bytes first;
        int is_changed = 0;
        for (int number = 0; number < calls; ++number) {
            Bytes output(elements.size());
            call(elements.data(), output.data());
            if (number == 0) first = output;
            if (output != first) is_changed = 1;
        }
        int on_any = 0;
        PMPI_Reduce(&is_changed, &on_any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
        changes += on_any;
        if (on_any != 0) std::printf("%s of %d %s by %s changes\n", name, count, type_name, op.first);
    };
    const MPI_Op with = op.second;
    again_and_again("MPI_Allreduce", [&](auto* in, auto* out) { MPI_Allreduce(in, out, count, type, with, comm); });
    again_and_again("MPI_Reduce", [&](auto* in, auto* out) { MPI_Reduce(in, out, count, type, with, 0, comm); });
    again_and_again("MPI_Scan", [&](auto* in, auto* out) { MPI_Scan(in, out, count, type, with, comm); });
}

/// Ranks together go through all combinations of the extremes.
template <class T>
T extreme_of(const std::vector<T>& extremes, int index) {
    for (int i = 0; i < rank; ++i) index /= static_cast<int>(extremes.size());
    return extremes[static_cast<std::size_t>(index) % extremes.size()];
}

template <class T>
void store(Bytes& elements, std::size_t at, const T& value) {
    std::memcpy(elements.data() + at, &value, sizeof value);
}

/// `put(elements, place, index)` stores an element.
template <class Put>
void check_all(const char* type_name, MPI_Datatype type, std::size_t extent, const std::vector<Operator>& ops,
               Put&& put) {
    if (type == MPI_DATATYPE_NULL || (!wanted_type.empty() && wanted_type != type_name)) return;
    MPI_Aint lower = 0, actual = 0;
    MPI_Type_get_extent(type, &lower, &actual);
    if (static_cast<std::size_t>(actual) != extent) return;  // Fortran's depend on its compiler
    Bytes in(extent), out(extent);
    for (const Operator& op : ops) {
        if (!wanted_op.empty() && wanted_op != op.first) continue;
        if (MPI_Reduce_local(in.data(), out.data(), 1, type, op.second) != MPI_SUCCESS) continue;
        ++reductions;
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
        for (const int count : {1, 7, 301, 5003}) {
            Bytes elements(static_cast<std::size_t>(count) * extent);
            for (int i = 0; i < count; ++i) put(elements, static_cast<std::size_t>(i) * extent, i);
            check(type_name, type, op, count, elements, comm);
        }
        MPI_Comm_free(&comm);
    }
}

const std::vector<Operator> ordering = {{"MPI_MAX", MPI_MAX}, {"MPI_MIN", MPI_MIN}};
const std::vector<Operator> logical = {{"MPI_LAND", MPI_LAND}, {"MPI_LOR", MPI_LOR}, {"MPI_LXOR", MPI_LXOR}};
const std::vector<Operator> bitwise = {{"MPI_BAND", MPI_BAND}, {"MPI_BOR", MPI_BOR}, {"MPI_BXOR", MPI_BXOR}};
const std::vector<Operator> arithmetic = {{"MPI_SUM", MPI_SUM}, {"MPI_PROD", MPI_PROD}};
const std::vector<Operator> locating = {{"MPI_MAXLOC", MPI_MAXLOC}, {"MPI_MINLOC", MPI_MINLOC}};

std::vector<Operator> joined(std::initializer_list<std::vector<Operator>> all) {
    std::vector<Operator> joint;
    for (const auto& each : all) joint.insert(joint.end(), each.begin(), each.end());
    return joint;
}

template <class T>
std::vector<T> extremes() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) {
        const T sign = static_cast<T>(std::uint64_t{1} << (8 * sizeof(T) - 1));
        const T below = static_cast<T>((std::uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
        return {T{0}, sign, T{1}, below, static_cast<T>(-1)};
    } else {
        return {T{0}, -T{0}, Limits::quiet_NaN(), T{1}, -Limits::infinity(), std::copysign(Limits::quiet_NaN(), T{-1})};
    }
}

template <class T>
void check_numbers(const char* name, MPI_Datatype type, const std::vector<Operator>& ops,
                   const std::vector<T>& values = extremes<T>()) {
    check_all(name, type, sizeof(T), ops,
              [&](Bytes& elements, std::size_t at, int i) { store(elements, at, extreme_of(values, i)); });
}

template <class Value, class Index>
void check_pairs(const char* name, MPI_Datatype type) {
    struct Pair {
        Value value;
        Index index;
    };
    const auto values = extremes<Value>();
    check_all(name, type, sizeof(Pair), locating, [&](Bytes& elements, std::size_t at, int i) {
        store(elements, at, extreme_of(values, i));
        store(elements, at + offsetof(Pair, index), static_cast<Index>((i + 3 * rank) % 7));
    });
}

}  // namespace

int main(int argc, char** argv) {
    const bool all = argc <= 2;
    const int needed = all ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int threads = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, needed, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (!all) wanted_type = argv[1], wanted_op = argv[2];
    const auto of_integers = joined({ordering, arithmetic, logical, bitwise});
#define INTEGER(T, type) check_numbers<T>(#type, type, of_integers);
    INTEGER(int, MPI_INT)
    INTEGER(long, MPI_LONG)
    INTEGER(short, MPI_SHORT)
    INTEGER(unsigned short, MPI_UNSIGNED_SHORT)
    INTEGER(unsigned, MPI_UNSIGNED)
    INTEGER(unsigned long, MPI_UNSIGNED_LONG)
    INTEGER(long long, MPI_LONG_LONG_INT)
    INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG)
    INTEGER(signed char, MPI_SIGNED_CHAR)
    INTEGER(unsigned char, MPI_UNSIGNED_CHAR)
    INTEGER(std::int8_t, MPI_INT8_T)
    INTEGER(std::int16_t, MPI_INT16_T)
    INTEGER(std::int32_t, MPI_INT32_T)
    INTEGER(std::int64_t, MPI_INT64_T)
    INTEGER(std::uint8_t, MPI_UINT8_T)
    INTEGER(std::uint16_t, MPI_UINT16_T)
    INTEGER(std::uint32_t, MPI_UINT32_T)
    INTEGER(std::uint64_t, MPI_UINT64_T)
    INTEGER(MPI_Aint, MPI_AINT)
    INTEGER(MPI_Offset, MPI_OFFSET)
    INTEGER(MPI_Count, MPI_COUNT)
    INTEGER(std::int32_t, MPI_INTEGER)
    INTEGER(std::int8_t, MPI_INTEGER1)
    INTEGER(std::int16_t, MPI_INTEGER2)
    INTEGER(std::int32_t, MPI_INTEGER4)
    INTEGER(std::int64_t, MPI_INTEGER8)
#undef INTEGER
    check_numbers<unsigned char>("MPI_BYTE", MPI_BYTE, bitwise);
    check_numbers<unsigned char>("MPI_C_BOOL", MPI_C_BOOL, logical, {0, 1});
    check_numbers<unsigned char>("MPI_CXX_BOOL", MPI_CXX_BOOL, logical, {0, 1});
    check_numbers<std::int32_t>("MPI_LOGICAL", MPI_LOGICAL, logical, {0, 1});
    check_pairs<long, int>("MPI_LONG_INT", MPI_LONG_INT);
    check_pairs<int, int>("MPI_2INT", MPI_2INT);
    check_pairs<short, int>("MPI_SHORT_INT", MPI_SHORT_INT);
    check_pairs<std::int32_t, std::int32_t>("MPI_2INTEGER", MPI_2INTEGER);
    check_numbers<float>("MPI_FLOAT", MPI_FLOAT, ordering);
    check_numbers<double>("MPI_DOUBLE", MPI_DOUBLE, ordering);
    check_numbers<float>("MPI_REAL", MPI_REAL, ordering);
    check_numbers<double>("MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, ordering);
    check_pairs<float, int>("MPI_FLOAT_INT", MPI_FLOAT_INT);
    check_pairs<double, int>("MPI_DOUBLE_INT", MPI_DOUBLE_INT);
    if (rank == 0) std::printf("%d reductions, %d changes\n", reductions, changes);
    MPI_Finalize();
    return threads >= needed ? 0 : 3;
}
