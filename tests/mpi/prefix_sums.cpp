// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums of distributed arrays: every predefined operator and type, operators of the user, columns, and all ways
// to share the array out, on communicators of every size.
//
//   prefix_sums [LONGEST [brief]]     elements of the longest array on a rank; brief: a few of each kind
#include "material.hpp"
#include "prefix_checks.hpp"

namespace {

/// Rows of integers, each column for itself, in layouts that MPI's constructors describe.
struct Table {
    std::string name;
    MPI_Datatype type;
    std::vector<std::ptrdiff_t> columns;  ///< offsets in bytes
};

std::vector<Table> tables(int rows) {
    const auto word = static_cast<std::ptrdiff_t>(sizeof(long));
    std::vector<Table> all(6);
    all[0] = {"three columns", {}, {0, word, 2 * word}};
    MPI_Type_contiguous(3, MPI_LONG, &all[0].type);
    all[1] = {"every other column", {}, {0, 2 * word, 4 * word}};
    MPI_Type_vector(3, 1, 2, MPI_LONG, &all[1].type);
    all[2] = {"column after column", {}, {0, rows * word, 2 * rows * word}};
    MPI_Datatype column_major;
    MPI_Type_create_hvector(3, 1, rows * word, MPI_LONG, &column_major);
    MPI_Type_create_resized(column_major, 0, word, &all[2].type);
    MPI_Type_free(&column_major);
    all[3] = {"one of three", {}, {0}};
    MPI_Type_create_resized(MPI_LONG, 0, 3 * word, &all[3].type);
    all[4] = {"forty columns", {}, {}};
    for (int i = 0; i < 40; ++i) all[4].columns.push_back(i * word);
    MPI_Type_contiguous(40, MPI_LONG, &all[4].type);
    all[5] = {"one column", {}, {0}};
    MPI_Type_dup(MPI_LONG, &all[5].type);
    for (Table& table : all) MPI_Type_commit(&table.type);
    return all;
}

Problem columns_of(const Table& table, MPI_Op op) {
    const auto for_each = [&table](const auto& each) {
        for (const std::ptrdiff_t column : table.columns) each(column);
    };
    return {table.name + (op == MPI_SUM ? " MPI_SUM" : " MPI_MAX"),
            table.type,
            op,
            [for_each](int rank, std::size_t index, std::byte* element) {
                for_each([&](std::ptrdiff_t column) {
                    const auto salt = static_cast<std::uint64_t>(column);
                    store(element + column,
                          static_cast<long>(noise(static_cast<std::uint64_t>(rank), index, salt) >> 8));
                });
            },
            [for_each, op](const std::byte* left, std::byte* right) {
                for_each([&](std::ptrdiff_t column) {
                    const auto a = load<std::uint64_t>(left + column), b = load<std::uint64_t>(right + column);
                    const std::uint64_t larger = static_cast<long>(a) > static_cast<long>(b) ? a : b;
                    store(right + column, op == MPI_SUM ? a + b : larger);
                });
            },
            [for_each](const std::byte* element) {
                std::vector<double> values;
                for_each([&](std::ptrdiff_t column) {
                    for (const double half : values_of<std::uint64_t>(element + column)) values.push_back(half);
                });
                return values;
            }};
}

/// Interlocking columns fit arrays of one length only.
void check_columns(PrefixChecker& checker, MPI_Comm communicator, bool brief) {
    for (const int rows : {5, 0, 1, 100}) {
        if (brief && rows != 5) continue;
        std::vector<Table> all = tables(std::max(rows, 1));
        for (const Table& table : all) {
            const std::vector<std::size_t> counts(static_cast<std::size_t>(size_of(communicator)),
                                                  static_cast<std::size_t>(rows));
            for (const MPI_Op op : {MPI_SUM, MPI_MAX}) {
                const Problem problem = columns_of(table, op);
                for (const Form& form : forms()) {
                    if (form.total && interlocks(table.type)) continue;
                    checker.run_form(problem, communicator, counts, form);
                }
            }
        }
        for (Table& table : all) MPI_Type_free(&table.type);
    }
}

/// Sums of doubles of any size: the same bits in each call, and near those of a loop.
void check_rounding(PrefixChecker& checker, MPI_Comm communicator, std::size_t count) {
    const int rank = rank_in(communicator), size = size_of(communicator);
    const auto value = [](std::size_t global) { return 1.0 / static_cast<double>(1 + noise(3, global) % 1000003); };
    std::vector<double> in(count), first, out(count);
    for (std::size_t i = 0; i < count; ++i) in[i] = value(static_cast<std::size_t>(rank) * count + i);
    for (int repetition = 0; repetition < 3; ++repetition) {
        rondo_prefix(in.data(), out.data(), static_cast<MPI_Count>(count), MPI_DOUBLE, MPI_SUM, 0, communicator);
        if (repetition == 0) first = out;
        if (first != out) checker.fail("another rounding in another call, " + std::to_string(size) + " ranks");
    }
    double sum = 0;
    for (std::size_t global = 0; global < static_cast<std::size_t>(rank) * count; ++global) sum += value(global);
    for (std::size_t i = 0; i < count; ++i) {
        sum += in[i];
        if (std::abs(out[i] - sum) > 1e-12 * sum) {
            checker.fail("sum " + std::to_string(out[i]) + " instead of " + std::to_string(sum));
            return;
        }
    }
}

void check_all(PrefixChecker& checker, MPI_Comm communicator, const Material& material) {
    const bool is_largest = size_of(communicator) == size_of(MPI_COMM_WORLD);
    if (material.brief && !is_largest && size_of(communicator) > 1) return;
    const Operators& operators = material.operators;
    const Problem& sum = material.named("MPI_LONG MPI_SUM");
    const Problem modular = modular_sum(operators.add_modulo);
    current_layout = material.types.data();
    const Problem maps = composition(material.types[0], operators.compose);
    for (const std::size_t each : {std::size_t{7}, std::size_t{1}, std::size_t{100}}) {
        if (material.brief && each != 7) continue;
        checker.run(sum, communicator, each);
        checker.run(maps, communicator, each);
    }
    checker.run(modular, communicator, 9);
    checker.run(material.named("MPI_DOUBLE_INT MPI_MAXLOC"), communicator, 9);
    checker.run(material.named("MPI_DOUBLE MPI_MAX"), communicator, material.brief ? 20 : 1001);
    for (const Layout& layout : material.types) {
        if (interlocks(layout.type) || (material.brief && !is_largest)) continue;
        current_layout = &layout;
        checker.run(composition(layout, operators.compose_large), communicator, 11);
        checker.run(addition(layout, operators.add_words), communicator, 5);
    }
    if (!material.brief || is_largest) check_columns(checker, communicator, material.brief);
    check_rounding(checker, communicator, 1001);
    if (size_of(communicator) == std::min(3, size_of(MPI_COMM_WORLD))) {
        for (const Problem* each : {&sum, &material.named("MPI_INT MPI_SUM"), &material.named("MPI_SHORT MPI_MIN")}) {
            const std::vector<std::size_t> counts(static_cast<std::size_t>(size_of(communicator)),
                                                  material.large_count);
            for (const Form& form : forms()) checker.run_form(*each, communicator, counts, form);
        }
        check_rounding(checker, communicator, material.large_count);
        for (const Problem& problem : material.predefined) {
            if (!material.brief) checker.run(problem, communicator, 13);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    {
        const Material material({argv + 1, argv + argc});
        PrefixChecker checker;
        check_sizes(checker, material, check_all);
        if (calls_with_another_type > 0) checker.fail("user function called with another datatype");
        const auto digests = gathered(checker.digest, MPI_UNSIGNED_LONG);
        const auto failures = gathered(checker.failures, MPI_LONG), checked = gathered(checker.forms_checked, MPI_LONG);
        if (rank_in(MPI_COMM_WORLD) == 0) {
            std::uint64_t combined = 0;
            for (std::size_t rank = 0; rank < digests.size(); ++rank) combined ^= digests[rank] * (2 * rank + 1);
            std::printf("checked %ld\nfailures %ld\ndigest %016lx\n",
                        std::accumulate(checked.begin(), checked.end(), 0L),
                        std::accumulate(failures.begin(), failures.end(), 0L), combined);
        }
        status = checker.failures == 0 ? 0 : 1;
    }
    MPI_Finalize();
    return status;
}
