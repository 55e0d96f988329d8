// SPDX-License-Identifier: BSD-3-Clause
// What Rondo knows of datatypes, as a library describes them.
#include "rondo/backends/mpi/datatype.hpp"

#include <gtest/gtest.h>
#include <set>

#include "rondo/backends/mpi/packing.hpp"
#include "tests/backends/mpi/made_up_library.hpp"

namespace rondo::mpi {
namespace {

using kernels::Element;

void with_datatypes(const std::function<void()>& role) {
    made_up::play(1, [&] {
        learn_datatypes();
        role();
    });
}

TEST(Datatypes, predefined_ones_are_in_a_table_with_their_elements) {
    with_datatypes([] {
        const int asked = made_up::calls("Type_size_x");
        Datatype derived;
        const Datatype& integer = *describe(MPI_INT, derived);
        EXPECT_TRUE(integer.predefined);
        EXPECT_TRUE(integer.contiguous);
        EXPECT_EQ(integer.size, 4);
        EXPECT_EQ(integer.element, Element::int32);
        EXPECT_FALSE(integer.fortran_integer);
        EXPECT_TRUE(describe(MPI_INTEGER, derived)->fortran_integer);
        EXPECT_EQ(describe(MPI_BYTE, derived)->element, Element::byte);
        EXPECT_EQ(describe(MPI_CHAR, derived)->element, std::nullopt) << "no number";
        EXPECT_EQ(describe(MPI_LOGICAL, derived)->library_reductions, LibraryReductions::logical);
        EXPECT_EQ(&byte_type(), describe(MPI_BYTE, derived));
        EXPECT_EQ(made_up::calls("Type_size_x"), asked);
    });
}

TEST(Datatypes, pairs_with_padding_are_not_contiguous) {
    with_datatypes([] {
        Datatype derived;
        EXPECT_TRUE(describe(MPI_2INT, derived)->contiguous);
        const Datatype& pair = *describe(MPI_DOUBLE_INT, derived);
        EXPECT_EQ(pair.size, 12);
        EXPECT_EQ(pair.extent, 16);
        EXPECT_FALSE(pair.contiguous);
        EXPECT_EQ(pair.element, Element::double_int);
        EXPECT_EQ(pair.span(2), 32) << "kernels touch whole elements";
    });
}

TEST(Datatypes, one_of_another_size_than_rondos_kernels_has_no_element) {
    made_up::play(1, [] {
        // Whatever the library says: its long has the size of an int.
        static const auto size_of = library().Type_get_extent;
        Library other = library();
        other.Type_get_extent = [](MPI_Datatype type, MPI_Aint* lower_bound, MPI_Aint* extent) {
            const int error = size_of(type, lower_bound, extent);
            if (type == MPI_FLOAT_INT) *extent = 16;
            return error;
        };
        connect_to(other);
        learn_datatypes();
        Datatype derived;
        EXPECT_EQ(describe(MPI_FLOAT_INT, derived)->element, std::nullopt);
        EXPECT_EQ(describe(MPI_2INT, derived)->element, Element::int_int);
    });
}

TEST(Datatypes, derived_ones_are_asked_about_each_time) {
    with_datatypes([] {
        MPI_Datatype handle = made_up::contiguous(2, MPI_INT);
        Datatype derived;
        ASSERT_EQ(describe(handle, derived), &derived);
        EXPECT_EQ(derived.size, 8);
        EXPECT_FALSE(derived.predefined);
        EXPECT_EQ(derived.element, std::nullopt);
        const MPI_Datatype before = handle;
        made_up::free(&handle);
        ASSERT_EQ(made_up::contiguous(5, MPI_INT), before);
        ASSERT_NE(describe(before, derived), nullptr);
        EXPECT_EQ(derived.size, 20);
    });
}

TEST(Datatypes, null_and_empty_ones_are_nothing) {
    with_datatypes([] {
        Datatype derived;
        EXPECT_EQ(describe(MPI_DATATYPE_NULL, derived), nullptr);
        EXPECT_EQ(describe(made_up::contiguous(0, MPI_INT), derived), nullptr);
    });
}

TEST(Datatypes, gaps_and_bounds_are_as_the_library_says) {
    with_datatypes([] {
        Datatype derived;
        ASSERT_NE(describe(made_up::vector(2, 1, 3, MPI_INT), derived), nullptr);
        EXPECT_EQ(derived.size, 8);
        EXPECT_EQ(derived.extent, 16);
        EXPECT_EQ(derived.true_extent, 16);
        EXPECT_FALSE(derived.contiguous);
        EXPECT_FALSE(derived.interlocks());
        ASSERT_NE(describe(made_up::pieces({{4, 4}, {12, 4}}, 8), derived), nullptr);
        EXPECT_EQ(derived.true_lower_bound, 4);
        EXPECT_EQ(derived.true_extent, 12);
        EXPECT_TRUE(derived.interlocks());
        EXPECT_EQ(derived.span(3), 2 * 8 + 12);
        EXPECT_EQ(derived.span(0), 0);
    });
}

TEST(Datatypes, only_what_is_made_of_neighbours_lies_as_packed) {
    with_datatypes([] {
        const auto lies = [](MPI_Datatype handle) {
            Datatype derived;
            return lies_as_packed(*describe(handle, derived));
        };
        EXPECT_TRUE(lies(MPI_INT));
        EXPECT_FALSE(lies(MPI_DOUBLE_INT));
        EXPECT_TRUE(lies(made_up::contiguous(3, MPI_INT)));
        EXPECT_TRUE(lies(made_up::contiguous(2, made_up::duplicate_type(made_up::contiguous(3, MPI_INT)))));
        EXPECT_FALSE(lies(made_up::vector(2, 1, 2, MPI_INT)));
        EXPECT_FALSE(lies(made_up::pieces({{4, 4}, {0, 4}}, 8))) << "no gaps, but in another order";
        EXPECT_FALSE(lies(made_up::contiguous(2, made_up::pieces({{4, 4}, {0, 4}}, 8))));
        EXPECT_FALSE(lies(made_up::large_contiguous(3, MPI_INT))) << "not plain to see";
    });
}

TEST(Datatypes, what_was_handed_out_on_the_way_is_given_back) {
    with_datatypes([] {
        const MPI_Datatype inner = made_up::contiguous(3, MPI_INT);
        const MPI_Datatype handle = made_up::contiguous(2, made_up::duplicate_type(inner));
        const std::size_t before = made_up::left();
        Datatype derived;
        EXPECT_TRUE(lies_as_packed(*describe(handle, derived)));
        EXPECT_EQ(made_up::left(), before);
        EXPECT_EQ(combiner_of(handle), MPI_COMBINER_CONTIGUOUS);
        EXPECT_EQ(combiner_of(made_up::large_contiguous(2, MPI_INT)), MPI_UNDEFINED);
        give_back(MPI_INT);  // which nobody may free
        EXPECT_EQ(made_up::handled().size(), 0);
    });
}

TEST(Datatypes, an_older_library_is_asked_by_the_functions_that_it_has) {
    made_up::play(1, [] {
        Library older = library();
        older.Type_get_envelope_c = nullptr;
        connect_to(older);
        learn_datatypes();
        EXPECT_EQ(combiner_of(made_up::contiguous(2, MPI_INT)), MPI_COMBINER_CONTIGUOUS);
        EXPECT_EQ(combiner_of(MPI_INT), MPI_COMBINER_NAMED);
    });
}

TEST(Datatypes, the_table_is_gone_through_once_and_in_one_order) {
    with_datatypes([] {
        std::vector<MPI_Datatype> first, second;
        for_each_predefined([&](const Datatype& type) { first.push_back(type.handle); });
        for_each_predefined([&](const Datatype& type) { second.push_back(type.handle); });
        EXPECT_EQ(first, second);
        EXPECT_EQ(std::set<MPI_Datatype>(first.begin(), first.end()).size(), first.size());
        EXPECT_GT(first.size(), 30);
    });
}

}  // namespace
}  // namespace rondo::mpi
