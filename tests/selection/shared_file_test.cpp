// SPDX-License-Identifier: BSD-3-Clause
// Two users change files in one directory, as far as it lets them. Only root can be two users.
#include "rondo/selection/shared_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "rondo/selection/text_file.hpp"

namespace rondo {
namespace {

constexpr uid_t one = 54321, other = 54322;
constexpr gid_t common = 54323;

struct Shared {
    const char* what;
    mode_t mode;
    gid_t group;
};

class SharedFile : public testing::Test {
  protected:
    SharedFile() {
        std::string name = testing::TempDir() + "shared-XXXXXX";
        directory = mkdtemp(name.data());
    }
    ~SharedFile() override { std::filesystem::remove_all(directory); }
    [[nodiscard]] std::string path() const { return directory + "/file"; }
    [[nodiscard]] std::string content() const { return read_text_file(path(), "the file"); }
    void open_directory(mode_t mode, gid_t group = 0, uid_t owner = 0) const {
        ASSERT_EQ(chown(directory.c_str(), owner, group), 0);
        ASSERT_EQ(chmod(directory.c_str(), mode), 0);
    }
    /// What a user's process gives back, between 0 and 255.
    static int as(uid_t user, mode_t mask, const std::function<int()>& act) {
        const pid_t child = fork();
        if (child == 0) {
            umask(mask);
            if (setgroups(1, &common) != 0 || setgid(user) != 0 || setuid(user) != 0) _exit(255);
            _exit(act());
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
    }

    std::string directory;
};

TEST_F(SharedFile, is_made_and_replaced_and_leaves_nothing_behind) {
    EXPECT_EQ(write_shared(path(), "first"), 0);
    EXPECT_EQ(write_shared(path(), ""), 0);
    EXPECT_EQ(content(), "");
    EXPECT_EQ(write_shared(path(), "second"), 0);
    EXPECT_EQ(content(), "second");
    const std::filesystem::directory_iterator files(directory);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(SharedFile, follows_the_umask_where_the_directory_is_one_user_s) {
    struct stat facts{};
    for (const auto& [mask, mode] : {std::pair(022U, 0644U), std::pair(077U, 0600U)}) {
        const mode_t before = umask(mask);
        ASSERT_EQ(write_shared(path(), "text"), 0);
        umask(before);
        ASSERT_EQ(stat(path().c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 0777U, mode);
    }
}

TEST_F(SharedFile, a_lock_is_had_by_one_at_a_time) {
    FileLock lock(path());
    ASSERT_EQ(lock.error(), 0);
    EXPECT_EQ(FileLock(path()).error(), EWOULDBLOCK);
    const int file = lock.release();
    EXPECT_EQ(FileLock(path()).error(), EWOULDBLOCK);
    close(file);
    EXPECT_EQ(FileLock(path()).error(), 0);
}

TEST_F(SharedFile, a_lock_says_why_it_cannot_be_had) {
    EXPECT_EQ(FileLock(directory + "/missing/lock").error(), ENOENT);
    EXPECT_EQ(FileLock("/dev/null/lock").error(), ENOTDIR);
}

class SharedFileOfUsers : public SharedFile {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can be several users";
    }
};

TEST_F(SharedFileOfUsers, is_changed_by_all_whom_the_directory_lets) {
    for (const Shared& each :
         {Shared{"everybody", 0777, 0}, Shared{"everybody, sticky", 01777, 0}, Shared{"a group", 02775, common},
          Shared{"a group, sticky", 03775, common}, Shared{"a group, which files do not inherit", 0775, common},
          Shared{"a group alone", 02770, common}}) {
        for (const mode_t mask : {022U, 077U}) {
            SCOPED_TRACE(testing::Message() << each.what << ", umask " << std::oct << mask);
            open_directory(each.mode, each.group);
            int turn = 0;
            for (const uid_t user : {one, other, one, other}) {
                const std::string text(static_cast<std::size_t>(50 - 10 * turn), static_cast<char>('a' + turn));
                EXPECT_EQ(as(user, mask,
                             [&] {
                                 const FileLock lock(path() + ".lock");
                                 return lock.error() != 0 ? lock.error() : write_shared(path(), text);
                             }),
                          0);
                EXPECT_EQ(as(user == one ? other : one, mask, [&] { return content() == text ? 0 : 1; }), 0);
                ++turn;
            }
            std::filesystem::remove(path());
            std::filesystem::remove(path() + ".lock");
        }
    }
}

TEST_F(SharedFileOfUsers, a_lock_that_another_user_made_for_himself_can_be_had) {
    open_directory(0777);
    ASSERT_EQ(as(one, 022, [&] { return close(open(path().c_str(), O_CREAT | O_RDWR, 0644)); }), 0);
    EXPECT_EQ(as(other, 022, [&] { return FileLock(path()).error(); }), 0);
    const FileLock lock(path());
    EXPECT_EQ(as(other, 022, [&] { return FileLock(path()).error(); }), EWOULDBLOCK);
}

TEST_F(SharedFileOfUsers, stays_as_it_is_where_the_directory_is_another_s) {
    open_directory(0755, 0, one);
    ASSERT_EQ(as(one, 022, [&] { return write_shared(path(), "precious"); }), 0);
    EXPECT_EQ(as(other, 022, [&] { return write_shared(path(), "other"); }), EACCES);
    EXPECT_EQ(as(other, 022, [&] { return FileLock(path() + ".lock").error(); }), EACCES);
    EXPECT_EQ(content(), "precious");
}

TEST_F(SharedFileOfUsers, does_not_write_through_a_link_that_another_user_has_put_there) {
    open_directory(01777);
    const std::string mine = directory + "/mine";
    ASSERT_EQ(as(other, 022, [&] { return write_shared(mine, "precious"); }), 0);
    ASSERT_EQ(as(one, 022, [&] { return symlink(mine.c_str(), path().c_str()); }), 0);
    EXPECT_NE(as(other, 022, [&] { return write_shared(path(), "text"); }), 0);
    std::filesystem::remove(path());
    ASSERT_EQ(link(mine.c_str(), path().c_str()), 0);
    EXPECT_EQ(as(other, 022, [&] { return write_shared(path(), "text"); }), 0) << "it is his own, and replaced";
    EXPECT_EQ(read_text_file(mine, "the file"), "precious");
}

}  // namespace
}  // namespace rondo
