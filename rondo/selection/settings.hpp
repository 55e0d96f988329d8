// SPDX-License-Identifier: BSD-3-Clause
// What Rondo can be told in a process: one list for the preload library, the command and the documentation. A setting
// is an environment variable, or a line of the site's configuration, which the variable stands above.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

struct SettingInfo {
    std::string variable;  ///< "RONDO_RULES"
    std::string key;       ///< "rules": its name in the configuration; empty: the environment alone has it
    std::string values;    ///< what may stand there, for people
    std::string initial;   ///< what holds where nobody says anything, for people
    std::string meaning;   ///< in a few words
};

/// All of them; in alphabetical order those of collectives come last.
const std::vector<SettingInfo>& all_settings();

/// The environment variable that chooses for a collective: RONDO_EXSCAN.
std::string variable_of(std::string_view collective);

/// What somebody said.
struct Given {
    std::string text;
    std::string origin;  ///< "RONDO_RULES", or "/etc/rondo/config:3: rules": complaints begin so
};

/// The settings that are in force in a process.
class Settings {
  public:
    using Environment = std::map<std::string, std::string>;

    static constexpr const char* usual_path = "/etc/rondo/config";
    static constexpr const char* path_variable = "RONDO_CONFIG";

    /// The settings of this process.
    static Settings of_process();
    /// The settings of a process with these variables. `usual`: where the configuration lies if none of them says so.
    Settings(const Environment& environment, const std::string& usual);

    /// What is in force for a variable; nullptr if nobody said anything. Empty texts say nothing.
    [[nodiscard]] const Given* find(const std::string& variable) const;
    /// What is in force for a variable that names a path; nullptr also where somebody said "none".
    [[nodiscard]] const Given* find_path(const std::string& variable) const;
    /// The configuration that was read, or could not be; empty: there is none.
    [[nodiscard]] const std::string& path() const { return path_; }
    /// False if the configuration could not be read: then nothing else of it or of the environment may count.
    [[nodiscard]] bool usable() const { return usable_; }
    /// Why a program is left to the MPI library; nothing if it is not.
    [[nodiscard]] std::optional<std::string> leaves_out(const std::string& program, const std::string& host) const;
    /// What was wrong, one line each.
    [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

  private:
    void read_configuration(const Environment& environment, const std::string& usual);
    void read_line(std::string_view line, int number, const Environment& environment);
    void read_variables(const Environment& environment);
    /// Users who say RONDO_DISABLE=no do without the exceptions of the configuration, but not without their own.
    void lift_exceptions();

    std::map<std::string, Given> given_;
    std::string path_;
    std::vector<std::string> complaints_;
    bool usable_ = true;
};

/// The path of the program that runs in this process; empty if the system does not tell.
std::string own_program();

}  // namespace rondo
