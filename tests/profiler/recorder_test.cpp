// SPDX-License-Identifier: BSD-3-Clause
// What is recorded of calls: lines of those that are alike, samples, sites, communicators and requests.
#include "rondo/profiler/recorder.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <unistd.h>

#include "rondo/profiler/communicators.hpp"
#include "rondo/profiler/file.hpp"
#include "rondo/profiler/requests.hpp"
#include "rondo/profiler/sites.hpp"
#include "tests/backends/mpi/made_up_library.hpp"

namespace rondo::profiler {
namespace {

namespace made_up = mpi::made_up;

void record(int ranks, const std::function<void()>& role) {
    const std::string folder = ::testing::TempDir() + "rondo-profile-" + std::to_string(::getpid());
    std::filesystem::create_directory(folder);
    made_up::play(ranks, [&] {
        ASSERT_EQ(open_file(folder + "/" + std::to_string(made_up::rank()), "{}"), "");
        know_nodes(std::vector<int>(static_cast<std::size_t>(ranks), 0));
        recorder.on = true;
        role();
    });
    std::filesystem::remove_all(folder);
}

const Header& header() { return recorder.image->header; }

std::uint32_t number_of(const std::string& function) {
    for (std::uint32_t each = 0; each < functions(); ++each) {
        if (name_of(each) == function) return each;
    }
    std::abort();
}

const char place_of_a_call = 0, place_of_another = 0;

/// MPI_Allreduce of so many ints.
Call allreduce(std::int64_t count) {
    const std::uint32_t function = number_of("MPI_Allreduce");
    return {.function = function,
            .base = function,
            .blocks = true,
            .comm = static_cast<HandleWord>(MPI_COMM_WORLD),
            .datatype = static_cast<HandleWord>(MPI_INT),
            .op = static_cast<HandleWord>(MPI_SUM),
            .count = count,
            .lengths = {Lengths::Of::count},
            .caller = &place_of_a_call};
}

const Line* count(const Call& call, Ticks before = 0) {
    std::uint64_t bytes = 0;
    const Slot& slot = slot_for(call, bytes);
    count_carefully(slot, bytes, ticks() - before);
    return slot.line;
}

TEST(Recorder, calls_that_are_alike_are_counted_in_one_line) {
    record(2, [] {
        const Line* const line = count(allreduce(2));
        EXPECT_EQ(count(allreduce(3)), line) << "of one class of size";
        EXPECT_EQ(header().lines, 1);
        EXPECT_EQ(line->calls, 2);
        EXPECT_EQ(line->bytes, 20);
        EXPECT_EQ(line->smallest, 8);
        EXPECT_EQ(line->largest, 12);
        EXPECT_STREQ(line->datatype.data(), "MPI_INT");
        EXPECT_STREQ(line->op.data(), "MPI_SUM");
        EXPECT_EQ(line->element, 4);
        EXPECT_EQ(line->size_class, 4);
        EXPECT_EQ(line->commutative, 1);
    });
}

TEST(Recorder, calls_that_differ_have_lines_of_their_own) {
    record(2, [] {
        std::vector<Call> calls(8, allreduce(2));
        calls[1].count = 4;
        calls[2].datatype = static_cast<HandleWord>(MPI_FLOAT);
        calls[3].op = static_cast<HandleWord>(MPI_MAX);
        calls[4].caller = &place_of_another;
        calls[5].function = number_of("MPI_Iallreduce");
        calls[6].root = 1;
        calls[7].comm = static_cast<HandleWord>(MPI_COMM_SELF);
        std::vector<const Line*> lines;
        lines.reserve(calls.size());
        for (const Call& call : calls) lines.push_back(count(call));
        for (std::size_t each = 0; each < calls.size(); ++each) {
            EXPECT_EQ(count(calls[each]), lines[each]) << each;
            for (std::size_t other = 0; other < each; ++other) EXPECT_NE(lines[other], lines[each]) << other << each;
        }
        EXPECT_EQ(header().lines, calls.size());
    });
}

TEST(Recorder, the_time_in_mpi_is_that_between_entry_and_exit) {
    record(2, [] {
        const Line* const line = count(allreduce(2), 1'000'000);
        EXPECT_GE(line->ticks, 1'000'000);
        EXPECT_LT(line->ticks, 100'000'000'000);
        count_call(number_of("MPI_Send"), ticks() - 500, 16, [](Ticks elapsed) { return elapsed / 2; });
        const Function& sends = recorder.image->functions[number_of("MPI_Send")];
        EXPECT_EQ(sends.calls, 1);
        EXPECT_EQ(sends.bytes, 16);
        EXPECT_GE(sends.ticks, 250);
    });
}

TEST(Recorder, lengths_are_those_of_the_whole_vector) {
    record(3, [] {
        Call gather = allreduce(2);
        gather.function = gather.base = number_of("MPI_Gather");
        gather.root = 1;
        gather.op = 0;
        gather.part_type = static_cast<HandleWord>(MPI_DOUBLE);
        gather.part_count = 5;
        gather.lengths = {Lengths::Of::count, true};
        const Line* const line = count(gather);
        EXPECT_EQ(line->bytes, made_up::rank() == 1 ? 3 * 2 * 4 : 3 * 5 * 8) << "elsewhere, by the part";
        const std::array<int, 3> counts{1, 2, 4};
        Call scatter = allreduce(0);
        scatter.function = scatter.base = number_of("MPI_Reduce_scatter");
        scatter.counts = counts.data();
        scatter.lengths = {Lengths::Of::counts};
        const Line* const scattered = count(scatter);
        EXPECT_EQ(scattered->bytes, 28);
        const std::array<int, 3> longer{1, 2, 5};
        scatter.counts = longer.data();
        EXPECT_NE(count(scatter), scattered) << "32 bytes are of the next class";
        Call barrier = allreduce(7);
        barrier.function = barrier.base = number_of("MPI_Barrier");
        barrier.lengths = {Lengths::Of::nothing};
        EXPECT_EQ(count(barrier)->bytes, 0);
    });
}

TEST(Recorder, a_datatype_with_the_handle_of_a_freed_one_is_looked_up_again) {
    record(1, [] {
        MPI_Datatype type = made_up::contiguous(2, MPI_INT);
        EXPECT_EQ(size_of_type(static_cast<HandleWord>(type)), 8);
        made_up::free(&type);
        const MPI_Datatype other = made_up::contiguous(5, MPI_INT);
        mpi::end_epoch();  // as MPI_Type_free does
        EXPECT_EQ(size_of_type(static_cast<HandleWord>(other)), 20);
        Call call = allreduce(1);
        call.datatype = static_cast<HandleWord>(other);
        const Line* const line = count(call);
        EXPECT_EQ(line->bytes, 20);
        EXPECT_STREQ(line->datatype.data(), "derived");
    });
}

TEST(Recorder, a_communicator_that_is_made_has_a_kind_and_is_forgotten_with_its_handle) {
    record(4, [] {
        count(allreduce(2));
        const MPI_Comm half = made_up::split(MPI_COMM_WORLD, {0, 0, 1, 1});
        note_communicator(static_cast<HandleWord>(half), "MPI_Comm_split");
        Call call = allreduce(2);
        call.comm = static_cast<HandleWord>(half);
        const Line* const line = count(call);
        const CommunicatorKind& kind = recorder.image->communicators[line->communicator];
        EXPECT_EQ(kind.size, 2);
        EXPECT_EQ(kind.number, 1);
        EXPECT_STREQ(recorder.image->texts.data() + kind.made_by, "MPI_Comm_split");
        const std::uint32_t instance = communicator_of(half).instance;
        forget_communicator(static_cast<HandleWord>(half));
        made_up::free(half);
        const MPI_Comm whole = made_up::duplicate(MPI_COMM_WORLD);
        ASSERT_EQ(whole, half);  // made by a function that nobody sees
        const Line* const other = count(call);
        EXPECT_NE(other, line);
        EXPECT_EQ(recorder.image->communicators[other->communicator].size, 4);
        EXPECT_NE(communicator_of(whole).instance, instance);
    });
}

TEST(Recorder, all_ranks_of_a_communicator_know_it_by_one_number) {
    record(4, [] {
        const MPI_Comm half = made_up::split(MPI_COMM_WORLD, {0, 1, 0, 1});
        note_communicator(static_cast<HandleWord>(half), "MPI_Comm_split");
        const auto id = static_cast<long long>(recorder.image->instances[communicator_of(half).instance].id >> 1);
        long long ids[2] = {id, -id};
        mpi::library().Allreduce(MPI_IN_PLACE, ids, 2, MPI_LONG_LONG, MPI_MIN, half);
        EXPECT_EQ(ids[0], -ids[1]);
        long long others[2] = {id, -id};
        mpi::library().Allreduce(MPI_IN_PLACE, others, 2, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
        EXPECT_NE(others[0], -others[1]) << "the halves are two";
    });
}

TEST(Recorder, all_ranks_sample_the_same_calls) {
    int sampled = 0;
    for (std::uint32_t number = 0; number < 3 * all_sampled; ++number) sampled += is_sampled(number) ? 1 : 0;
    EXPECT_GT(sampled, 256 + 64);
    EXPECT_LT(sampled, 2 * 256);
    record(2, [] {
        for (int call = 0; call < 10; ++call) count(allreduce(2));
        EXPECT_EQ(header().samples, 10);
        Call alone = allreduce(2);
        alone.comm = static_cast<HandleWord>(MPI_COMM_SELF);
        count(alone);
        EXPECT_EQ(header().samples, 10) << "nobody waits there";
        Call later = allreduce(2);
        later.function = number_of("MPI_Iallreduce");
        later.blocks = false;
        count(later);
        EXPECT_EQ(header().samples, 10);
    });
}

TEST(Recorder, calls_for_which_there_is_no_line_are_counted_by_their_function) {
    record(2, [] {
        const auto callers = std::make_unique<std::array<char, 1100>>();
        for (const char& caller : *callers) {
            Call call = allreduce(2);
            call.caller = &caller;
            count(call);
        }
        EXPECT_EQ(header().lines, recorder.image->lines.size());
        EXPECT_EQ(header().calls_without_line, 1100 - recorder.image->lines.size());
        EXPECT_EQ(recorder.image->functions[number_of("MPI_Allreduce")].calls, header().calls_without_line);
    });
}

TEST(Sites, are_numbered_by_address_and_frames) {
    record(1, [] {
        const std::uint32_t first = site_of(&place_of_a_call, 0, "");
        EXPECT_TRUE(knows_site(&place_of_a_call, 0));
        EXPECT_FALSE(knows_site(&place_of_a_call, 5));
        EXPECT_EQ(site_of(&place_of_a_call, 0, ""), first);
        const std::uint32_t in_python = site_of(&place_of_a_call, 5, "step.py:12 in step");
        EXPECT_NE(in_python, first);
        EXPECT_STREQ(recorder.image->texts.data() + recorder.image->sites[in_python].frames, "step.py:12 in step");
        EXPECT_EQ(header().sites, 2);
    });
}

TEST(Requests, share_the_time_of_the_call_that_completes_them) {
    record(2, [] {
        auto* const line = const_cast<Line*>(count(allreduce(2)));
        auto* const other = const_cast<Line*>(count(allreduce(8)));
        const auto number = [](const Line* each) { return each - recorder.image->lines.data(); };
        const auto null = static_cast<HandleWord>(MPI_REQUEST_NULL);
        std::array<HandleWord, 4> requests{11, 12, 13, null};
        remember_request(11, line);
        remember_request(12, other);
        remember_request(null, line);
        EXPECT_EQ(open_requests, 2);
        Completion waiting(requests, Completion::Of::all);
        requests = {null, 12, null, null};
        EXPECT_EQ(waiting.share_out(300), 100) << "of the message";
        const auto& completing = recorder.image->completing;
        EXPECT_EQ(completing[static_cast<std::size_t>(number(line))], 100);
        EXPECT_EQ(completing[static_cast<std::size_t>(number(other))], 100) << "also of one that is still open";
        EXPECT_EQ(open_requests, 1);
        Completion some(requests, Completion::Of::some);
        EXPECT_EQ(some.share_out(50), 0);
        EXPECT_EQ(completing[static_cast<std::size_t>(number(other))], 150);
        forget_request(12);
        EXPECT_EQ(open_requests, 0);
        Completion none(requests, Completion::Of::all);
        EXPECT_EQ(none.share_out(70), 70);
    });
}

}  // namespace
}  // namespace rondo::profiler
