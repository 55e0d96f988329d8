// SPDX-License-Identifier: BSD-3-Clause
// The reduction kernels beside MPI_Reduce_local and STREAM's add, in place, on one rank: reduce_local.py compiles and
// starts it for each MPI library.
//
//   reduce_local [--l2-kib N] [--memory-mib N] [--repetitions N]
//
// Prints a line of JSON for each case. Repetitions are interleaved, and ratios are medians of ratios of neighbours, as
// in kernels_benchmark.cpp.

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/benchmarks/kernels_timing.hpp"

namespace {

using namespace rondo::benchmarks;
namespace kernels = rondo::kernels;
using kernels::Element;
using kernels::Operation;

MPI_Datatype type_of(Element element) {
    switch (element) {
        case Element::int8: return MPI_INT8_T;
        case Element::int16: return MPI_INT16_T;
        case Element::int32: return MPI_INT32_T;
        case Element::int64: return MPI_INT64_T;
        case Element::uint8: return MPI_UINT8_T;
        case Element::uint16: return MPI_UINT16_T;
        case Element::uint32: return MPI_UINT32_T;
        case Element::uint64: return MPI_UINT64_T;
        case Element::float32: return MPI_FLOAT;
        case Element::float64: return MPI_DOUBLE;
        case Element::boolean: return MPI_C_BOOL;
        case Element::byte: return MPI_BYTE;
        case Element::complex64: return MPI_C_FLOAT_COMPLEX;
        case Element::complex128: return MPI_C_DOUBLE_COMPLEX;
        case Element::float_int: return MPI_FLOAT_INT;
        case Element::double_int: return MPI_DOUBLE_INT;
        case Element::long_int: return MPI_LONG_INT;
        case Element::int_int: return MPI_2INT;
        case Element::short_int: return MPI_SHORT_INT;
        default: return MPI_DATATYPE_NULL;  // Fortran's
    }
}

MPI_Op operator_of(Operation operation) {
    switch (operation) {
        case Operation::max: return MPI_MAX;
        case Operation::min: return MPI_MIN;
        case Operation::sum: return MPI_SUM;
        case Operation::prod: return MPI_PROD;
        case Operation::land: return MPI_LAND;
        case Operation::band: return MPI_BAND;
        case Operation::lor: return MPI_LOR;
        case Operation::bor: return MPI_BOR;
        case Operation::lxor: return MPI_LXOR;
        case Operation::bxor: return MPI_BXOR;
        case Operation::maxloc: return MPI_MAXLOC;
        default: return MPI_MINLOC;
    }
}

struct Options {
    std::size_t l2_bytes = bytes_in_l2();
    std::size_t memory_bytes = bytes_in_memory();
    int repetitions = 3;
};

Options parse(int argument_count, char** arguments) {
    Options options;
    for (int i = 1; i + 1 < argument_count; i += 2) {
        const std::string name = arguments[i];
        const unsigned long value = std::stoul(arguments[i + 1]);
        if (name == "--l2-kib") {
            options.l2_bytes = value << 10;
        } else if (name == "--memory-mib") {
            options.memory_bytes = value * mib;
        } else if (name == "--repetitions") {
            options.repetitions = static_cast<int>(value);
        } else {
            throw std::invalid_argument(name + ": unknown option");
        }
    }
    return options;
}

void measure(const Case& entry, const char* place, const Buffers& buffers, std::size_t bytes, int repetitions) {
    const MPI_Datatype type = type_of(entry.element);
    const kernels::Kernel kernel = kernels::find(entry.operation, entry.element);
    if (type == MPI_DATATYPE_NULL || kernel == nullptr) return;
    const MPI_Op op = operator_of(entry.operation);
    const auto* left = buffers.operand(0);
    auto* right = buffers.operand(1);
    const std::size_t count = bytes / kernels::extent(entry.element);
    fill(right, bytes, 1);
    // Pairs once on new operands: a second time maxloc would find its own result, which a branch predicts.
    auto time = [&, seed = 1](auto run) mutable {
        if (is_pair(entry)) fill(right, bytes, static_cast<std::uint64_t>(++seed));
        return seconds_per_run(1, run);
    };
    std::vector<double> own_seconds, mpi_seconds, against_stream, against_mpi;
    for (int i = 0; i < repetitions; ++i) {
        const double stream = time([&] { stream_add(left, right, right, bytes); });
        const double own = time([&] { kernel(left, right, right, count); });
        const double mpi = time([&] { MPI_Reduce_local(left, right, static_cast<int>(count), type, op); });
        own_seconds.push_back(own), mpi_seconds.push_back(mpi);
        against_stream.push_back(stream / own), against_mpi.push_back(mpi / own);
    }
    const double moved = 3e-9 * static_cast<double>(bytes);
    std::printf(
        "{\"place\": \"%s\", \"bytes\": %zu, \"operation\": \"%s\", \"element\": \"%s\", \"gb_per_s\": %.2f, "
        "\"mpi_gb_per_s\": %.2f, \"ratio_to_stream_add\": %.3f, \"ratio_to_mpi\": %.3f}\n",
        place, bytes, entry.operation_name, entry.element_name, moved / median(own_seconds),
        moved / median(mpi_seconds), median(against_stream), median(against_mpi));
}

}  // namespace

int main(int argument_count, char** arguments) {
    MPI_Init(&argument_count, &arguments);
    int code = 0;
    try {
        const Options options = parse(argument_count, arguments);
        const Buffers in_l2(options.l2_bytes), in_memory(options.memory_bytes);
        for (const Case& entry : cases) measure(entry, "L2", in_l2, options.l2_bytes, 20 * options.repetitions);
        for (const Case& entry : cases) measure(entry, "memory", in_memory, options.memory_bytes, options.repetitions);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "reduce_local: %s\n", error.what());
        code = 2;
    }
    MPI_Finalize();
    return code;
}
