// SPDX-License-Identifier: BSD-3-Clause
// What the model has proposed is kept for the next run.
#include "rondo/interposer/model.hpp"

#include "rondo/guard/history.hpp"
#include "rondo/interposer/runtime.hpp"
#include "tests/interposer/directory.hpp"
#include "tests/interposer/program.hpp"

namespace rondo::interposer {
namespace {

Variables told(const RulesFile& rules, const Directory& directory) {
    return {{"RONDO_RULES", rules.path()},
            {"RONDO_GUARD", "exact"},
            {"RONDO_LEARNED", directory.path()},
            {"RONDO_MACHINE", "standard"}};
}

std::string proposal_for(Count bytes) {
    const Placement placement = Placement::regular(2, 2);
    const Collective& bcast = require_collective("bcast");
    static const Choice by_model = parse_choice(bcast, "predicted");  // told apart by where it is, like those of rules
    const ModelChoice found = remembered_proposal(
        by_model, bcast,
        bcast.facts({.size = 4, .count = bytes, .element_bytes = 1, .root = 0, .op = {}, .placement = &placement}),
        runtime(nullptr)->instructions.machine());
    return found.choice != nullptr ? to_string(*found.choice) : "";
}

/// Runs a program of four ranks on two nodes.
void play(const Variables& variables, const std::function<void()>& program) {
    made_up::play(4, [&] {
        made_up::behaviour().node_of = {0, 0, 1, 1};
        start(variables);
        program();
        MPI_Barrier(MPI_COMM_WORLD);
        guard::history().write();
        made_up::finalize();
    });
}

/// Lets the program propose for a length, and puts something in its place that the model does not propose.
void keep_another_proposal(const Variables& variables, const Directory& directory) {
    play(variables, [] { EXPECT_NE(proposal_for(5000), ""); });
    const std::string file = directory.only_file();
    ASSERT_NE(file, "");
    std::string text = Directory::text_of(file);
    const std::size_t at = text.find("choice="), end = text.find(' ', at);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, end - at, "choice=k_ported:ports=2");
    Directory::write(file, text);
}

bool is_kept(const std::string& proposal) { return proposal.starts_with("k_ported:ports=2"); }

TEST(Model, its_proposals_are_kept_for_the_next_run) {
    const RulesFile rules("bcast -> predicted\n");
    const Directory directory;
    const Variables variables = told(rules, directory);
    keep_another_proposal(variables, directory);
    play(variables, [] {
        EXPECT_TRUE(is_kept(proposal_for(6000))) << "of the same class of lengths";
        EXPECT_FALSE(is_kept(proposal_for(500000)));
    });
}

TEST(Model, its_proposals_hold_for_one_machine) {
    const RulesFile rules("bcast -> predicted\n");
    const Directory directory;
    Variables variables = told(rules, directory);
    keep_another_proposal(variables, directory);
    const std::string figures = directory.path() + "/other";
    Directory::write(figures, "alpha = 1e-3\nbeta = 1e-7\n");
    variables.back().second = figures;
    play(variables, [] { EXPECT_FALSE(is_kept(proposal_for(5000))); });
}

}  // namespace
}  // namespace rondo::interposer
