// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/written/xml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/core/error.hpp"

namespace rondo::written {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string complaint(std::string_view text) {
    try {
        parse_xml(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(xml, has_elements_with_attributes_and_their_lines) {
    const Element top =
        parse_xml("<?xml version='1.0'?>\n<!-- <no> -->\n<a b=\"1\"  c = '-2'>\n <d/><!-- -->\n<d x='>'></d >\n</a>\n");
    EXPECT_EQ(top.name, "a");
    EXPECT_EQ(top.line, 3);
    EXPECT_EQ(top.number("b", 0, 5), 1);
    EXPECT_EQ(top.number("c", -5, 5), -2);
    EXPECT_EQ(top.number_or("d", 0, 5, 3), 3);
    ASSERT_EQ(top.children.size(), 2U);
    EXPECT_EQ(top.children[0].line, 4);
    EXPECT_EQ(top.children[1].line, 5);
    EXPECT_EQ(top.children[1].text("x"), ">");
}

TEST(xml, numbers_are_whole_and_in_their_range) {
    const Element top = parse_xml("\n<a b='12x' c='' d='7' e='99999999999999999999'/>");
    for (const char* attribute : {"b", "c", "d", "e"}) {
        EXPECT_THROW((void)top.number(attribute, 0, 6), Error) << attribute;
    }
    EXPECT_EQ(top.number("d", 7, 7), 7);
    EXPECT_THROW((void)top.text("f"), Error);
}

TEST(xml, what_is_wrong_is_said_with_its_line) {
    EXPECT_THAT(complaint(""), HasSubstr("line 1: the file is cut off: expected an element"));
    EXPECT_THAT(complaint("<a>\n<b>\n</a>"), StartsWith("line 3: expected </b>, for it is open since line 2"));
    EXPECT_THAT(complaint("<a/>\n<b/>"), StartsWith("line 2: something stands behind the element 'a'"));
    EXPECT_THAT(complaint("<a b='1' b='2'/>"), StartsWith("line 1: b is there twice"));
    EXPECT_THAT(complaint("<a b=1/>"), StartsWith("line 1: expected the value of b in quotes"));
    EXPECT_THAT(complaint("<a b='1/>"), StartsWith("line 1: the file is cut off: expected the end of the value of b"));
    EXPECT_THAT(complaint("<a>\ntext</a>"), StartsWith("line 2: expected an element, or </a>"));
    EXPECT_THAT(complaint("<!DOCTYPE a><a/>"), StartsWith("line 1: declarations are not read"));
    EXPECT_THAT(complaint("<a><!-- </a>"), HasSubstr("the file is cut off: expected the end of a comment"));
}

TEST(xml, is_refused_wherever_it_is_cut_off) {
    const std::string_view whole = "<a b='1'>\n<!-- c --><d e=\"2\"/><d></d>\n</a>";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_NE(complaint(whole.substr(0, length)), "accepted") << length;
    }
    EXPECT_EQ(complaint(whole), "accepted");
}

}  // namespace
}  // namespace rondo::written
