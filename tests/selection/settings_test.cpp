// SPDX-License-Identifier: BSD-3-Clause
// What a process is told: by its environment, and by the site's configuration below it.
#include "rondo/selection/settings.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

#include "rondo/core/switch.hpp"

namespace rondo {
namespace {

/// A configuration with this text, in a file of its own.
class File {
  public:
    explicit File(const std::string& text)
        : path_(testing::TempDir() + "settings_test-" + std::to_string(::getpid()) + ".config") {
        std::ofstream(path_) << text;
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { std::remove(path_.c_str()); }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

Settings read(const std::string& text, const Settings::Environment& environment = {}) {
    const File file(text);
    return {environment, file.path()};
}

std::string complaint(const std::string& text, const Settings::Environment& environment = {}) {
    const Settings settings = read(text, environment);
    return settings.complaints().empty() ? "" : settings.complaints().front();
}

std::string said(const Settings& settings, const std::string& variable) {
    const Given* const given = settings.find(variable);
    return given != nullptr ? given->text : "nothing";
}

TEST(Settings, have_names_that_tell_them_apart) {
    std::set<std::string> variables, keys;
    std::size_t with_key = 0;
    for (const SettingInfo& each : all_settings()) {
        variables.insert(each.variable);
        EXPECT_FALSE(each.meaning.empty());
        if (each.key.empty()) continue;
        ++with_key;
        keys.insert(each.key);
        EXPECT_EQ(variable_of(each.key), each.variable);
    }
    EXPECT_EQ(variables.size(), all_settings().size());
    EXPECT_EQ(keys.size(), with_key);
}

TEST(Settings, come_from_the_configuration_with_their_line) {
    const Settings settings = read("# of the site\n\n  rules = /etc/rondo/site.rules # all\nbcast=binomial\n");
    EXPECT_TRUE(settings.complaints().empty());
    EXPECT_EQ(said(settings, "RONDO_RULES"), "/etc/rondo/site.rules");
    EXPECT_EQ(settings.find("RONDO_RULES")->origin, settings.path() + ":3: rules");
    EXPECT_EQ(said(settings, "RONDO_BCAST"), "binomial");
    EXPECT_EQ(said(settings, "RONDO_GUARD"), "nothing");
}

TEST(Settings, of_the_environment_stand_above_the_configuration) {
    const Settings settings = read("guard = exact\nbcast = binomial\n", {{"RONDO_GUARD", "off"}, {"RONDO_BCAST", ""}});
    EXPECT_EQ(said(settings, "RONDO_GUARD"), "off");
    EXPECT_EQ(settings.find("RONDO_GUARD")->origin, "RONDO_GUARD");
    EXPECT_EQ(said(settings, "RONDO_BCAST"), "binomial") << "an empty value says nothing";
}

TEST(Settings, are_none_without_a_configuration) {
    const Settings settings({}, "/nowhere/config");
    EXPECT_TRUE(settings.usable());
    EXPECT_EQ(settings.path(), "");
    EXPECT_TRUE(Settings({{"RONDO_CONFIG", "none"}}, "/nowhere/config").usable());
}

TEST(Settings, do_not_count_where_the_configuration_cannot_be_read) {
    for (const char* const text :
         {"guard\n", "gard = exact\n", "guard =\n", "guard = off\nguard = off\n", "nodes = 2x2\n"}) {
        const Settings settings = read(text, {});
        EXPECT_FALSE(settings.usable()) << text;
        EXPECT_EQ(said(settings, "RONDO_GUARD"), "nothing");
        EXPECT_EQ(settings.leaves_out("/opt/app", "node1"), "the configuration, which cannot be read");
        ASSERT_EQ(settings.complaints().size(), 1U);
    }
    EXPECT_NE(complaint("guard = off\n\ngard = off\n").find(":3: there is no setting 'gard'; did you mean 'guard'?"),
              std::string::npos);
    EXPECT_FALSE(Settings({{"RONDO_CONFIG", "/nowhere"}}, "/nowhere/config").usable()) << "named, but not there";
}

TEST(Settings, that_do_not_exist_are_named_with_the_nearest) {
    EXPECT_EQ(complaint("", {{"RONDO_RULE", "x"}}), "RONDO_RULE is no variable of Rondo's; did you mean RONDO_RULES?");
    EXPECT_EQ(complaint("", {{"RONDONE", "1"}}), "");
    for (const char* const ending :
         {"BASE", "BIN", "DIR", "DOC", "HOME", "INC", "INCLUDE", "INCLUDE_DIR", "INCLUDEDIR", "LIB", "LIBDIR",
          "LIBRARY_DIR", "MAN", "PATH", "ROOT", "SHARE", "SRC", "VERSION"}) {
        EXPECT_EQ(complaint("", {{std::string("RONDO_") + ending, "/opt/rondo"}}), "") << "modules say so";
    }
}

TEST(Settings, name_no_path_where_somebody_says_none) {
    const Settings settings = read("rules = /a\nlearned = none\njobs = /b\n", {{"RONDO_JOBS", "none"}});
    EXPECT_EQ(settings.find_path("RONDO_RULES"), settings.find("RONDO_RULES"));
    for (const char* const each : {"RONDO_LEARNED", "RONDO_JOBS"}) {
        EXPECT_EQ(said(settings, each), "none");
        EXPECT_EQ(settings.find_path(each), nullptr) << each;
    }
}

TEST(Settings, know_where_the_user_lives) {
    EXPECT_EQ(said(read("learned = ~/.rondo\n", {{"HOME", "/home/ada"}}), "RONDO_LEARNED"), "/home/ada/.rondo");
}

TEST(Settings, leave_programs_and_hosts_out) {
    const auto left_out = [](const std::string& text, const char* program, const char* host = "node1") {
        return read(text).leaves_out(program, host).value_or("");
    };
    EXPECT_EQ(left_out("", "/home/ada/conftest"), "except_programs");
    EXPECT_EQ(left_out("", "/home/ada/cmTC_1a2b3"), "except_programs");
    EXPECT_EQ(left_out("", "/home/ada/app"), "");
    EXPECT_EQ(left_out("except_programs = lmp* vasp\n", "/opt/lmp_mpi"), "except_programs");
    EXPECT_EQ(left_out("except_programs = /opt/*/bin/*\n", "/opt/x/bin/app"), "except_programs");
    EXPECT_EQ(left_out("only_programs = lmp*, cp2k\n", "/opt/cp2k"), "");
    EXPECT_EQ(left_out("only_programs = lmp*, cp2k\n", "/opt/vasp"), "only_programs");
    EXPECT_EQ(left_out("except_hosts = login*\n", "/opt/app", "login2"), "except_hosts");
    EXPECT_EQ(left_out("only_hosts = gpu*\n", "/opt/app", "cpu1"), "only_hosts");
    EXPECT_NE(left_out("disable = yes\n", "/opt/app"), "");
    EXPECT_EQ(left_out("disable = no\nexcept_programs = app\n", "/opt/app"), "except_programs");
}

TEST(Settings, of_users_lift_the_exceptions_of_the_site_alone) {
    const auto left_out = [](const std::string& text, Settings::Environment environment, const char* program) {
        environment.emplace("RONDO_DISABLE", "0");
        return read(text, environment).leaves_out(program, "node1").value_or("");
    };
    for (const char* const text : {"disable = yes\n", "except_programs = app\n", "only_hosts = gpu*\n"})
        EXPECT_EQ(left_out(text, {}, "/opt/app"), "") << text;
    EXPECT_EQ(left_out("", {{"RONDO_EXCEPT_PROGRAMS", "app"}}, "/opt/app"), "except_programs");
    EXPECT_EQ(left_out("except_programs = app\n", {}, "/opt/conftest"), "except_programs") << "which nobody has said";
}

TEST(Settings, leave_everything_out_where_rondo_is_off) {
    EXPECT_EQ(read("", {{"RONDO", "off"}}).leaves_out("/opt/app", "node1"), "RONDO = off");
    EXPECT_EQ(read("", {{"RONDO", "on"}}).leaves_out("/opt/app", "node1"), std::nullopt);
}

TEST(Switch, understands_what_people_write) {
    for (const char* const word : {"1", "on", "YES", "True"}) EXPECT_TRUE(means_yes(word) && !means_no(word)) << word;
    for (const char* const word : {"0", "off", "NO", "False"}) EXPECT_TRUE(means_no(word) && !means_yes(word)) << word;
    EXPECT_FALSE(means_yes("") || means_no(""));
}

}  // namespace
}  // namespace rondo
