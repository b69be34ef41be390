//! What leads on, as it is written for Python.
//!
//!     x NUL                       a reference by itself
//!     1 img 2 src 3 x NUL         an element (1), with its attributes (2) and their values (3)
//!
//! Beside them, in `kinds`, stands one byte for each: how a reference was found.

const std = @import("std");
const names = @import("names.zig");

pub const Failure = error{ Unusual, NoRoom };

/// Marks in what is written. No value has one: a page that would is unusual.
const end_of_item = 0;
const element_mark = 1;
const name_mark = 2;
const value_mark = 3;

const longest_reference = 8192;

/// How a reference was found; the numbers are those of `agent/pipeline/link_kinds.py`.
pub const Kind = enum(u8) {
    element = 0,
    anchor = 1,
    frame = embedded | 5,
    image = embedded | 6,
    script = embedded | 7,
    media = embedded | 8,

    const embedded = 0x80;
};

pub const Writer = struct {
    out: []u8,
    kinds: []u8,
    written: usize = 0,
    items: usize = 0,
    met: Met = .{},

    /// Write an element with those of its attributes that count.
    pub fn element(self: *Writer, name: []const u8, said: *const names.Said, which: []const names.Attribute) Failure!void {
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
        try self.endItem(.element);
    }

    /// Write a reference, once: without a fragment, which names a part of the same page.
    pub fn reference(self: *Writer, kind: Kind, value: ?[]const u8) Failure!void {
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
        try self.endItem(kind);
    }

    fn endItem(self: *Writer, kind: Kind) Failure!void {
        try self.put(end_of_item);
        if (self.items >= self.kinds.len) return error.NoRoom;
        self.kinds[self.items] = @backingInt(kind);
        self.items += 1;
    }

    fn put(self: *Writer, byte: u8) Failure!void {
        if (self.written >= self.out.len) return error.NoRoom;
        self.out[self.written] = byte;
        self.written += 1;
    }

    fn putAll(self: *Writer, bytes: []const u8) Failure!void {
        if (bytes.len > self.out.len - self.written) return error.NoRoom;
        @memcpy(self.out[self.written..][0..bytes.len], bytes);
        self.written += bytes.len;
    }

    /// Write a value with its references resolved; return how many bytes that are.
    fn putValue(self: *Writer, value: []const u8) Failure!usize {
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
            if (characterOf(named)) |found| {
                try self.put(found.byte);
                here += found.length;
            } else {
                if (mayBeReference(named)) return error.Unusual;
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

const Character = struct { byte: u8, length: usize };

/// Return the character of ASCII that `amp;`, `#109;` or `#x2f;` stands for, behind its `&`; or null.
fn characterOf(named: []const u8) ?Character {
    inline for (.{ .{ "amp;", '&' }, .{ "lt;", '<' }, .{ "gt;", '>' }, .{ "quot;", '"' } }) |one| {
        if (std.mem.startsWith(u8, named, one[0])) return .{ .byte = one[1], .length = one[0].len };
    }
    if (named.len == 0 or named[0] != '#') return null;
    const hex = named.len > 1 and (named[1] == 'x' or named[1] == 'X');
    const base: u8 = if (hex) 16 else 10;
    const begin: usize = if (hex) 2 else 1;
    var here = begin;
    var number: u32 = 0;
    while (here < named.len and here - begin < 6) : (here += 1) {
        const digit = std.fmt.charToDigit(named[here], base) catch break;
        number = number * base + digit;
    }
    if (here == begin or here >= named.len or named[here] != ';') return null;
    if (number < ' ' or number > '~') return null;
    return .{ .byte = @intCast(number), .length = here + 1 };
}

/// Tell whether a table of names would have to say what follows a `&`. `&x=` is no reference.
fn mayBeReference(named: []const u8) bool {
    if (named.len > 0 and named[0] == '#') return true;
    var end: usize = 0;
    while (end < named.len and std.ascii.isAlphanumeric(named[end])) end += 1;
    return end > 0 and (end == named.len or named[end] != '=');
}

/// Tell whether nothing in a value stands for anything else.
fn isPlain(value: []const u8) bool {
    for (value) |byte| if (byte == '&' or byte <= value_mark or byte == '\r') return false;
    return true;
}
