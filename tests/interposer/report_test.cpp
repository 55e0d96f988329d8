// SPDX-License-Identifier: BSD-3-Clause
// What is counted, and what a report says of it.
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "rondo/backends/mpi/trace.hpp"
#include "rondo/interposer/kept_tallies.hpp"
#include "rondo/interposer/tally.hpp"
#include "tests/interposer/program.hpp"

/// MPI_Finalize leaves Rondo's instructions to threads that may be reading them.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();  // NOLINT: its name
extern "C" const char* __lsan_default_suppressions() { return "leak:runtime_to_instruct"; }   // NOLINT

namespace rondo::interposer {
namespace {

namespace files = std::filesystem;

/// A folder that goes when the test is over.
class Folder {
  public:
    Folder() : path_(::testing::TempDir() + "rondo-report-" + std::to_string(::getpid())) {
        files::remove_all(path_);
        files::create_directory(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { files::remove_all(path_); }

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Of a rank, its file of this kind; "" if there is none.
    [[nodiscard]] std::string text(int rank, const std::string& kind) const {
        for (const auto& each : files::directory_iterator(path_)) {
            const std::string name = each.path().filename();
            if (!name.starts_with(std::to_string(rank) + "-") || !name.ends_with(kind)) continue;
            std::ifstream file(each.path(), std::ios::binary);
            return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        }
        return "";
    }

  private:
    std::string path_;
};

void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

/// Makes a few calls with a report.
void make_calls(const Folder& folder, const std::string& rules, bool ends) {
    start({{"RONDO_REPORT", folder.path()}, {"RONDO_RULES", rules}});
    for (int call = 0; call < 5; ++call) allreduce(MPI_COMM_WORLD, 4);
    for (int call = 0; call < 3; ++call) allreduce(MPI_COMM_WORLD, 1000);
    int number = 0;
    for (int call = 0; call < 2; ++call) MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&number, 0, MPI_INT, 0, MPI_COMM_WORLD);
    if (ends) made_up::finalize();
}

constexpr const char* rules_text = "# a comment\nallreduce bytes <= 64 -> recursive_doubling\nallreduce -> native\n";

TEST(Reports, say_of_every_kind_of_call_how_many_there_were_and_who_carried_them_out) {
    const Folder folder;
    const RulesFile rules(rules_text);
    made_up::play(2, [&] { make_calls(folder, rules.path(), true); }, true);
    for (int rank = 0; rank < 2; ++rank) {
        const std::string report = folder.text(rank, ".json");
        expect_part(report, "{\"rank\":" + std::to_string(rank) + ",\"size\":2,\"host\":");
        expect_part(report, "\"library\":\"MPICH Version 5.0.2\",\"abi\":\"mpich\",\"ended\":true");
        expect_part(report,
                    "{\"collective\":\"allreduce\",\"algorithm\":\"recursive_doubling\",\"reason\":\"\",\"line\":2,"
                    "\"classes\":[{\"up_to\":64,\"calls\":5,\"bytes\":80,\"smallest\":16,\"largest\":16,");
        expect_part(report,
                    "{\"collective\":\"allreduce\",\"algorithm\":\"native\",\"reason\":\"chosen\",\"line\":3,"
                    "\"classes\":[{\"up_to\":16384,\"calls\":3,\"bytes\":12000,");
        expect_part(report,
                    "{\"collective\":\"bcast\",\"algorithm\":\"native\",\"reason\":\"no rule\",\"line\":0,"
                    "\"classes\":[{\"up_to\":64,\"calls\":2,\"bytes\":8,");
        expect_part(report, "{\"collective\":\"bcast\",\"algorithm\":\"native\",\"reason\":\"empty\"");
        EXPECT_EQ(folder.text(rank, ".counts"), "") << "the report says it all";
        EXPECT_EQ(folder.text(rank, ".part"), "");
    }
}

TEST(Reports, of_a_program_that_ends_in_its_midst_say_so) {
    const Folder folder;
    const RulesFile rules(rules_text);
    made_up::play(2, [&] { make_calls(folder, rules.path(), false); }, true);
    expect_part(folder.text(0, ".json"), "\"ended\":false");
    expect_part(folder.text(1, ".json"), "\"calls\":5");
}

TEST(Reports, of_a_rank_that_is_killed_are_in_the_file_that_it_has_counted_in) {
    const Folder folder;
    const RulesFile rules(rules_text);
    made_up::play(2, [&] { make_calls(folder, rules.path(), true); });  // ends without destructors
    EXPECT_EQ(folder.text(0, ".json"), "");
    const std::string kept = folder.text(1, ".counts");
    ASSERT_EQ(kept.size(), 256 * sizeof(mpi::Tally));
    EXPECT_TRUE(kept.starts_with("rondo counts 3"));
    expect_part(kept, "{\"rank\":1,\"size\":2,");
    expect_part(kept, std::string("2\0allreduce\0recursive_doubling\0", 31));
}

TEST(Reports, of_calls_that_go_the_shortest_way_are_complete) {
    const Folder folder;
    const RulesFile rules("allreduce -> recursive_doubling\n");
    made_up::play(
        2,
        [&] {
            start({{"RONDO_REPORT", folder.path()}, {"RONDO_RULES", rules.path()}});
            for (int call = 0; call < 10; ++call) allreduce(MPI_COMM_WORLD);
            EXPECT_GE(rondo_served_again(), 9);
            int number = 0, sum = 0;
            for (int call = 0; call < 10; ++call) MPI_Scan(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        },
        true);
    expect_part(folder.text(0, ".json"), "\"calls\":10,\"bytes\":40,\"smallest\":4,\"largest\":4");
    expect_part(folder.text(0, ".json"),
                "{\"collective\":\"scan\",\"algorithm\":\"native\",\"reason\":\"no rule\",\"line\":0,"
                "\"classes\":[{\"up_to\":64,\"calls\":10,\"bytes\":40");
}

TEST(Traces, have_each_call_with_its_messages) {
    const Folder folder;
    const RulesFile rules("allreduce -> recursive_doubling\n");
    made_up::play(
        2,
        [&] {
            start({{"RONDO_TRACE", folder.path()}, {"RONDO_RULES", rules.path()}});
            for (int call = 0; call < 3; ++call) allreduce(MPI_COMM_WORLD, 4);
            int number = 0;
            MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
        },
        true);
    EXPECT_EQ(folder.text(0, ".json"), "") << "nobody asked for a report";
    for (int rank = 0; rank < 2; ++rank) {
        std::istringstream lines(folder.text(rank, ".trace"));
        std::string head;
        std::getline(lines, head);
        expect_part(head, "{\"rank\":" + std::to_string(rank) + ",\"size\":2,");
        expect_part(head,
                    "\"lost\":0,\"treatments\":[{\"collective\":\"allreduce\",\"algorithm\":\"recursive_doubling\"");
        int kinds[5]{}, of_bcast = 0;
        std::uint64_t kind = 0, call = 0, step = 0, bytes = 0, began = 0, ended = 0;
        std::int64_t peer = 0, tag = 0;
        while (lines >> kind >> call >> peer >> tag >> step >> bytes >> began >> ended) {
            ++kinds[kind];
            EXPECT_LE(began, ended);
            of_bcast += kind == 0 && call == 1;
            EXPECT_EQ(bytes, kind == 0 && call == 1 ? 4 : 16);
            EXPECT_EQ(peer, kind == 1 || kind == 2 ? 1 - rank : -1);
        }
        EXPECT_EQ(kinds[0], 4);
        EXPECT_EQ(kinds[1], 3);
        EXPECT_EQ(kinds[2], 3);
        EXPECT_EQ(of_bcast, 1);
    }
}

TEST(Traces, keep_the_first_events_and_count_the_others) {
    mpi::Trace trace;
    for (std::size_t event = 0; event < mpi::Trace::most + 7; ++event) trace.add({.bytes = event});
    ASSERT_EQ(trace.events().size(), mpi::Trace::most);
    EXPECT_EQ(trace.events().back().bytes, mpi::Trace::most - 1);
    EXPECT_EQ(trace.lost(), 7);
}

TEST(Tallies, count_calls_in_classes_of_size) {
    mpi::Tally tally({"bcast", "binomial", "", 7});
    for (const std::uint64_t bytes : {0U, 64U, 65U, 1024U, 5'000'000U}) tally.count(bytes, 10);
    const auto& classes = tally.classes();
    EXPECT_EQ(classes[0].calls, 2);
    EXPECT_EQ(classes[0].bytes, 64);
    EXPECT_EQ(classes[0].smallest, 0);
    EXPECT_EQ(classes[0].largest, 64);
    EXPECT_EQ(classes[1].calls, 2);
    EXPECT_EQ(classes[1].nanoseconds, 20);
    EXPECT_EQ(classes[2].calls, 0);
    EXPECT_EQ(classes[5].calls, 1);
    EXPECT_EQ(classes[5].smallest, 5'000'000);
}

TEST(Tallies, names_that_are_too_long_are_cut_and_each_ends) {
    const std::string longer(400, 'x');
    const mpi::Tally tally({"bcast", "native", longer, 12, "persistent"});
    std::array<char, sizeof(mpi::Tally)> bytes{};
    std::memcpy(bytes.data(), static_cast<const void*>(&tally), sizeof tally);
    EXPECT_STREQ(bytes.data(), "12");
    EXPECT_STREQ(bytes.data() + 3, "bcast");
    EXPECT_STREQ(bytes.data() + 9, "native");
    EXPECT_EQ(std::strlen(bytes.data() + 16), 272 - 16 - 2);
    EXPECT_STREQ(bytes.data() + 271, "") << "no room for the form";
}

TEST(Tallies, in_a_file_have_so_many_places) {
    const Folder folder;
    KeptTallies kept;
    EXPECT_EQ(kept.add({"bcast", "native"}), nullptr) << "there is no file yet";
    EXPECT_NE(kept.open(folder.path() + "/none/0-x.counts", "{}"), "");
    EXPECT_FALSE(kept.is_open());
    ASSERT_EQ(kept.open(folder.path() + "/0-x.counts", "{}"), "");
    for (int place = 0; place < 255; ++place) ASSERT_NE(kept.add({"bcast", "native", "", place}), nullptr);
    EXPECT_EQ(kept.add({"bcast", "native"}), nullptr);
    EXPECT_EQ(folder.text(0, ".counts")[16], 0);
    kept.mark_ended();
    EXPECT_EQ(folder.text(0, ".counts")[16], 1);
    kept.remove_file();
    EXPECT_EQ(folder.text(0, ".counts"), "");
}

}  // namespace
}  // namespace rondo::interposer
