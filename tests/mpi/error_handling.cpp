// SPDX-License-Identifier: BSD-3-Clause
// What programs see of errors: returned class, calls of their own error handlers, and with which communicator.
// Prints one line per rank and case, which must be the same natively and under Rondo.
//
//   error_handling arguments [[function, ]case]...  arguments that every rank can tell to be wrong, except these cases
//   error_handling truncation           two ranks that disagree on the count
//   error_handling fatal                a wrong argument under the default error handler
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mpi.h>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

struct Observed {
    int calls = 0;
    int error_class = MPI_SUCCESS;
    MPI_Comm communicator = MPI_COMM_NULL;
};

Observed observed;

// Variadic, as MPI declares it.
// NOLINTNEXTLINE(cert-dcl50-cpp)
void handler(MPI_Comm* communicator, int* code, ...) {
    ++observed.calls;
    observed.communicator = *communicator;
    MPI_Error_class(*code, &observed.error_class);
}

/// A library may not survive its own judgement; then this is the last that is heard.
const char* current_case = nullptr;

void say_last_words() {
    if (current_case == nullptr) return;
    const std::string line = std::string("crashed in: ") + current_case + "\n";
    (void)!write(STDERR_FILENO, line.data(), line.size());
}

void crash(int signal_number) {
    say_last_words();
    current_case = nullptr;
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
}

struct Arguments {
    const void* send;
    void* receive;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm communicator;
    int root = 0;
};

struct Function {
    std::string name;
    bool is_one_sided;  ///< what is wrong for one rank may be right for another, whose messages nobody receives
    std::function<int(const Arguments&)> call;

    /// This function, or its large-count form.
    [[nodiscard]] bool is(const std::string& other) const { return name == other || name == other + "_c"; }
};

std::vector<Function> functions() {
    std::vector<Function> all = {
        {"scan", false,
         [](const Arguments& a) { return MPI_Scan(a.send, a.receive, a.count, a.type, a.op, a.communicator); }},
        {"exscan", false,
         [](const Arguments& a) { return MPI_Exscan(a.send, a.receive, a.count, a.type, a.op, a.communicator); }},
        {"bcast", true,
         [](const Arguments& a) {
             return MPI_Bcast(const_cast<void*>(a.send), a.count, a.type, a.root, a.communicator);
         }},
        {"reduce", true, [](const Arguments& a) {
             return MPI_Reduce(a.send, a.receive, a.count, a.type, a.op, a.root, a.communicator);
         }}};
#if MPI_VERSION >= 4
    all.push_back({"scan_c", false, [](const Arguments& a) {
                       return MPI_Scan_c(a.send, a.receive, a.count, a.type, a.op, a.communicator);
                   }});
    all.push_back({"exscan_c", false, [](const Arguments& a) {
                       return MPI_Exscan_c(a.send, a.receive, a.count, a.type, a.op, a.communicator);
                   }});
    all.push_back({"bcast_c", true, [](const Arguments& a) {
                       return MPI_Bcast_c(const_cast<void*>(a.send), a.count, a.type, a.root, a.communicator);
                   }});
    all.push_back({"reduce_c", true, [](const Arguments& a) {
                       return MPI_Reduce_c(a.send, a.receive, a.count, a.type, a.op, a.root, a.communicator);
                   }});
#endif
    return all;
}

std::string name_of(int error_class) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(error_class, text, &length);
    return std::to_string(error_class) + " (" + text + ")";
}

/// Each of the two ranks has a part of as many elements.
template <class Count>
std::array<Count, 2> each(int count) {
    return {static_cast<Count>(count), static_cast<Count>(count)};
}

/// The second part behind the first.
template <class Displacement>
std::array<Displacement, 2> behind(int count) {
    return {0, static_cast<Displacement>(count)};
}

/// Besides, where nobody waits for a rank that has found an error.
std::vector<Function> functions_of_all_to_all() {
    std::vector<Function> all = {
        {"allreduce", false,
         [](const Arguments& a) { return MPI_Allreduce(a.send, a.receive, a.count, a.type, a.op, a.communicator); }},
        {"reduce_scatter_block", false,
         [](const Arguments& a) {
             return MPI_Reduce_scatter_block(a.send, a.receive, a.count, a.type, a.op, a.communicator);
         }},
        {"reduce_scatter", false,
         [](const Arguments& a) {
             return MPI_Reduce_scatter(a.send, a.receive, each<int>(a.count).data(), a.type, a.op, a.communicator);
         }},
        {"allgather", true,
         [](const Arguments& a) {
             return MPI_Allgather(a.send, a.count, a.type, a.receive, a.count, a.type, a.communicator);
         }},
        {"allgatherv", true,
         [](const Arguments& a) {
             return MPI_Allgatherv(a.send, a.count, a.type, a.receive, each<int>(a.count).data(),
                                   behind<int>(a.count).data(), a.type, a.communicator);
         }},
        {"alltoall", true,
         [](const Arguments& a) {
             return MPI_Alltoall(a.send, a.count, a.type, a.receive, a.count, a.type, a.communicator);
         }},
        {"alltoallv", true,
         [](const Arguments& a) {
             const auto counts = each<int>(a.count), places = behind<int>(a.count);
             return MPI_Alltoallv(a.send, counts.data(), places.data(), a.type, a.receive, counts.data(), places.data(),
                                  a.type, a.communicator);
         }},
        {"alltoallw", true, [](const Arguments& a) {
             const auto counts = each<int>(a.count), places = behind<int>(a.count);
             const std::vector<MPI_Datatype> types(counts.size(), a.type);
             return MPI_Alltoallw(a.send, counts.data(), places.data(), types.data(), a.receive, counts.data(),
                                  places.data(), types.data(), a.communicator);
         }}};
#if MPI_VERSION >= 4
    all.push_back({"allreduce_c", false, [](const Arguments& a) {
                       return MPI_Allreduce_c(a.send, a.receive, a.count, a.type, a.op, a.communicator);
                   }});
    all.push_back({"reduce_scatter_block_c", false, [](const Arguments& a) {
                       return MPI_Reduce_scatter_block_c(a.send, a.receive, a.count, a.type, a.op, a.communicator);
                   }});
    all.push_back({"reduce_scatter_c", false, [](const Arguments& a) {
                       return MPI_Reduce_scatter_c(a.send, a.receive, each<MPI_Count>(a.count).data(), a.type, a.op,
                                                   a.communicator);
                   }});
    all.push_back({"allgather_c", true, [](const Arguments& a) {
                       return MPI_Allgather_c(a.send, a.count, a.type, a.receive, a.count, a.type, a.communicator);
                   }});
    all.push_back({"allgatherv_c", true, [](const Arguments& a) {
                       return MPI_Allgatherv_c(a.send, a.count, a.type, a.receive, each<MPI_Count>(a.count).data(),
                                               behind<MPI_Aint>(a.count).data(), a.type, a.communicator);
                   }});
    all.push_back({"alltoall_c", true, [](const Arguments& a) {
                       return MPI_Alltoall_c(a.send, a.count, a.type, a.receive, a.count, a.type, a.communicator);
                   }});
    all.push_back({"alltoallv_c", true, [](const Arguments& a) {
                       const auto counts = each<MPI_Count>(a.count);
                       const auto places = behind<MPI_Aint>(a.count);
                       return MPI_Alltoallv_c(a.send, counts.data(), places.data(), a.type, a.receive, counts.data(),
                                              places.data(), a.type, a.communicator);
                   }});
    all.push_back({"alltoallw_c", true, [](const Arguments& a) {
                       const auto counts = each<MPI_Count>(a.count);
                       const auto places = behind<MPI_Aint>(a.count);
                       const std::vector<MPI_Datatype> types(counts.size(), a.type);
                       return MPI_Alltoallw_c(a.send, counts.data(), places.data(), types.data(), a.receive,
                                              counts.data(), places.data(), types.data(), a.communicator);
                   }});
#endif
    return all;
}

/// And where a part goes to or from the root.
std::vector<Function> functions_of_parts() {
    std::vector<Function> all = {
        {"gather", true,
         [](const Arguments& a) {
             return MPI_Gather(a.send, a.count, a.type, a.receive, a.count, a.type, a.root, a.communicator);
         }},
        {"gatherv", true,
         [](const Arguments& a) {
             return MPI_Gatherv(a.send, a.count, a.type, a.receive, each<int>(a.count).data(),
                                behind<int>(a.count).data(), a.type, a.root, a.communicator);
         }},
        {"scatter", true,
         [](const Arguments& a) {
             return MPI_Scatter(a.send, a.count, a.type, a.receive, a.count, a.type, a.root, a.communicator);
         }},
        {"scatterv", true, [](const Arguments& a) {
             return MPI_Scatterv(a.send, each<int>(a.count).data(), behind<int>(a.count).data(), a.type, a.receive,
                                 a.count, a.type, a.root, a.communicator);
         }}};
#if MPI_VERSION >= 4
    all.push_back({"gather_c", true, [](const Arguments& a) {
                       return MPI_Gather_c(a.send, a.count, a.type, a.receive, a.count, a.type, a.root, a.communicator);
                   }});
    all.push_back({"scatter_c", true, [](const Arguments& a) {
                       return MPI_Scatter_c(a.send, a.count, a.type, a.receive, a.count, a.type, a.root,
                                            a.communicator);
                   }});
    all.push_back({"gatherv_c", true, [](const Arguments& a) {
                       return MPI_Gatherv_c(a.send, a.count, a.type, a.receive, each<MPI_Count>(a.count).data(),
                                            behind<MPI_Aint>(a.count).data(), a.type, a.root, a.communicator);
                   }});
    all.push_back({"scatterv_c", true, [](const Arguments& a) {
                       return MPI_Scatterv_c(a.send, each<MPI_Count>(a.count).data(), behind<MPI_Aint>(a.count).data(),
                                             a.type, a.receive, a.count, a.type, a.root, a.communicator);
                   }});
#endif
    return all;
}

/// A library may wait for ever for a rank that has been told that its arguments are wrong.
constexpr unsigned seconds_to_judge = 5;

/// Calls, and describes what happened.
std::string attempt(const std::string& name, const Function& function, const Arguments& arguments) {
    observed = {};
    alarm(seconds_to_judge);
    const int code = function.call(arguments);
    alarm(0);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    std::string line = name + ": returns " + name_of(error_class);
    if (observed.calls > 0) {
        line += ", handler called " + std::to_string(observed.calls) + " times with " + name_of(observed.error_class);
        line += observed.communicator == arguments.communicator ? " on the call's communicator" : " elsewhere";
    }
    return line;
}

/// The lines of all ranks, in order of rank.
void print(const std::vector<std::string>& lines) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::string text;
    for (const std::string& line : lines) text += "rank " + std::to_string(rank) + ", " + line + "\n";
    text.resize(16384, '\0');
    std::vector<char> all(text.size() * static_cast<std::size_t>(size));
    const int length = static_cast<int>(text.size());
    MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), each<int>(length).data(), behind<int>(length).data(),
                MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int other = 0; rank == 0 && other < size; ++other) {
        std::fputs(all.data() + text.size() * static_cast<std::size_t>(other), stdout);
    }
}

MPI_Comm intercommunicator(MPI_Errhandler errhandler) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm both;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    MPI_Comm_set_errhandler(both, errhandler);
    MPI_Comm_free(&half);
    return both;
}

void wrong_arguments(MPI_Comm communicator, MPI_Errhandler errhandler, const std::set<std::string>& left_out) {
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Datatype derived;
    MPI_Type_contiguous(2, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    MPI_Comm inter = intercommunicator(errhandler);

    std::signal(SIGSEGV, crash);
    std::signal(SIGBUS, crash);
    std::signal(SIGABRT, crash);
    std::signal(SIGALRM, crash);
    std::atexit(say_last_words);

    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double send[8] = {};
    double receive[8] = {};
    const Arguments good = {send, receive, 1, MPI_INT, MPI_SUM, communicator};
    const std::vector<std::pair<std::string, Arguments>> cases = {
        {"nothing wrong", good},
        {"no operator", {send, receive, 1, MPI_INT, MPI_OP_NULL, communicator}},
        {"negative count", {send, receive, -1, MPI_INT, MPI_SUM, communicator}},
        {"no datatype", {send, receive, 1, MPI_DATATYPE_NULL, MPI_SUM, communicator}},
        {"no datatype for no elements", {send, receive, 0, MPI_DATATYPE_NULL, MPI_SUM, communicator}},
        {"uncommitted datatype", {send, receive, 1, uncommitted, MPI_SUM, communicator}},
        {"derived datatype with a predefined operator", {send, receive, 1, derived, MPI_SUM, communicator}},
        {"bitwise operator on doubles", {send, receive, 1, MPI_DOUBLE, MPI_BAND, communicator}},
        {"MPI_MAXLOC on integers", {send, receive, 1, MPI_INT, MPI_MAXLOC, communicator}},
        {"MPI_SUM on pairs", {send, receive, 1, MPI_2INT, MPI_SUM, communicator}},
        {"MPI_SUM on bytes", {send, receive, 1, MPI_BYTE, MPI_SUM, communicator}},
        {"MPI_MAX on complex numbers", {send, receive, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, communicator}},
        {"MPI_REPLACE", {send, receive, 1, MPI_INT, MPI_REPLACE, communicator}},
        {"MPI_NO_OP", {send, receive, 1, MPI_INT, MPI_NO_OP, communicator}},
        {"receive in place", {send, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, communicator}},
        // Where there is a root, on ranks that are not it.
        {"send in place", {MPI_IN_PLACE, receive, 1, MPI_INT, MPI_SUM, communicator, 1 - rank}},
        {"no communicator", {send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL}},
        {"intercommunicator", {send, receive, 1, MPI_INT, MPI_SUM, inter, rank == 0 ? MPI_ROOT : 0}},
        {"one buffer for both", {send, send, 1, MPI_INT, MPI_SUM, communicator}},
        {"root beyond the last rank", {send, receive, 1, MPI_INT, MPI_SUM, communicator, 2}},
        {"root below the first rank", {send, receive, 1, MPI_INT, MPI_SUM, communicator, -17}},
        {"no root", {send, receive, 1, MPI_INT, MPI_SUM, communicator, MPI_PROC_NULL}},
        {"no send buffer", {nullptr, receive, 1, MPI_INT, MPI_SUM, communicator}},
        {"no buffers for no elements", {nullptr, nullptr, 0, MPI_INT, MPI_SUM, communicator}},
        {"nothing wrong afterwards", good},
    };
    std::vector<Function> all = functions();
    for (const Function& function : functions_of_all_to_all()) all.push_back(function);
    for (const Function& function : functions_of_parts()) all.push_back(function);
    for (const Function& function : all) {
        std::vector<std::string> lines;
        for (const auto& [name, arguments] : cases) {
            const std::string what = function.name + ", " + name;
            if (left_out.count(name) != 0 || left_out.count(what) != 0) continue;
            if (function.is("bcast") && name == "send in place") continue;
            // Of an allgather, only rank 0 sends from where it receives.
            if ((function.is("allgather") || function.is("allgatherv")) && name == "one buffer for both") continue;
            // Of a gather or scatter, wrong on one rank, for which the other waits.
            static const std::set<std::string> one_waits = {"receive in place", "send in place", "one buffer for both",
                                                            "no send buffer"};
            static const std::set<std::string> rooted = {"gather",  "gather_c",  "gatherv",  "gatherv_c",
                                                         "scatter", "scatter_c", "scatterv", "scatterv_c"};
            if (rooted.count(function.name) != 0 && one_waits.count(name) != 0) continue;
            current_case = what.c_str();
            const bool needs_own = function.is_one_sided && arguments.communicator == communicator;
            Arguments own = arguments;
            // Not freed, so that what is left of it reaches no other.
            if (needs_own) MPI_Comm_dup(communicator, &own.communicator);
            lines.push_back(attempt(what, function, own));
            current_case = nullptr;
        }
        print(lines);
    }
    MPI_Comm_free(&inter);
    MPI_Type_free(&uncommitted);
    MPI_Type_free(&derived);
}

/// Rank 0 sends more than rank 1 expects. Each case on a communicator of its own, as MPI promises nothing for the next.
void truncation(MPI_Errhandler errhandler) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::vector<int> send(100, 1);
    std::vector<int> receive(100);
    std::vector<std::string> lines;
    for (const Function& function : functions()) {
        const int root = function.is("reduce") ? 1 : 0;
        for (const bool with_handler : {false, true}) {
            MPI_Comm communicator;
            MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
            MPI_Comm_set_errhandler(communicator, with_handler ? errhandler : MPI_ERRORS_RETURN);
            lines.push_back(
                attempt(function.name + (with_handler ? " with a handler" : ""), function,
                        {send.data(), receive.data(), rank == 0 ? 100 : 10, MPI_INT, MPI_SUM, communicator, root}));
            // Not freed: whatever is still under way may stay under way.
        }
    }
    print(lines);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string mode = argc > 1 ? argv[1] : "arguments";
    if (mode == "fatal") {
        int send = 1;
        int receive = 0;
        MPI_Exscan(&send, &receive, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
        std::printf("still here\n");
        MPI_Finalize();
        return 0;
    }

    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(handler, &errhandler);
    if (mode == "truncation") {
        truncation(errhandler);
    } else {
        // Errors without a communicator go to one of these, depending on the version of MPI.
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
        MPI_Comm communicator;
        MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
        MPI_Comm_set_errhandler(communicator, errhandler);
        wrong_arguments(communicator, errhandler, std::set<std::string>(argv + (argc > 2 ? 2 : argc), argv + argc));
        MPI_Comm_free(&communicator);
    }
    MPI_Errhandler_free(&errhandler);
    MPI_Finalize();
    return 0;
}
