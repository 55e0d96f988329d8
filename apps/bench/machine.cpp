// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

namespace rondo::bench {
namespace {

struct Facts {
    char boot_id[64];
    char host[MPI_MAX_PROCESSOR_NAME];
    int first_on_node;  // its rank
    int cores;
};

std::string first_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

int usable_cores() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    return static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

Facts own_facts(MPI_Comm comm) {
    Facts facts{};
    std::string machine = first_line("/proc/sys/kernel/random/boot_id");
    int length = 0;
    MPI_Get_processor_name(facts.host, &length);
    if (machine.empty()) machine = facts.host;
    std::strncpy(facts.boot_id, machine.c_str(), sizeof facts.boot_id - 1);
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(comm, &facts.first_on_node);
    MPI_Bcast(&facts.first_on_node, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    facts.cores = usable_cores();
    return facts;
}

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    // MPICH: "MPICH Version:      5.0.2\nMPICH Release date: ..."; Open MPI: "Open MPI v5.0.11, package: ...".
    std::string first_line = text, plain;
    first_line = first_line.substr(0, first_line.find_first_of("\n,"));
    for (const char letter : first_line) {
        const bool blank = letter == ' ' || letter == '\t' || letter == ':';
        if (!blank) plain += letter;
        else if (!plain.empty() && plain.back() != ' ') plain += ' ';
    }
    return plain;
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) return line.substr(std::min(line.find(':') + 2, line.size()));
    }
    utsname names;
    return uname(&names) == 0 ? names.machine : "unknown";
}

}  // namespace

Machine::Machine(MPI_Comm comm) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const Facts own = own_facts(comm);
    std::vector<Facts> all(static_cast<std::size_t>(size));
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm);

    std::vector<std::string> boot_ids;
    std::vector<int> firsts, ranks_per_machine, cores_of_machine;
    for (const Facts& facts : all) {
        const auto boot = std::find(boot_ids.begin(), boot_ids.end(), facts.boot_id);
        machines.push_back(static_cast<int>(boot - boot_ids.begin()));
        if (boot == boot_ids.end()) {
            boot_ids.emplace_back(facts.boot_id);
            ranks_per_machine.push_back(0);
            cores_of_machine.push_back(0);
        }
        const auto machine = static_cast<std::size_t>(machines.back());
        ++ranks_per_machine[machine];
        // Bound ranks have cores of their own.
        cores_of_machine[machine] = std::max(cores_of_machine[machine], facts.cores);

        const auto first = std::find(firsts.begin(), firsts.end(), facts.first_on_node);
        nodes.push_back(static_cast<int>(first - firsts.begin()));
        if (first == firsts.end()) {
            firsts.push_back(facts.first_on_node);
            hosts.emplace_back(facts.host);
            ranks_per_node.push_back(0);
        }
        ++ranks_per_node[static_cast<std::size_t>(nodes.back())];
    }
    for (std::size_t i = 0; i < boot_ids.size(); ++i) {
        const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
        const bool bound = cores_of_machine[i] < online;
        const int usable = bound ? online : cores_of_machine[i];
        ranks_per_core = std::max(ranks_per_core, static_cast<double>(ranks_per_machine[i]) / usable);
    }
#ifdef RONDO_ABI_SIMGRID
    ranks_per_core = 1;  // simulated ranks have cores of their own
#endif
    cores = own.cores;
    first_on_node = own.first_on_node == rank;
    if (rank != 0) return;
    library = library_version();
    processor = processor_name();
    utsname names;
    if (uname(&names) == 0) kernel = std::string(names.sysname) + " " + names.release;
}

/// The file has a line of names and a line of numbers for each protocol.
std::int64_t retransmitted_segments() {
    std::ifstream file("/proc/self/net/snmp");
    std::string names, numbers;
    while (std::getline(file, names) && std::getline(file, numbers)) {
        if (!names.starts_with("Tcp:")) continue;
        std::istringstream name_words(names), number_words(numbers);
        for (std::string name, value; name_words >> name && number_words >> value;) {
            if (name == "RetransSegs") return std::stoll(value);
        }
    }
    return 0;
}

}  // namespace rondo::bench
