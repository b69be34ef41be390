//! The start tags of an HTML page that lead on, read in one pass over its bytes.
//!
//! The tokenizer of the HTML standard (13.2.5), without a tree: comments, raw text, quoting and
//! references mean what they mean to a browser. Where the tree would decide what a tag means (in
//! `<svg>`, `<select>`, `<template>`), or where a table of names is needed, the page is `unusual`,
//! and who asked takes the parser that builds a tree. The complex elements need no tree
//! (`complex_elements.zig`) and are read of any page, in the same pass.
//!
//! Promise: linear time and no memory of its own, whatever the bytes are; every access is checked
//! (ReleaseSafe), so that a mistake here ends the process, which its parent expects, and no more.

const std = @import("std");
const names = @import("names.zig");
const complex = @import("complex_elements.zig");
const Failure = @import("writer.zig").Failure;
const Kind = @import("writer.zig").Kind;
const Writer = @import("writer.zig").Writer;

/// Where what is found is written, and how much of each that was.
pub const Found = extern struct {
    out: [*]u8,
    out_bytes: usize,
    kinds: [*]u8,
    kinds_bytes: usize,
    complex: [*]u8,
    complex_bytes: usize,
};

/// Write what leads on into `out`, in document order, with its kinds, and the complex elements.
///
/// The sizes in `found` are then those of what was written. False: only a tree can tell what leads
/// on; the complex elements are there. token: the product token of a robot, in lower case, whose
/// `<meta>` counts beside `robots`.
pub fn read(page: []const u8, token: []const u8, found: *Found) error{NoRoom}!bool {
    var reader = Reader{
        .page = page,
        .token = token,
        .writer = .{
            .out = found.out[0..found.out_bytes],
            .kinds = found.kinds[0..found.kinds_bytes],
        },
        .complex = .{ .page = page, .out = found.complex[0..found.complex_bytes] },
    };
    reader.readAll() catch return error.NoRoom;
    found.out_bytes = reader.writer.written;
    found.kinds_bytes = reader.writer.items;
    found.complex_bytes = reader.complex.written;
    return !reader.unusual;
}

const Reader = struct {
    page: []const u8,
    token: []const u8,
    at: usize = 0,
    in_select: bool = false,
    in_form: bool = false,
    in_svg: bool = false,
    unusual: bool = false,
    writer: Writer,
    complex: complex.ComplexElements,
    tag: complex.Tag = .{},

    fn readAll(self: *Reader) Failure!void {
        const page = self.page;
        while (std.mem.findScalarPos(u8, page, self.at, '<')) |open| {
            self.at = open + 1;
            if (self.at >= page.len) return;
            switch (page[self.at]) {
                'a'...'z', 'A'...'Z' => try self.startTag(),
                '/' => {
                    self.at += 1;
                    if (self.at >= page.len) return;
                    if (std.ascii.isAlphabetic(page[self.at])) {
                        try self.endTag();
                    } else {
                        self.skipPast('>');
                    }
                },
                '!' => try self.declaration(),
                '?' => self.skipPast('>'),
                else => {},
            }
        }
        self.at = page.len;
    }

    fn skipPast(self: *Reader, byte: u8) void {
        const found = std.mem.findScalarPos(u8, self.page, self.at, byte);
        self.at = if (found) |at| at + 1 else self.page.len;
    }

    /// Pass a comment, or what browsers take for one.
    fn declaration(self: *Reader) Failure!void {
        const page = self.page;
        self.at += 1;
        if (!std.mem.startsWith(u8, page[self.at..], "--")) {
            if (self.in_svg) self.unusual = true; // `<![CDATA[` is text there
            return self.skipPast('>');
        }
        self.at += 2;
        if (std.mem.startsWith(u8, page[self.at..], ">")) {
            self.at += 1;
            return;
        }
        if (std.mem.startsWith(u8, page[self.at..], "->")) {
            self.at += 2;
            return;
        }
        var end = self.at;
        while (std.mem.findScalarPos(u8, page, end, '>')) |close| : (end = close + 1) {
            const text = page[self.at..close];
            if (std.mem.endsWith(u8, text, "--") or std.mem.endsWith(u8, text, "--!")) {
                const marks: usize = if (text[text.len - 1] == '!') 3 else 2;
                try self.complex.comment(text[0 .. text.len - marks]);
                self.at = close + 1;
                return;
            }
        }
        self.at = page.len;
    }

    /// Pass the name of a tag; return it in lower case, "" where it is none that we know.
    fn tagName(self: *Reader, into: *[names.longest_name]u8) []const u8 {
        const begin = self.at;
        while (self.at < self.page.len and !names.endsName(self.page[self.at])) self.at += 1;
        return names.lowered(self.page[begin..self.at], into);
    }

    fn endTag(self: *Reader) Failure!void {
        var lower: [names.longest_name]u8 = undefined;
        const named = self.tagName(&lower);
        var said: names.Said = undefined;
        if (self.attributesOf(.pass, &said) == .cut) return;
        const tag = names.tags.get(named) orelse .other;
        try self.complex.endTag(tag);
        if (self.in_svg) {
            if (tag == .svg) {
                self.in_svg = false;
            } else if (!names.drawn.has(named)) self.unusual = true;
            return;
        }
        switch (tag) {
            .select => self.in_select = false,
            .form => self.in_form = false,
            else => {},
        }
    }

    fn startTag(self: *Reader) Failure!void {
        var lower: [names.longest_name]u8 = undefined;
        const begin = self.at;
        const named = self.tagName(&lower);
        const tag = names.tags.get(named) orelse .other;
        self.tag.begin(self.page[begin..self.at], tag);
        var said: names.Said = @splat(null);
        const counts = switch (tag) {
            .other, .noembed, .noframes, .style, .textarea, .title, .xmp => false,
            .applet, .bgsound, .button, .feimage, .fencedframe, .fieldset, .ilayer, .isindex, .layer => false,
            .legend, .optgroup, .param, .portal, .use => false,
            .lineargradient, .mpath, .pattern, .radialgradient, .textpath => false,
            else => true,
        };
        const ended = if (counts) self.attributesOf(.all, &said) else self.attributesOf(.complex, &said);
        if (ended == .cut) return;
        try self.complex.startTag(&self.tag, tag, &said, self.page[self.at..]);
        const text_name: ?[]const u8 = switch (tag) {
            .iframe, .noembed, .noframes, .script, .style, .textarea, .title, .xmp => @tagName(tag),
            else => null,
        };
        var end = self.at;
        if (text_name) |name| if (!(self.in_svg and ended == .closed)) {
            end = self.endOfText(name);
            try self.complex.rawText(&self.tag, tag, &said, self.page[self.at..end]);
        };
        if (!self.unusual) {
            const result = if (self.in_svg)
                self.drawing(named, tag, ended, end)
            else
                self.classical(tag, &said, self.page[self.at..end]);
            result catch |failure| switch (failure) {
                error.Unusual => self.unusual = true,
                error.NoRoom => return failure,
            };
        }
        if (tag == .svg and ended == .open) self.in_svg = true;
        self.at = if (tag == .plaintext) self.page.len else end;
    }

    /// Judge a start tag within `<svg>`: nothing there leads on by itself, and little is simple.
    ///
    /// end: where the text of a tag ends in which nothing is a tag.
    fn drawing(self: *const Reader, named: []const u8, tag: names.Tag, ended: Ended, end: usize) Failure!void {
        if (!names.drawn.has(named)) return error.Unusual;
        if (ended != .open or !names.holds_text.has(named)) return;
        const next = std.mem.findScalarPos(u8, self.page, self.at, '<') orelse return;
        if (tag == .style or tag == .title) {
            if (next != end) return error.Unusual;
        } else if (next + 1 < self.page.len and self.page[next + 1] != '/') return error.Unusual;
    }

    /// Write what a tag leads to. text: of a tag in which nothing is a tag.
    fn classical(self: *Reader, tag: names.Tag, said: *const names.Said, text: []const u8) Failure!void {
        if (self.in_select) switch (tag) {
            .hr, .optgroup, .option => return,
            else => return error.Unusual,
        };
        switch (tag) {
            .other, .hr, .optgroup, .option, .svg => {},
            .noembed, .noframes, .style, .textarea, .title, .xmp => {},
            .applet, .bgsound, .button, .feimage, .fencedframe, .fieldset, .ilayer, .isindex, .layer => {},
            .legend, .param, .portal, .use => {},
            .lineargradient, .mpath, .pattern, .radialgradient, .textpath => {},
            .a => try self.followed("a", .href, said),
            .area => try self.followed("area", .href, said),
            .audio, .embed, .track => try self.writer.reference(.media, names.valueOf(said, .src)),
            .object => try self.writer.reference(.media, names.valueOf(said, .data)),
            .iframe => try self.writer.reference(.frame, names.valueOf(said, .src)),
            .script => {
                try self.writer.reference(.script, names.valueOf(said, .src));
                try checkScript(text);
            },
            .img, .source => {
                if (names.valueOf(said, .srcset) == null) {
                    try self.writer.reference(.image, names.valueOf(said, .src));
                } else {
                    try self.writer.element(@tagName(tag), said, &.{ .src, .srcset });
                }
            },
            .video => {
                if (names.valueOf(said, .poster) == null) {
                    try self.writer.reference(.media, names.valueOf(said, .src));
                } else {
                    try self.writer.element("video", said, &.{ .src, .poster });
                }
            },
            .input => if (names.valueOf(said, .src) != null and names.valueOf(said, .type) != null) {
                try self.writer.element("input", said, &.{ .src, .type });
            },
            .link => try self.writer.element("link", said, &.{ .href, .rel, .imagesrcset }),
            .base => try self.writer.element("base", said, &.{.href}),
            .meta => if (self.isRead(said)) {
                try self.writer.element("meta", said, &.{ .name, .content, .@"http-equiv" });
            },
            .form => {
                if (self.in_form) return error.Unusual;
                self.in_form = true;
                try self.writer.element("form", said, &.{ .action, .method, .rel });
            },
            .body, .table, .td, .th => if (names.valueOf(said, .background) != null) return error.Unusual,
            .select => self.in_select = true,
            .template => if (!names.isShown(said)) return error.Unusual,
            .frame, .frameset, .image, .math, .plaintext => return error.Unusual,
        }
    }

    /// closed: by `/>`. cut: by the end of the page, so that it is no tag.
    const Ended = enum { open, closed, cut };

    /// Pass the attributes of a tag, and keep those that count.
    fn attributesOf(self: *Reader, comptime keep: enum { pass, complex, all }, said: *names.Said) Ended {
        const page = self.page;
        var here = self.at;
        defer self.at = here;
        while (true) {
            var slash = false;
            while (here < page.len and (names.isSpace(page[here]) or page[here] == '/')) : (here += 1) {
                slash = page[here] == '/';
            }
            if (here >= page.len) return .cut;
            if (page[here] == '>') {
                here += 1;
                return if (slash) .closed else .open;
            }
            const begin = here;
            here += 1; // also a `=` that begins a name is a part of it
            while (here < page.len and !names.endsName(page[here]) and page[here] != '=') here += 1;
            const attribute = page[begin..here];
            while (here < page.len and names.isSpace(page[here])) here += 1;
            if (here >= page.len) return .cut;
            var value: names.Value = .{};
            if (page[here] == '=') {
                here += 1;
                while (here < page.len and names.isSpace(page[here])) here += 1;
                if (here >= page.len) return .cut;
                const first = page[here];
                if (first == '"' or first == '\'') {
                    const close = std.mem.findScalarPos(u8, page, here + 1, first) orelse {
                        here = page.len;
                        return .cut;
                    };
                    value = .{ .text = page[here + 1 .. close], .given = true };
                    here = close + 1;
                } else {
                    const first_byte = here;
                    while (here < page.len and !names.isSpace(page[here]) and page[here] != '>') here += 1;
                    if (here >= page.len) return .cut;
                    value = .{ .text = page[first_byte..here], .given = true };
                }
            }
            if (keep == .pass) continue;
            self.tag.take(attribute, value);
            if (keep == .complex) continue;
            var lower: [names.longest_name]u8 = undefined;
            const which = names.attributes.get(names.lowered(attribute, &lower)) orelse continue;
            const place = &said[@backingInt(which)];
            if (place.* == null) place.* = value;
        }
    }

    /// Return where the text of a tag ends, in which nothing is a tag.
    fn endOfText(self: *const Reader, name: []const u8) usize {
        const page = self.page;
        var from = self.at;
        while (std.mem.findScalarPos(u8, page, from, '<')) |open| : (from = open + 1) {
            const behind = open + 2 + name.len;
            if (behind >= page.len) break;
            if (page[open + 1] != '/' or !names.endsName(page[behind])) continue;
            if (std.ascii.eqlIgnoreCase(page[open + 2 .. behind], name)) return open;
        }
        return page.len;
    }

    fn checkScript(text: []const u8) Failure!void {
        const comment = std.mem.find(u8, text, "<!--") orelse return;
        // `<script>` in such a comment has an end tag of its own.
        var from = comment;
        while (std.mem.findScalarPos(u8, text, from, '<')) |open| : (from = open + 1) {
            if (std.ascii.startsWithIgnoreCase(text[open + 1 ..], "script")) return error.Unusual;
        }
    }

    /// Write what a reader can follow, unless the page asks robots not to.
    fn followed(self: *Reader, name: []const u8, which: names.Attribute, said: *const names.Said) Failure!void {
        if (names.valueOf(said, .rel)) |rel| {
            if (!names.isAscii(rel)) return self.writer.element(name, said, &.{ which, .rel });
            if (names.hasNofollow(rel)) return;
        }
        try self.writer.reference(.anchor, names.valueOf(said, which));
    }

    /// Tell whether a `<meta>` may say anything to robots or lead on.
    fn isRead(self: *const Reader, said: *const names.Said) bool {
        if (names.valueOf(said, .@"http-equiv") != null) return true;
        const name = names.valueOf(said, .name) orelse return false;
        if (!names.isAscii(name)) return true;
        return std.ascii.findIgnoreCase(name, "robots") != null or
            std.ascii.findIgnoreCase(name, self.token) != null;
    }
};
