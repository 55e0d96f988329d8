// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/core/error.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/quantity.hpp"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Collective& exscan() { return require_collective("exscan"); }

/// The text of the Error that reading a choice for exscan throws.
std::string complaint(std::string_view text) {
    try {
        parse_choice(exscan(), text);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Choice, native_names_no_algorithm) {
    const Choice choice = parse_choice(exscan(), " native ");
    EXPECT_EQ(choice.algorithm, nullptr);
    EXPECT_THAT(choice.settings, IsEmpty());
}

TEST(Choice, every_algorithm_is_read_by_its_name_with_open_or_standard_settings) {
    for (const Collective& collective : collectives()) {
        for (const AlgorithmInfo* info : collective.algorithms) {
            const Choice choice = parse_choice(collective, info->name);
            EXPECT_EQ(choice.algorithm, info);
            ASSERT_EQ(choice.settings.size(), info->parameters.size());
            for (std::size_t i = 0; i < choice.settings.size(); ++i) {
                EXPECT_EQ(choice.settings[i].name, info->parameters[i].name);
                const Parameter& parameter = info->parameters[i];
                EXPECT_EQ(choice.settings[i].value, parameter.automatic ? automatic : parameter.standard);
                EXPECT_TRUE(!parameter.automatic || parameter.minimum > automatic) << info->name;
            }
        }
    }
}

TEST(Choice, a_setting_takes_suffixes_and_blanks) {
    const Choice choice = parse_choice(exscan(), "linear_pipeline : segment = 4Ki");
    ASSERT_EQ(choice.settings.size(), 1u);
    EXPECT_EQ(choice.settings[0].name, "segment");
    EXPECT_EQ(choice.settings[0].value, 4096);
}

TEST(Choice, a_segment_can_be_left_open_in_so_many_words) {
    const Choice choice = parse_choice(exscan(), "linear_pipeline: segment = auto");
    EXPECT_EQ(choice.settings[0].value, automatic);
    EXPECT_THAT(complaint("prefix_family:inclusive_rounds=auto"), HasSubstr("is not a number"));
}

TEST(Choice, an_algorithm_can_be_named_for_a_part_of_a_composition) {
    const Collective& allreduce = *find_collective("allreduce");
    const Choice standard = parse_choice(allreduce, "leaders");
    EXPECT_EQ(to_string(standard), "leaders:lane=recursive_doubling,radix=4");
    const Choice choice = parse_choice(allreduce, "leaders: lane = recursive_multiplying, radix=8");
    EXPECT_EQ(choice.settings[0].value, 1);
    EXPECT_EQ(to_string(choice), "leaders:lane=recursive_multiplying,radix=8");
    const auto complaint_of = [&](std::string_view text) -> std::string {
        try {
            parse_choice(allreduce, text);
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(complaint_of("leaders:lane=recursive_doublin"),
              "lane=recursive_doublin names no algorithm that can serve there; did you mean 'recursive_doubling'?");
    EXPECT_THAT(complaint_of("leaders:lane=1"),
                HasSubstr("expected one of: recursive_doubling, recursive_multiplying"));
    EXPECT_THAT(complaint_of("leaders:lane=two_tree"), HasSubstr("names no algorithm"));
}

TEST(Choice, names_for_parts_are_names_of_algorithms) {
    const auto is_algorithm = [](std::string_view name) {
        return std::ranges::any_of(collectives(),
                                   [&](const Collective& each) { return each.algorithm(name) != nullptr; });
    };
    for (const Collective& collective : collectives()) {
        for (const AlgorithmInfo* info : collective.algorithms) {
            for (const Parameter& parameter : info->parameters) {
                for (const Alternative& each : parameter.alternatives)
                    EXPECT_TRUE(is_algorithm(each.name)) << each.name;
            }
        }
    }
}

TEST(Choice, a_segment_may_be_longer_than_the_vector_and_not_too_short) {
    const AlgorithmInfo& pipeline = *exscan().algorithm("linear_pipeline");
    const auto refusal = [&](Count segment, Count count) {
        const std::vector<Setting> settings = {{"segment", segment}};
        return pipeline.refusal({.size = 4, .count = count, .element_bytes = 8}, settings).value_or("accepted");
    };
    EXPECT_EQ(refusal(64 << 10, 512), "accepted");
    EXPECT_EQ(refusal(segment_parameter.maximum, 1), "accepted");
    EXPECT_EQ(refusal(4096, 512), "accepted");
    EXPECT_EQ(refusal(64 << 10, 0), "accepted");
    EXPECT_EQ(refusal(automatic, 512), "accepted");
    EXPECT_THAT(refusal(1, 1 << 20), HasSubstr("into more than 131072 segments"));
}

TEST(Choice, its_text_is_read_back) {
    for (const char* text :
         {"native", "doubling_123", "linear_pipeline:segment=3Ki", "prefix_family:inclusive_rounds=5"}) {
        EXPECT_EQ(to_string(parse_choice(exscan(), text)), text);
    }
    EXPECT_EQ(to_string(parse_choice(exscan(), "linear_pipeline")), "linear_pipeline:segment=auto");
}

TEST(Choice, a_misspelt_algorithm_comes_with_the_nearest) {
    EXPECT_EQ(complaint("doublng_123"), "exscan has no algorithm 'doublng_123'; did you mean 'doubling_123'?");
    EXPECT_THAT(complaint("doubling"), AllOf(HasSubstr("'doubling_123'"), HasSubstr("'one_doubling'")));
    EXPECT_THAT(complaint("Native"), HasSubstr("did you mean 'native'?"));
    EXPECT_THAT(complaint("quicksort"),
                AllOf(HasSubstr("expected one of: "), HasSubstr("cyclic_doubling"), HasSubstr("native")));
    EXPECT_THAT(complaint(""), HasSubstr("expected one of: "));
    EXPECT_THAT(complaint(":segment=1"), HasSubstr("expected one of: "));
}

TEST(Choice, an_unknown_parameter_is_refused) {
    EXPECT_EQ(complaint("linear_pipeline:segmnt=1Ki"),
              "linear_pipeline has no parameter 'segmnt'; did you mean 'segment'?");
    EXPECT_EQ(complaint("linear_pipeline:ports=2"),
              "linear_pipeline has no parameter 'ports'; expected one of: segment");
    EXPECT_THAT(complaint("doubling_123:segment=1"), HasSubstr("doubling_123 has no parameters"));
    EXPECT_THAT(complaint("native:segment=1"), HasSubstr("takes no parameters"));
}

TEST(Choice, a_value_out_of_range_comes_with_the_range) {
    EXPECT_EQ(complaint("linear_pipeline:segment=0"), "segment=0 is out of range; expected 1 to 1024Gi bytes, or auto");
    EXPECT_EQ(complaint("prefix_family:inclusive_rounds=32"), "inclusive_rounds=32 is out of range; expected 0 to 31");
}

TEST(Choice, a_value_that_is_no_number_is_refused) {
    for (const char* value : {"", "many", "-1", "64K", "1.5", "0x10", "64Kib", "9999999999999999999", "10000000000G"}) {
        EXPECT_THAT(complaint("linear_pipeline:segment=" + std::string(value)), HasSubstr("is not a number; expected"))
            << value;
    }
    EXPECT_EQ(complaint("linear_pipeline:segment=64 Ki"),
              "segment=64 Ki is not a number; write 64Ki, without the blank (1 to 1024Gi bytes, or auto)");
}

TEST(Choice, a_list_with_nothing_between_commas_is_refused) {
    for (const char* text :
         {"linear_pipeline:", "linear_pipeline:segment", "linear_pipeline:segment=1,,", "linear_pipeline:,segment=1"}) {
        EXPECT_THAT(complaint(text), HasSubstr("expected <parameter>=<value>")) << text;
    }
    EXPECT_THAT(complaint("linear_pipeline:segment=1,"), HasSubstr("expected <parameter>=<value>"));
    EXPECT_THAT(complaint("linear_pipeline:segment=1,segment=2"), HasSubstr("set twice"));
}

TEST(RequireCollective, finds_every_collective) {
    for (const Collective& collective : collectives()) EXPECT_EQ(&require_collective(collective.name), &collective);
}

TEST(RequireCollective, names_the_nearest) {
    const auto complain = [](std::string_view name) -> std::string {
        try {
            require_collective(name);
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(complain("exscn"), "Rondo has no collective 'exscn'; did you mean 'exscan'?");
    EXPECT_THAT(complain("MPI_Exscan"), HasSubstr("did you mean 'exscan'"));
    EXPECT_THAT(complain("whatever"), AllOf(HasSubstr("expected one of: "), HasSubstr("exscan, ")));
}

TEST(Nearest, sorts_by_edits_and_gives_three_at_most) {
    constexpr std::string_view known[] = {"segment", "segments", "segmentsize", "segmond", "root"};
    EXPECT_THAT(nearest("segmen", known), ElementsAre("segment", "segments", "segmond"));
    EXPECT_THAT(nearest("tree", known), IsEmpty());
    EXPECT_THAT(nearest("", known), IsEmpty());
}

TEST(Nearest, counts_swapped_neighbours_as_one_edit) {
    constexpr std::string_view known[] = {"scan"};
    EXPECT_THAT(nearest("sacn", known), ElementsAre("scan"));
    EXPECT_THAT(nearest("sc", known), IsEmpty());
}

TEST(Nearest, says_nothing_about_very_long_words) {
    constexpr std::string_view known[] = {"scan"};
    EXPECT_THAT(nearest(std::string(1'000'000, 's') + "scan", known), IsEmpty());
}

TEST(Quantity, reads_suffixes) {
    EXPECT_EQ(parse_quantity("0"), 0);
    EXPECT_EQ(parse_quantity("64Ki"), 65536);
    EXPECT_EQ(parse_quantity("2Mi"), 2 << 20);
    EXPECT_EQ(parse_quantity("3Gi"), Count{3} << 30);
    EXPECT_EQ(parse_quantity("5k"), 5000);
    EXPECT_EQ(parse_quantity("5M"), 5'000'000);
    EXPECT_EQ(parse_quantity("5G"), 5'000'000'000);
    EXPECT_EQ(parse_quantity("9223372036854775807"), 9223372036854775807);
    EXPECT_EQ(parse_quantity("9223372036854775808"), std::nullopt);
    EXPECT_EQ(parse_quantity("8589934592Gi"), std::nullopt);
    EXPECT_EQ(parse_quantity("+1"), std::nullopt);
    EXPECT_EQ(parse_quantity("Ki"), std::nullopt);
    EXPECT_EQ(parse_quantity("32 Ki"), std::nullopt);
    EXPECT_EQ(expected_quantity("32 Ki"), "write 32Ki, without the blank");
    EXPECT_THAT(expected_quantity("32 Kib"), HasSubstr("expected a whole number"));
}

TEST(Quantity, is_written_as_short_as_it_is_exact) {
    for (const Count value :
         {Count{0}, Count{1}, Count{1023}, Count{1024}, Count{1536}, Count{65536}, Count{1} << 40}) {
        EXPECT_EQ(parse_quantity(quantity_text(value)), value);
    }
    EXPECT_EQ(quantity_text(65536), "64Ki");
    EXPECT_EQ(quantity_text(65537), "65537");
    EXPECT_THAT(quantity_text(0), Not(HasSubstr("i")));
}

TEST(Choice, may_be_left_to_the_model) {
    const Choice choice = parse_choice(require_collective("bcast"), "predicted");
    EXPECT_TRUE(choice.is_predicted);
    EXPECT_FALSE(choice.is_native());
    EXPECT_TRUE(choice.uses_nodes());
    EXPECT_EQ(to_string(choice), "predicted");
    EXPECT_TRUE(parse_choice(require_collective("bcast"), "native").is_native());
    EXPECT_THROW(parse_choice(require_collective("bcast"), "predicted:segment=8Ki"), Error);
    EXPECT_THROW(parse_choice(require_collective("alltoallv"), "predicted"), Error);
}

}  // namespace
}  // namespace rondo
