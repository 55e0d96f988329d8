// SPDX-License-Identifier: BSD-3-Clause
// The symbols that programs find before those of the MPI library. The profiling names are among them: Open MPI's
// Fortran layer calls PMPI_, and so do tools, beneath which Rondo stands. Without <mpi.h>, whose declarations are those
// of one ABI.
#include "rondo/interposer/exports.hpp"

using rondo::interposer::Word;

// Six words are passed in registers on all 64-bit systems that MPI libraries run on: who is called with them finds what
// it would have found without Rondo.
#define RONDO_EXPORT(name, serve)                                                                              \
    extern "C" __attribute__((visibility("default"))) int name(Word input, Word output, Word count, Word type, \
                                                               Word op, Word comm) {                           \
        const void* caller = __builtin_return_address(0);                                                      \
        using Function = int (*)(Word, Word, Word, Word, Word, Word);                                          \
        static const auto other = reinterpret_cast<Function>(rondo::interposer::detour(#name, caller));        \
        if (other != nullptr) return other(input, output, count, type, op, comm);                              \
        return rondo::interposer::serve({input, output, count, type, op, comm}, caller);                       \
    }

RONDO_EXPORT(MPI_Scan, scan)
RONDO_EXPORT(PMPI_Scan, scan)
RONDO_EXPORT(MPI_Exscan, exscan)
RONDO_EXPORT(PMPI_Exscan, exscan)
#ifdef RONDO_HAVE_LARGE_COUNT_API
RONDO_EXPORT(MPI_Scan_c, scan_c)
RONDO_EXPORT(PMPI_Scan_c, scan_c)
RONDO_EXPORT(MPI_Exscan_c, exscan_c)
RONDO_EXPORT(PMPI_Exscan_c, exscan_c)
#endif
