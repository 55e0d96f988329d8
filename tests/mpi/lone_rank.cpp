// SPDX-License-Identifier: BSD-3-Clause
// One rank alone makes a call that is odd; the others cannot know. Prints, for each rank, what the call returned and
// whether the result is right, then the same of a good call on the same communicator.
//
//   lone_rank CASE...
#include <mpi.h>

#include <functional>
#include <map>
#include <string>

#include "print_by_rank.hpp"

namespace {

constexpr int ranks = 3;
constexpr int odd_one = 2;  // a leaf of every tree from rank 0

int rank = 0;

struct Case {
    std::function<int(MPI_Comm)> call;
    std::function<bool()> is_right;
};

void add_numbers(void* left, void* right, int* count, MPI_Datatype* type) {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(*type, &lower_bound, &extent);
    const long numbers = *count * (extent / static_cast<MPI_Aint>(sizeof(long)));
    for (long index = 0; index < numbers; ++index) static_cast<long*>(right)[index] += static_cast<long*>(left)[index];
}

long own = 0;
long result = 0;
long all[ranks + 1] = {};
const int one_each[ranks] = {1, 1, 1}, in_order[ranks] = {0, 1, 2};
MPI_Datatype committed = MPI_LONG;
MPI_Datatype uncommitted;
MPI_Datatype empty;
MPI_Op user_sum;
MPI_Op ordered_sum;  // the odd rank says that it does not commute

bool odd() { return rank == odd_one; }
int sum() { return ranks * (ranks + 1) / 2; }
bool sum_at(int root) { return rank != root || result == sum(); }
bool gathered() { return all[0] == 1 && all[1] == 2 && all[2] == 3; }

/// A reduction to rank 2: its own number and the result share a buffer there.
int reduce_in_one_buffer(MPI_Comm comm) {
    result = own;
    return MPI_Reduce(odd() ? &result : &own, &result, 1, MPI_LONG, MPI_SUM, odd_one, comm);
}

/// An all-to-all in which the odd rank has so many elements for rank 0, which awaits so many from it.
int exchange_with_rank_0(MPI_Comm comm, int sent, int awaited) {
    const long numbers[ranks + 1] = {own, own, own, own};
    const int to[ranks] = {odd() ? sent : 1, 1, 1}, from[ranks] = {1, 1, rank == 0 ? awaited : 1};
    return MPI_Alltoallv(numbers, to, in_order, MPI_LONG, all, from, in_order, MPI_LONG, comm);
}

/// An all-to-all in which the odd rank has so many elements for itself, and awaits so many.
int exchange_with_itself(MPI_Comm comm, int sent, int awaited) {
    const long numbers[ranks + 1] = {own, own, own, own};
    const int to[ranks] = {1, 1, odd() ? sent : 1}, from[ranks] = {1, 1, odd() ? awaited : 1};
    return MPI_Alltoallv(numbers, to, in_order, MPI_LONG, all, from, in_order, MPI_LONG, comm);
}

const int none_of_the_last[ranks] = {1, 1, 0};
bool gathered_but_the_last() { return all[0] == 1 && all[1] == 2 && all[2] == 0; }

const std::map<std::string, Case> cases = {
    {"alltoallv, elements of no bytes",
     {[](MPI_Comm comm) {
          const long numbers[ranks] = {own, own, own};
          return MPI_Alltoallv(numbers, one_each, in_order, odd() ? empty : MPI_LONG, all, none_of_the_last, in_order,
                               MPI_LONG, comm);
      },
      gathered_but_the_last}},
    {"alltoallv, more for itself", {[](MPI_Comm comm) { return exchange_with_itself(comm, 2, 1); }, gathered}},
    {"gatherv, elements of no bytes",
     {[](MPI_Comm comm) {
          return MPI_Gatherv(&own, 1, odd() ? empty : MPI_LONG, all, none_of_the_last, in_order, MPI_LONG, 0, comm);
      },
      [] { return rank != 0 || gathered_but_the_last(); }}},
    {"gatherv, one place for all",
     {[](MPI_Comm comm) {
          const int places[ranks] = {};
          return MPI_Gatherv(&own, 1, MPI_LONG, all, one_each, places, MPI_LONG, odd_one, comm);
      },
      [] { return !odd() || (all[0] >= 1 && all[0] <= ranks && all[1] == 0); }}},
    {"reduce, one buffer at the root", {reduce_in_one_buffer, [] { return sum_at(odd_one); }}},
    {"reduce, in place beside the root",
     {[](MPI_Comm comm) {
          result = own;
          return MPI_Reduce(odd() ? MPI_IN_PLACE : &own, &result, 1, MPI_LONG, MPI_SUM, 0, comm);
      },
      [] { return sum_at(0); }}},
    {"reduce, uncommitted datatype",
     {[](MPI_Comm comm) { return MPI_Reduce(&own, &result, 1, odd() ? uncommitted : committed, user_sum, 0, comm); },
      [] { return sum_at(0); }}},
    {"allreduce, one buffer",
     {[](MPI_Comm comm) {
          result = own;
          return MPI_Allreduce(odd() ? &result : &own, &result, 1, MPI_LONG, MPI_SUM, comm);
      },
      [] { return result == sum(); }}},
    {"scan, one buffer",
     {[](MPI_Comm comm) {
          result = own;
          return MPI_Scan(odd() ? &result : &own, &result, 1, MPI_LONG, MPI_SUM, comm);
      },
      [] { return result == static_cast<long>(rank + 1) * (rank + 2) / 2; }}},
    {"scan, operator that commutes elsewhere",
     {[](MPI_Comm comm) { return MPI_Scan(&own, &result, 1, MPI_LONG, ordered_sum, comm); },
      [] { return result == static_cast<long>(rank + 1) * (rank + 2) / 2; }}},
    {"exscan, operator that commutes elsewhere",
     {[](MPI_Comm comm) { return MPI_Exscan(&own, &result, 1, MPI_LONG, ordered_sum, comm); },
      [] { return rank == 0 || result == static_cast<long>(rank) * (rank + 1) / 2; }}},
    {"exscan, one buffer",
     {[](MPI_Comm comm) {
          result = own;
          return MPI_Exscan(odd() ? &result : &own, &result, 1, MPI_LONG, MPI_SUM, comm);
      },
      [] { return rank == 0 || result == static_cast<long>(rank) * (rank + 1) / 2; }}},
    {"exscan, no output at rank 0",
     {[](MPI_Comm comm) { return MPI_Exscan(&own, rank == 0 ? nullptr : &result, 1, MPI_LONG, MPI_SUM, comm); },
      [] { return rank == 0 || result == static_cast<long>(rank) * (rank + 1) / 2; }}},
    {"bcast, uncommitted datatype",
     {[](MPI_Comm comm) {
          result = rank == 0 ? 7 : 0;
          return MPI_Bcast(&result, 1, odd() ? uncommitted : committed, 0, comm);
      },
      [] { return result == 7; }}},
    {"bcast, no such root",
     {[](MPI_Comm comm) {
          result = rank == 0 ? 7 : 0;
          return MPI_Bcast(&result, 1, MPI_LONG, odd() ? ranks : 0, comm);
      },
      [] { return odd() || result == 7; }}},
    {"bcast, negative count",
     {[](MPI_Comm comm) {
          result = rank == 0 ? 7 : 0;
          return MPI_Bcast(&result, odd() ? -1 : 1, MPI_LONG, 0, comm);
      },
      [] { return result == 7; }}},
    {"exscan, negative count",
     {[](MPI_Comm comm) { return MPI_Exscan(&own, &result, odd() ? -1 : 1, MPI_LONG, MPI_SUM, comm); },
      [] { return rank != 1 || result == 1; }}},
    {"exscan, no input",
     {[](MPI_Comm comm) { return MPI_Exscan(odd() ? nullptr : &own, &result, 1, MPI_LONG, MPI_SUM, comm); },
      [] { return rank == 0 || result == static_cast<long>(rank) * (rank + 1) / 2; }}},
    {"scan, output in place",
     {[](MPI_Comm comm) { return MPI_Scan(&own, odd() ? MPI_IN_PLACE : &result, 1, MPI_LONG, MPI_SUM, comm); },
      [] { return odd() || result == static_cast<long>(rank + 1) * (rank + 2) / 2; }}},
    {"allgather, uncommitted datatype for the input",
     {[](MPI_Comm comm) { return MPI_Allgather(&own, 1, odd() ? uncommitted : committed, all, 1, MPI_LONG, comm); },
      gathered}},
    {"allgather, uncommitted datatype for the output",
     {[](MPI_Comm comm) { return MPI_Allgather(&own, 1, MPI_LONG, all, 1, odd() ? uncommitted : committed, comm); },
      gathered}},
    {"allgather, too much",
     {[](MPI_Comm comm) {
          const long pair[2] = {own, own};
          return MPI_Allgather(pair, odd() ? 2 : 1, MPI_LONG, all, 1, MPI_LONG, comm);
      },
      [] { return all[0] == 1 && all[1] == 2; }}},
    {"alltoall, too much",
     {[](MPI_Comm comm) {
          const long many[2 * ranks] = {own, own, own, own, own, own};
          return MPI_Alltoall(many, odd() ? 2 : 1, MPI_LONG, all, 1, MPI_LONG, comm);
      },
      [] { return all[0] == 1 && all[1] == 2; }}},
    {"alltoallv, more than rank 0 awaits", {[](MPI_Comm comm) { return exchange_with_rank_0(comm, 2, 1); }, gathered}},
    {"alltoallv, less than rank 0 awaits", {[](MPI_Comm comm) { return exchange_with_rank_0(comm, 1, 2); }, gathered}},
    {"gather, uncommitted datatype for the output",
     {[](MPI_Comm comm) {
          return MPI_Gather(&own, 1, MPI_LONG, all, 1, odd() ? uncommitted : committed, odd_one, comm);
      },
      [] { return !odd() || gathered(); }}},
    {"gather, too much at the root",
     {[](MPI_Comm comm) {
          const long pair[2] = {own, own};
          return MPI_Gather(pair, odd() ? 2 : 1, MPI_LONG, all, 1, MPI_LONG, odd_one, comm);
      },
      [] { return true; }}},
    {"scatter, uncommitted datatype for the output",
     {[](MPI_Comm comm) {
          const long numbers[ranks] = {1, 2, 3};
          return MPI_Scatter(numbers, 1, MPI_LONG, &result, 1, odd() ? uncommitted : committed, 0, comm);
      },
      [] { return result == own; }}},
    {"scatter, no such root",
     {[](MPI_Comm comm) {
          const long numbers[ranks] = {1, 2, 3};
          return MPI_Scatter(numbers, 1, MPI_LONG, &result, 1, MPI_LONG, odd() ? ranks : 0, comm);
      },
      [] { return odd() || result == own; }}},
    {"scatter, more room at the root",
     {[](MPI_Comm comm) {
          const long numbers[ranks] = {1, 2, 3};
          long pair[2] = {0, 0};
          const int code =
              MPI_Scatter(numbers, 1, MPI_LONG, odd() ? pair : &result, odd() ? 2 : 1, MPI_LONG, odd_one, comm);
          if (odd()) result = pair[0];
          return code;
      },
      [] { return result == own; }}},
    {"gatherv, uncommitted datatype for the output",
     {[](MPI_Comm comm) {
          return MPI_Gatherv(&own, 1, MPI_LONG, all, one_each, in_order, odd() ? uncommitted : committed, odd_one,
                             comm);
      },
      [] { return !odd() || gathered(); }}},
    {"gatherv, too much at the root",
     {[](MPI_Comm comm) {
          const long pair[2] = {own, own};
          return MPI_Gatherv(pair, odd() ? 2 : 1, MPI_LONG, all, one_each, in_order, MPI_LONG, odd_one, comm);
      },
      [] { return true; }}},
    {"scatterv, uncommitted datatype for the output",
     {[](MPI_Comm comm) {
          const long numbers[ranks] = {1, 2, 3};
          return MPI_Scatterv(numbers, one_each, in_order, MPI_LONG, &result, 1, odd() ? uncommitted : committed, 0,
                              comm);
      },
      [] { return result == own; }}},
    {"gatherv, more than the root awaits",
     {[](MPI_Comm comm) {
          const long pair[2] = {own, own};
          return MPI_Gatherv(pair, odd() ? 2 : 1, MPI_LONG, all, one_each, in_order, MPI_LONG, 0, comm);
      },
      [] { return rank != 0 || gathered(); }}},
    {"gatherv, less than the root awaits",
     {[](MPI_Comm comm) {
          const int awaited[ranks] = {1, 1, 2};
          return MPI_Gatherv(&own, 1, MPI_LONG, all, awaited, in_order, MPI_LONG, 0, comm);
      },
      [] { return rank != 0 || gathered(); }}},
    {"scatterv, more than awaited",
     {[](MPI_Comm comm) {
          const long numbers[ranks + 1] = {1, 2, 3, 4};
          const int counts[ranks] = {1, 1, 2};
          return MPI_Scatterv(numbers, counts, in_order, MPI_LONG, &result, 1, MPI_LONG, 0, comm);
      },
      [] { return result == own; }}},
    {"scatterv, less than awaited",
     {[](MPI_Comm comm) {
          const long numbers[ranks] = {1, 2, 3};
          long pair[2] = {0, 0};
          const int code = MPI_Scatterv(numbers, one_each, in_order, MPI_LONG, pair, odd() ? 2 : 1, MPI_LONG, 0, comm);
          result = pair[0];
          return code;
      },
      [] { return result == own; }}},
    {"scatterv, no such root",
     {[](MPI_Comm comm) {
          const long numbers[ranks] = {1, 2, 3};
          return MPI_Scatterv(numbers, one_each, in_order, MPI_LONG, &result, 1, MPI_LONG, odd() ? ranks : 0, comm);
      },
      [] { return odd() || result == own; }}},
    {"scatterv, more room at the root",
     {[](MPI_Comm comm) {
          const long numbers[ranks] = {1, 2, 3};
          long pair[2] = {0, 0};
          const int code = MPI_Scatterv(numbers, one_each, in_order, MPI_LONG, odd() ? pair : &result, odd() ? 2 : 1,
                                        MPI_LONG, odd_one, comm);
          if (odd()) result = pair[0];
          return code;
      },
      [] { return result == own; }}},
    {"reduce_scatter_block, one buffer",
     {[](MPI_Comm comm) {
          long numbers[ranks] = {own, own, own};
          long mine = 0;
          const int error = MPI_Reduce_scatter_block(numbers, odd() ? numbers : &mine, 1, MPI_LONG, MPI_SUM, comm);
          result = odd() ? numbers[0] : mine;
          return error;
      },
      [] { return result == sum(); }}},
};

std::string said;

void attempt(const std::string& what, const Case& subject, MPI_Comm comm) {
    result = 0;
    for (long& each : all) each = 0;
    const int code = subject.call(comm);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    std::string line = "rank " + std::to_string(rank) + ", " + what + ": class " + std::to_string(error_class);
    if (code == MPI_SUCCESS) line += subject.is_right() ? ", right" : ", wrong";
    said += line + "\n";
}

const Case good = {[](MPI_Comm comm) { return MPI_Allreduce(&own, &result, 1, MPI_LONG, MPI_SUM, comm); },
                   [] { return result == sum(); }};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size != ranks) MPI_Abort(MPI_COMM_WORLD, 2);
    own = rank + 1;
    MPI_Type_dup(MPI_LONG, &committed);
    MPI_Type_commit(&committed);
    MPI_Type_contiguous(1, MPI_LONG, &uncommitted);
    MPI_Type_contiguous(0, MPI_LONG, &empty);
    MPI_Type_commit(&empty);
    MPI_Op_create(add_numbers, 1, &user_sum);
    MPI_Op_create(add_numbers, odd() ? 0 : 1, &ordered_sum);
    for (int index = 1; index < argc; ++index) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        // Once on a communicator that nobody has used, once more when all is decided.
        attempt(argv[index], cases.at(argv[index]), comm);
        attempt(std::string(argv[index]) + ", again", cases.at(argv[index]), comm);
        attempt("good call", good, comm);
        // Not freed, so that what is left of it reaches no other.
    }
    print_by_rank(said);
    MPI_Finalize();
    return 0;
}
