//! Lines of a crawl log (M3) into columns, in one pass over a block of them.
//!
//!     "URL",request-bytes,response-bytes,elapsed-ms,"HEADERS"
//!
//! A line is plain when it is written so, with a URL in canonical form and no escape of a byte by
//! its number in its headers; so are nearly all that agents write. The others are told by their
//! place, and Python says what they mean.
//!
//! Promise: linear time and no memory of its own; every access is checked (ReleaseSafe).

const std = @import("std");

pub const Failure = error{NoRoom};

const longest_plain = 128 * 1024;
const most_digits = 12; // longer numbers are over the limit, or written oddly
const most_places = 1 << 16; // for hosts of a block, of which half are used
const most_looks = 512; // for one host: who wrote a log to make them meet is read line by line

/// What a block says. The caller gives the room: `lines` of each column, and as many bytes for each
/// kind of text as the block has. Offsets have one place more, and begin with 0.
pub const Columns = extern struct {
    lines: usize,
    url_offsets: [*]i32,
    urls: [*]u8,
    path_offsets: [*]i32,
    paths: [*]u8,
    header_offsets: [*]i32,
    headers: [*]u8,
    requested: [*]i64,
    responded: [*]i64,
    elapsed: [*]i64,
    status: [*]i16,
    hosts: [*]i32,
    /// Where in `urls` the authority of each host first stands, and how long it is, in turns.
    authorities: [*]u32,
    odd: [*]i32,
    plain_count: usize,
    odd_count: usize,
    host_count: usize,
};

/// Read the lines of a block, each of which ends with LF.
pub fn read(block: []const u8, columns: *Columns) Failure!void {
    var reader = Reader.of(columns, block.len);
    var begin: usize = 0;
    var place: usize = 0;
    while (begin < block.len) : (place += 1) {
        if (place >= columns.lines) return error.NoRoom;
        const text = block[begin..];
        const length = if (text.len > longest_plain) longest_plain else text.len;
        if (try reader.plainLine(text[0..length])) |used| {
            begin += used;
            continue;
        }
        reader.odd[reader.odd_count] = @intCast(place);
        reader.odd_count += 1;
        begin += (std.mem.findScalar(u8, text, '\n') orelse text.len - 1) + 1;
    }
    columns.plain_count = reader.count;
    columns.odd_count = reader.odd_count;
    columns.host_count = reader.host_count;
}

const Reader = struct {
    url_offsets: []i32,
    urls: []u8,
    path_offsets: []i32,
    paths: []u8,
    header_offsets: []i32,
    headers: []u8,
    requested: []i64,
    responded: []i64,
    elapsed: []i64,
    status: []i16,
    hosts: []i32,
    authorities: []u32,
    odd: []i32,
    count: usize = 0,
    odd_count: usize = 0,
    host_count: usize = 0,
    places: [most_places]i32 = @splat(-1),

    fn of(columns: *const Columns, bytes: usize) Reader {
        const lines = columns.lines;
        var made = Reader{
            .url_offsets = columns.url_offsets[0 .. lines + 1],
            .urls = columns.urls[0..bytes],
            .path_offsets = columns.path_offsets[0 .. lines + 1],
            .paths = columns.paths[0..bytes],
            .header_offsets = columns.header_offsets[0 .. lines + 1],
            .headers = columns.headers[0..bytes],
            .requested = columns.requested[0..lines],
            .responded = columns.responded[0..lines],
            .elapsed = columns.elapsed[0..lines],
            .status = columns.status[0..lines],
            .hosts = columns.hosts[0..lines],
            .authorities = columns.authorities[0 .. 2 * lines],
            .odd = columns.odd[0..lines],
        };
        made.url_offsets[0] = 0;
        made.path_offsets[0] = 0;
        made.header_offsets[0] = 0;
        return made;
    }

    /// Enter a line and return how many bytes it has, or null: it is not plain.
    fn plainLine(self: *Reader, text: []const u8) Failure!?usize {
        if (text.len == 0 or text[0] != '"') return null;
        const url = canonical(text[1..]) orelse return null;
        var at = 1 + url.length;
        if (!std.mem.startsWith(u8, text[at..], "\",")) return null;
        at += 2;
        var numbers: [3]i64 = undefined;
        for (&numbers) |*number| {
            const begin = at;
            number.* = 0;
            while (at < text.len and std.ascii.isDigit(text[at])) : (at += 1) {
                if (at - begin == most_digits) return null;
                number.* = number.* * 10 + (text[at] - '0');
            }
            if (at == begin or at >= text.len or text[at] != ',') return null;
            at += 1;
        }
        if (at >= text.len or text[at] != '"') return null;
        at += 1;
        const header_begin: usize = @intCast(self.header_offsets[self.count]);
        const shown = unescaped(text[at..], self.headers[header_begin..]) orelse return null;
        at += shown.read;
        if (!std.mem.startsWith(u8, text[at..], "\"\n")) return null;

        const line = self.count;
        const url_begin: usize = @intCast(self.url_offsets[line]);
        const path_begin: usize = @intCast(self.path_offsets[line]);
        const path = text[1 + url.authority .. 1 + url.length];
        @memcpy(self.urls[url_begin..][0..url.length], text[1..][0..url.length]);
        @memcpy(self.paths[path_begin..][0..path.len], path);
        self.hosts[line] = try self.host(url_begin, url.authority);
        self.url_offsets[line + 1] = @intCast(url_begin + url.length);
        self.path_offsets[line + 1] = @intCast(path_begin + path.len);
        self.header_offsets[line + 1] = @intCast(header_begin + shown.written);
        self.requested[line] = numbers[0];
        self.responded[line] = numbers[1];
        self.elapsed[line] = numbers[2];
        self.status[line] = statusOf(self.headers[header_begin..][0..shown.written]);
        self.count += 1;
        return at + 2;
    }

    /// Return the number of an authority, which stands in `urls`.
    fn host(self: *Reader, begin: usize, length: usize) Failure!i32 {
        const authority = self.urls[begin..][0..length];
        var place: usize = @intCast(std.hash.Wyhash.hash(0, authority) % most_places);
        var looks: usize = 0;
        while (self.places[place] >= 0) : (place = (place + 1) % most_places) {
            looks += 1;
            if (looks > most_looks) return error.NoRoom;
            const number: usize = @intCast(self.places[place]);
            const known = self.urls[self.authorities[2 * number]..][0..self.authorities[2 * number + 1]];
            if (std.mem.eql(u8, known, authority)) return @intCast(number);
        }
        const number = self.host_count;
        if (number >= most_places / 2) return error.NoRoom;
        self.places[place] = @intCast(number);
        self.authorities[2 * number] = @intCast(begin);
        self.authorities[2 * number + 1] = @intCast(length);
        self.host_count += 1;
        return @intCast(number);
    }
};

const Url = struct { authority: usize, length: usize };

/// Which bytes may stand in a path and a query as they are.
const stays: [256]bool = marked("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?=&+,:;@!$()*");
/// Which bytes are never escaped in a canonical URL.
const unreserved: [256]bool = marked("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");

fn marked(comptime bytes: []const u8) [256]bool {
    var made: [256]bool = @splat(false);
    for (bytes) |byte| made[byte] = true;
    return made;
}

/// Return how long the URL is that a text begins with, up to a quote; null: its path may not be
/// canonical. What stands before it is left to the caller, but for the scheme.
fn canonical(text: []const u8) ?Url {
    const scheme: usize = if (std.mem.startsWith(u8, text, "http://"))
        7
    else if (std.mem.startsWith(u8, text, "https://"))
        8
    else
        return null;
    var at = scheme;
    while (at < text.len and text[at] != '/') : (at += 1) {
        switch (text[at]) {
            '"', '\\', '#', '?' => return null,
            else => |byte| if (byte <= ' ' or byte > '~') return null,
        }
    }
    if (at == scheme) return null;
    const authority = at;
    while (at < text.len) : (at += 1) {
        const byte = text[at];
        if (stays[byte]) {
            if (byte == '.' and text[at - 1] == '/') return null;
            continue;
        }
        if (byte == '"') return .{ .authority = authority, .length = at };
        if (byte != '%' or at + 2 >= text.len) return null;
        const high = upperHex(text[at + 1]) orelse return null;
        const low = upperHex(text[at + 2]) orelse return null;
        if (unreserved[high * 16 + low]) return null;
        at += 2;
    }
    return null;
}

fn upperHex(byte: u8) ?u8 {
    return switch (byte) {
        '0'...'9' => byte - '0',
        'A'...'F' => byte - 'A' + 10,
        else => null,
    };
}

const Shown = struct { read: usize, written: usize };

/// Write what escaped text means, up to its quote; null: there is an escape that is not plain.
/// `out` has room for as many bytes as `text` has.
fn unescaped(text: []const u8, out: []u8) ?Shown {
    var at: usize = 0;
    var written: usize = 0;
    while (true) {
        // Bytes are copied before it is known that all of them are plain: what is not is written over.
        while (at + width <= text.len and written + width <= out.len) {
            const bytes: Bytes = text[at..][0..width].*;
            out[written..][0..width].* = bytes;
            const plain = @ctz(special(bytes) | 1 << width);
            at += plain;
            written += plain;
            if (plain < width) break;
        } else {
            while (at < text.len and !isSpecial(text[at])) : (at += 1) {
                out[written] = text[at];
                written += 1;
            }
        }
        if (at + 1 >= text.len) return null;
        if (text[at] == '"') return .{ .read = at, .written = written };
        if (text[at] != '\\') return null;
        if (std.mem.startsWith(u8, text[at..], "\\r\\n")) { // as most lines of headers end
            out[written..][0..2].* = "\r\n".*;
            written += 2;
            at += 4;
            continue;
        }
        out[written] = switch (text[at + 1]) {
            '\\', '"', '\'' => |byte| byte,
            'r' => '\r',
            'n' => '\n',
            't' => '\t',
            else => return null,
        };
        written += 1;
        at += 2;
    }
}

const width = 16;
const Bytes = @Vector(width, u8);

/// Return a bit for each byte that `isSpecial`.
fn special(bytes: Bytes) u32 {
    const strange: u16 = @bitCast(bytes -% @as(Bytes, @splat(32)) > @as(Bytes, @splat(94)));
    const quotes: u16 = @bitCast(bytes == @as(Bytes, @splat('"')));
    const escapes: u16 = @bitCast(bytes == @as(Bytes, @splat('\\')));
    return strange | quotes | escapes;
}

/// Tell whether a byte is a quote, a backslash, or not printable ASCII.
fn isSpecial(byte: u8) bool {
    return byte == '"' or byte == '\\' or byte < ' ' or byte > '~';
}

/// Return the status that headers begin with, as `HTTP/1.1 200` or `HTTP/2 200`; 0: none.
fn statusOf(headers: []const u8) i16 {
    if (!std.mem.startsWith(u8, headers, "HTTP/") or headers.len < 10) return 0;
    if (!std.ascii.isDigit(headers[5])) return 0;
    const at: usize = if (headers[6] == '.' and std.ascii.isDigit(headers[7])) 8 else 6;
    if (headers.len < at + 4 or headers[at] != ' ') return 0;
    var status: i16 = 0;
    for (headers[at + 1 ..][0..3]) |byte| {
        if (!std.ascii.isDigit(byte)) return 0;
        status = status * 10 + (byte - '0');
    }
    // Four digits are none: a status has three (RFC 9112, section 4).
    if (headers.len > at + 4 and std.ascii.isDigit(headers[at + 4])) return 0;
    return status;
}
