//! The start tags of an HTML page that lead on, read in one pass over its bytes.
//!
//! The tokenizer of the HTML standard (13.2.5), without a tree: comments, raw text, quoting and
//! references mean what they mean to a browser. Where the tree would decide what a tag means (in
//! `<svg>`, `<select>`, `<template>`), or where a table of names is needed, the page is `unusual`,
//! and who asked takes the parser that builds a tree.
//!
//! Promise: linear time and no memory of its own, whatever the bytes are; every access is checked
//! (ReleaseSafe), so that a mistake here ends the process, which its parent expects, and no more.

const std = @import("std");

pub const Failure = error{ Unusual, NoRoom };

/// Marks in what is written. No value has one: a page that would is unusual.
const end_of_item = 0;
const element_mark = 1;
const name_mark = 2;
const value_mark = 3;

const longest_name = 20;
const longest_reference = 8192;

const Tag = enum {
    other,
    // Lead on by one attribute.
    a,
    area,
    audio,
    embed,
    iframe,
    object,
    script,
    track,
    // Are given with all their attributes that count.
    base,
    form,
    img,
    input,
    link,
    meta,
    source,
    video,
    // Have text in which nothing is a tag.
    noembed,
    noframes,
    style,
    textarea,
    title,
    xmp,
    // May have `background`.
    body,
    table,
    td,
    th,
    // Make the tree matter.
    frame,
    frameset,
    image,
    math,
    plaintext,
    svg,
    template,
    select,
    // Are at home in a `<select>`.
    hr,
    optgroup,
    option,
};

const tags = std.StaticStringMap(Tag).initComptime(entries: {
    const all = std.enums.values(Tag);
    var made: [all.len - 1]struct { []const u8, Tag } = undefined;
    for (all[1..], &made) |tag, *entry| entry.* = .{ @tagName(tag), tag };
    break :entries made;
});

/// What may stand in `<svg>` and means nothing to us. Whatever else stands there, the tree decides.
const drawn = std.StaticStringMap(void).initComptime(.{
    .{"animate"},  .{"animatetransform"}, .{"circle"},  .{"clippath"},       .{"defs"},
    .{"desc"},     .{"ellipse"},          .{"feblend"}, .{"fecolormatrix"},  .{"fecomposite"},
    .{"feflood"},  .{"fegaussianblur"},   .{"femerge"}, .{"femergenode"},    .{"feoffset"},
    .{"filter"},   .{"g"},                .{"line"},    .{"lineargradient"}, .{"marker"},
    .{"mask"},     .{"metadata"},         .{"path"},    .{"pattern"},        .{"polygon"},
    .{"polyline"}, .{"radialgradient"},   .{"rect"},    .{"stop"},           .{"style"},
    .{"symbol"},   .{"text"},             .{"title"},   .{"tspan"},          .{"use"},
});

/// Of these, the ones that hold text, or what is read as a page again.
const holds_text = std.StaticStringMap(void).initComptime(.{ .{"desc"}, .{"metadata"}, .{"style"}, .{"title"} });

const Attribute = enum(u8) {
    action,
    background,
    content,
    data,
    href,
    @"http-equiv",
    imagesrcset,
    method,
    name,
    poster,
    rel,
    src,
    srcset,
    type,
};
const attribute_count = std.enums.values(Attribute).len;

const attributes = std.StaticStringMap(Attribute).initComptime(entries: {
    const all = std.enums.values(Attribute);
    var made: [all.len]struct { []const u8, Attribute } = undefined;
    for (all, &made) |attribute, *entry| entry.* = .{ @tagName(attribute), attribute };
    break :entries made;
});

/// given: `href=""` has a value, and `href` has none.
const Value = struct { text: []const u8 = "", given: bool = false };

/// What a tag says; null where it has no such attribute.
const Said = [attribute_count]?Value;

/// Write what leads on into `out`, in document order; return how many bytes that are.
///
/// token: the product token of a robot, in lower case, whose `<meta>` counts beside `robots`.
pub fn read(page: []const u8, token: []const u8, out: []u8) Failure!usize {
    var reader = Reader{ .page = page, .token = token, .out = out };
    try reader.readAll();
    return reader.written;
}

const Reader = struct {
    page: []const u8,
    token: []const u8,
    out: []u8,
    at: usize = 0,
    written: usize = 0,
    in_select: bool = false,
    in_form: bool = false,
    in_svg: bool = false,
    met: Met = .{},

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
            if (self.in_svg) return error.Unusual; // `<![CDATA[` is text there
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
                self.at = close + 1;
                return;
            }
        }
        self.at = page.len;
    }

    /// Pass the name of a tag; return it in lower case, "" where it is none that we know.
    fn tagName(self: *Reader, into: *[longest_name]u8) []const u8 {
        const begin = self.at;
        while (self.at < self.page.len and !endsName(self.page[self.at])) self.at += 1;
        return lowered(self.page[begin..self.at], into);
    }

    fn endTag(self: *Reader) Failure!void {
        var lower: [longest_name]u8 = undefined;
        const named = self.tagName(&lower);
        var said: Said = undefined;
        if (self.attributesOf(false, &said) == .cut) return;
        if (self.in_svg) {
            if (std.mem.eql(u8, named, "svg")) {
                self.in_svg = false;
            } else if (!drawn.has(named)) return error.Unusual;
            return;
        }
        switch (tags.get(named) orelse .other) {
            .select => self.in_select = false,
            .form => self.in_form = false,
            else => {},
        }
    }

    /// Pass a start tag within `<svg>`: nothing there is of use, and little of it is simple.
    fn drawing(self: *Reader, named: []const u8) Failure!void {
        if (!drawn.has(named)) return error.Unusual;
        var said: Said = undefined;
        if (self.attributesOf(false, &said) != .open or !holds_text.has(named)) return;
        const next = std.mem.findScalarPos(u8, self.page, self.at, '<') orelse return;
        if (next + 1 < self.page.len and self.page[next + 1] != '/') return error.Unusual;
    }

    fn startTag(self: *Reader) Failure!void {
        var lower: [longest_name]u8 = undefined;
        const named = self.tagName(&lower);
        if (self.in_svg) return self.drawing(named);
        const tag = tags.get(named) orelse .other;
        var said: Said = @splat(null);
        const counts = switch (tag) {
            .other, .noembed, .noframes, .style, .textarea, .title, .xmp => false,
            else => true,
        };
        const ended = self.attributesOf(counts, &said);
        if (ended == .cut) return;
        if (self.in_select) switch (tag) {
            .other => return error.Unusual,
            .hr, .optgroup, .option => return,
            else => return error.Unusual,
        };
        switch (tag) {
            .other, .hr, .optgroup, .option => {},
            .a => try self.followed("a", .href, &said),
            .area => try self.followed("area", .href, &said),
            .audio, .embed, .track => try self.reference(valueOf(&said, .src)),
            .object => try self.reference(valueOf(&said, .data)),
            .iframe => {
                try self.reference(valueOf(&said, .src));
                self.skipText("iframe");
            },
            .script => {
                try self.reference(valueOf(&said, .src));
                try self.skipScript();
            },
            .img, .source => {
                if (valueOf(&said, .srcset) == null) {
                    try self.reference(valueOf(&said, .src));
                } else {
                    try self.element(@tagName(tag), &said, &.{ .src, .srcset });
                }
            },
            .video => {
                if (valueOf(&said, .poster) == null) {
                    try self.reference(valueOf(&said, .src));
                } else {
                    try self.element("video", &said, &.{ .src, .poster });
                }
            },
            .input => if (valueOf(&said, .src) != null and valueOf(&said, .type) != null) {
                try self.element("input", &said, &.{ .src, .type });
            },
            .link => try self.element("link", &said, &.{ .href, .rel, .imagesrcset }),
            .base => try self.element("base", &said, &.{.href}),
            .meta => if (self.isRead(&said)) {
                try self.element("meta", &said, &.{ .name, .content, .@"http-equiv" });
            },
            .form => {
                if (self.in_form) return error.Unusual;
                self.in_form = true;
                try self.element("form", &said, &.{ .action, .method, .rel });
            },
            .noembed, .noframes, .style, .textarea, .title, .xmp => self.skipText(@tagName(tag)),
            .body, .table, .td, .th => if (valueOf(&said, .background) != null) return error.Unusual,
            .select => self.in_select = true,
            .frame, .frameset, .image, .math, .plaintext, .template => return error.Unusual,
            .svg => self.in_svg = ended == .open,
        }
    }

    /// closed: by `/>`. cut: by the end of the page, so that it is no tag.
    const Ended = enum { open, closed, cut };

    /// Pass the attributes of a tag, and keep those that count.
    fn attributesOf(self: *Reader, counts: bool, said: *Said) Ended {
        const page = self.page;
        var here = self.at;
        defer self.at = here;
        while (true) {
            var slash = false;
            while (here < page.len and (isSpace(page[here]) or page[here] == '/')) : (here += 1) {
                slash = page[here] == '/';
            }
            if (here >= page.len) return .cut;
            if (page[here] == '>') {
                here += 1;
                return if (slash) .closed else .open;
            }
            const begin = here;
            here += 1; // also a `=` that begins a name is a part of it
            while (here < page.len and !endsName(page[here]) and page[here] != '=') here += 1;
            const attribute = page[begin..here];
            while (here < page.len and isSpace(page[here])) here += 1;
            if (here >= page.len) return .cut;
            var value: Value = .{};
            if (page[here] == '=') {
                here += 1;
                while (here < page.len and isSpace(page[here])) here += 1;
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
                    while (here < page.len and !isSpace(page[here]) and page[here] != '>') here += 1;
                    if (here >= page.len) return .cut;
                    value = .{ .text = page[first_byte..here], .given = true };
                }
            }
            if (!counts) continue;
            var lower: [longest_name]u8 = undefined;
            const which = attributes.get(lowered(attribute, &lower)) orelse continue;
            const place = &said[@backingInt(which)];
            if (place.* == null) place.* = value;
        }
    }

    /// Pass text up to the end tag of the element that it is in.
    fn skipText(self: *Reader, name: []const u8) void {
        self.at = self.endOfText(name);
    }

    fn endOfText(self: *const Reader, name: []const u8) usize {
        const page = self.page;
        var from = self.at;
        while (std.mem.findScalarPos(u8, page, from, '<')) |open| : (from = open + 1) {
            const behind = open + 2 + name.len;
            if (behind >= page.len) break;
            if (page[open + 1] != '/' or !endsName(page[behind])) continue;
            if (std.ascii.eqlIgnoreCase(page[open + 2 .. behind], name)) return open;
        }
        return page.len;
    }

    fn skipScript(self: *Reader) Failure!void {
        const end = self.endOfText("script");
        const text = self.page[self.at..end];
        if (std.mem.find(u8, text, "<!--")) |comment| {
            // `<script>` in such a comment has an end tag of its own.
            var from = comment;
            while (std.mem.findScalarPos(u8, text, from, '<')) |open| : (from = open + 1) {
                if (std.ascii.startsWithIgnoreCase(text[open + 1 ..], "script")) return error.Unusual;
            }
        }
        self.at = end;
    }

    /// Write what a reader can follow, unless the page asks robots not to.
    fn followed(self: *Reader, name: []const u8, which: Attribute, said: *const Said) Failure!void {
        if (valueOf(said, .rel)) |rel| {
            if (!isAscii(rel)) return self.element(name, said, &.{ which, .rel });
            if (hasNofollow(rel)) return;
        }
        try self.reference(valueOf(said, which));
    }

    /// Tell whether a `<meta>` may say anything to robots or lead on.
    fn isRead(self: *const Reader, said: *const Said) bool {
        if (valueOf(said, .@"http-equiv") != null) return true;
        const name = valueOf(said, .name) orelse return false;
        if (!isAscii(name)) return true;
        return std.ascii.findIgnoreCase(name, "robots") != null or
            std.ascii.findIgnoreCase(name, self.token) != null;
    }

    /// Write an element with those of its attributes that count.
    fn element(self: *Reader, name: []const u8, said: *const Said, which: []const Attribute) Failure!void {
        try self.put(element_mark);
        try self.putAll(name);
        for (which) |one| {
            const value = said[@backingInt(one)] orelse continue;
            try self.put(name_mark);
            try self.putAll(@tagName(one));
            if (!value.given) continue;
            try self.put(value_mark);
            _ = try self.putValue(value.text);
        }
        try self.put(end_of_item);
    }

    /// Write a reference, once: without a fragment, which names a part of the same page.
    fn reference(self: *Reader, value: ?[]const u8) Failure!void {
        const written = value orelse return;
        if (written.len == 0) return;
        const begin = self.written;
        const length = try self.putValue(written);
        const text = self.out[begin..][0..length];
        if (length <= longest_reference) {
            if (std.mem.findScalar(u8, text, '#')) |cut| {
                // White space ends a reference, but is a part of what precedes a fragment.
                if (cut == 0 or (text[cut - 1] > ' ' and text[cut - 1] < 0x7f)) {
                    self.written = begin + cut;
                }
            }
            if (self.met.before(self.out, begin, self.written)) {
                self.written = begin;
                return;
            }
        }
        try self.put(end_of_item);
    }

    fn put(self: *Reader, byte: u8) Failure!void {
        if (self.written >= self.out.len) return error.NoRoom;
        self.out[self.written] = byte;
        self.written += 1;
    }

    fn putAll(self: *Reader, bytes: []const u8) Failure!void {
        if (bytes.len > self.out.len - self.written) return error.NoRoom;
        @memcpy(self.out[self.written..][0..bytes.len], bytes);
        self.written += bytes.len;
    }

    /// Write a value with its references resolved; return how many bytes that are.
    fn putValue(self: *Reader, value: []const u8) Failure!usize {
        const begin = self.written;
        if (isPlain(value)) {
            try self.putAll(value);
            return value.len;
        }
        var here: usize = 0;
        while (here < value.len) {
            const byte = value[here];
            if (byte <= value_mark or byte == '\r') return error.Unusual;
            if (byte != '&') {
                try self.put(byte);
                here += 1;
                continue;
            }
            here += 1;
            const named = value[here..];
            if (known_names: {
                inline for (.{ .{ "amp;", '&' }, .{ "lt;", '<' }, .{ "gt;", '>' }, .{ "quot;", '"' } }) |one| {
                    if (std.mem.startsWith(u8, named, one[0])) {
                        try self.put(one[1]);
                        break :known_names one[0].len;
                    }
                }
                break :known_names null;
            }) |length| {
                here += length;
            } else if (named.len > 0 and named[0] == '#') {
                const known = numbered(named) orelse return error.Unusual;
                try self.put(known.byte);
                here += known.length;
            } else {
                const end = for (named, 0..) |one, place| {
                    if (!std.ascii.isAlphanumeric(one)) break place;
                } else named.len;
                // `&x=` is no reference, whatever x; of others a table of names would have to say.
                if (end > 0 and (end == named.len or named[end] != '=')) return error.Unusual;
                try self.put('&');
            }
        }
        return self.written - begin;
    }
};

/// References that were written. One that finds no place is written each time: whatever a page
/// does to fill them costs it no more than `most_looks` for each.
const Met = struct {
    const places = 2048;
    const most_looks = 8;

    begins: [places]u32 = undefined,
    lengths: [places]u32 = @splat(0),

    /// Tell whether the text in `out` was met before; remember where it is.
    fn before(self: *Met, out: []const u8, begin: usize, end: usize) bool {
        const text = out[begin..end];
        // One is added to each length: an empty reference is one, too.
        const length: u32 = @intCast(text.len + 1);
        const home: usize = @intCast(std.hash.Wyhash.hash(0, text) % places);
        for (0..most_looks) |look| {
            const place = (home + look) % places;
            if (self.lengths[place] == 0) {
                if (begin > std.math.maxInt(u32)) return false;
                self.begins[place] = @intCast(begin);
                self.lengths[place] = length;
                return false;
            }
            if (self.lengths[place] != length) continue;
            if (std.mem.eql(u8, out[self.begins[place]..][0..text.len], text)) return true;
        }
        return false;
    }
};

const Numbered = struct { byte: u8, length: usize };

/// Return the character of ASCII that `#109;` or `#x2f;` stands for, or null.
fn numbered(named: []const u8) ?Numbered {
    var here: usize = 1;
    const hex = named.len > 1 and (named[1] == 'x' or named[1] == 'X');
    if (hex) here = 2;
    const begin = here;
    var number: u32 = 0;
    while (here < named.len and here - begin < 6) : (here += 1) {
        const digit = std.fmt.charToDigit(named[here], if (hex) 16 else 10) catch break;
        number = number * (if (hex) @as(u32, 16) else 10) + digit;
    }
    if (here == begin or here >= named.len or named[here] != ';') return null;
    if (number < ' ' or number > '~') return null;
    return .{ .byte = @intCast(number), .length = here + 1 };
}

fn valueOf(said: *const Said, which: Attribute) ?[]const u8 {
    return (said[@backingInt(which)] orelse return null).text;
}

fn isSpace(byte: u8) bool {
    return byte == ' ' or (byte >= '\t' and byte <= '\r' and byte != 0x0b);
}

fn endsName(byte: u8) bool {
    return isSpace(byte) or byte == '/' or byte == '>';
}

fn lowered(name: []const u8, into: *[longest_name]u8) []const u8 {
    if (name.len > longest_name) return "";
    return std.ascii.lowerString(into, name);
}

fn isAscii(text: []const u8) bool {
    for (text) |byte| if (byte >= 0x80) return false;
    return true;
}

/// Tell whether nothing in a value stands for anything else.
fn isPlain(value: []const u8) bool {
    for (value) |byte| if (byte == '&' or byte <= value_mark or byte == '\r') return false;
    return true;
}

/// Tell whether one of the words is `nofollow`. Words end where Python's do.
fn hasNofollow(words: []const u8) bool {
    var each = std.mem.tokenizeAny(u8, words, " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f");
    while (each.next()) |word| if (std.ascii.eqlIgnoreCase(word, "nofollow")) return true;
    return false;
}
