//! Which tags and attributes count, and how their names are written.

const std = @import("std");

/// Longer names are none that we know.
pub const longest_name = 20;

pub const Tag = enum {
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
    // Count as complex elements only.
    applet,
    bgsound,
    button,
    feimage,
    fencedframe,
    fieldset,
    ilayer,
    isindex,
    layer,
    legend,
    lineargradient,
    mpath,
    param,
    pattern,
    portal,
    radialgradient,
    textpath,
    use,
};

pub const tags = std.StaticStringMap(Tag).initComptime(entries: {
    const all = std.enums.values(Tag);
    var made: [all.len - 1]struct { []const u8, Tag } = undefined;
    for (all[1..], &made) |tag, *entry| entry.* = .{ @tagName(tag), tag };
    break :entries made;
});

/// What may stand in `<svg>` and means nothing to us. Whatever else stands there, the tree decides.
pub const drawn = std.StaticStringMap(void).initComptime(.{
    .{"animate"},  .{"animatetransform"}, .{"circle"},  .{"clippath"},       .{"defs"},
    .{"desc"},     .{"ellipse"},          .{"feblend"}, .{"fecolormatrix"},  .{"fecomposite"},
    .{"feflood"},  .{"fegaussianblur"},   .{"femerge"}, .{"femergenode"},    .{"feoffset"},
    .{"filter"},   .{"g"},                .{"line"},    .{"lineargradient"}, .{"marker"},
    .{"mask"},     .{"metadata"},         .{"path"},    .{"pattern"},        .{"polygon"},
    .{"polyline"}, .{"radialgradient"},   .{"rect"},    .{"stop"},           .{"style"},
    .{"symbol"},   .{"text"},             .{"title"},   .{"tspan"},          .{"use"},
});

/// Of these, the ones that hold text, or what is read as a page again.
pub const holds_text = std.StaticStringMap(void).initComptime(.{ .{"desc"}, .{"metadata"}, .{"style"}, .{"title"} });

pub const Attribute = enum(u8) {
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
    shadowrootmode,
    src,
    srcset,
    type,
};
const attribute_count = std.enums.values(Attribute).len;

pub const attributes = std.StaticStringMap(Attribute).initComptime(entries: {
    const all = std.enums.values(Attribute);
    var made: [all.len]struct { []const u8, Attribute } = undefined;
    for (all, &made) |attribute, *entry| entry.* = .{ @tagName(attribute), attribute };
    break :entries made;
});

/// given: `href=""` has a value, and `href` has none.
pub const Value = struct { text: []const u8 = "", given: bool = false };

/// What a tag says; null where it has no such attribute.
pub const Said = [attribute_count]?Value;

pub fn valueOf(said: *const Said, which: Attribute) ?[]const u8 {
    return (said[@backingInt(which)] orelse return null).text;
}

/// Tell whether a `<template>` is shown as a part of the page: a shadow tree that is written out.
pub fn isShown(said: *const Said) bool {
    const mode = valueOf(said, .shadowrootmode) orelse return false;
    return std.ascii.eqlIgnoreCase(mode, "open") or std.ascii.eqlIgnoreCase(mode, "closed");
}

pub fn isSpace(byte: u8) bool {
    return byte == ' ' or (byte >= '\t' and byte <= '\r' and byte != 0x0b);
}

pub fn endsName(byte: u8) bool {
    return isSpace(byte) or byte == '/' or byte == '>';
}

pub fn lowered(name: []const u8, into: *[longest_name]u8) []const u8 {
    if (name.len > longest_name) return "";
    return std.ascii.lowerString(into, name);
}

pub fn isAscii(text: []const u8) bool {
    for (text) |byte| if (byte >= 0x80) return false;
    return true;
}

/// Tell whether one of the words is `nofollow`. Words end where Python's do.
pub fn hasNofollow(words: []const u8) bool {
    var each = std.mem.tokenizeAny(u8, words, " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f");
    while (each.next()) |word| if (std.ascii.eqlIgnoreCase(word, "nofollow")) return true;
    return false;
}
