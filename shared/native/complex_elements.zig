//! The complex elements of a page: those whose links need a look at more than one attribute, or at
//! text. `agent/modules/page/html/complex_elements.py` is the definition, and says what each rule means.
//!
//! Values are written as they stand on the page; one with a byte up to 4 is left out.

const std = @import("std");
const names = @import("names.zig");
const Failure = @import("writer.zig").Failure;

const end_of_item = 0;
const name_mark = 2;
const value_mark = 3;
const greatest_mark = 4;

const longest_name = 40;
const most_attributes = 24;

const Set = std.StaticStringMap(void);

const anywhere = Set.initComptime(.{
    .{"archive"},        .{"background"}, .{"cite"},           .{"codebase"}, .{"dynsrc"},          .{"longdesc"},
    .{"lowsrc"},         .{"manifest"},   .{"ping"},           .{"srcdoc"},   .{"style"},           .{"xlink:href"},
    .{"implementation"},
    // What scripts load later, without the prefix `data-`.
    .{"_src"},       .{"file"},           .{"lazy-src"}, .{"lazysrc"},         .{"original"},
    .{"real-src"},       .{"real_src"},   .{"zoomfile"},       .{"hx-get"},   .{"lazy"},            .{"ng-href"},
    .{"ng-include"},     .{"ng-src"},     .{"nitro-lazy-src"}, .{"up-href"},  .{"w3-include-html"},
    // What microdata and RDFa speak of.
    .{"about"},
    .{"itemid"},         .{"resource"},
});
/// Attributes of drawings that may load another file.
const painted = Set.initComptime(.{
    .{"clip-path"},    .{"cursor"}, .{"fill"},   .{"filter"}, .{"marker-end"}, .{"marker-mid"},
    .{"marker-start"}, .{"mask"},   .{"stroke"},
});
const controls = Set.initComptime(.{
    .{"checked"},    .{"dir"},   .{"dirname"}, .{"disabled"}, .{"form"}, .{"formaction"},
    .{"formmethod"}, .{"max"},   .{"min"},     .{"multiple"}, .{"name"}, .{"step"},
    .{"type"},       .{"value"},
});
const source = Set.initComptime(.{.{"src"}});
const href = Set.initComptime(.{.{"href"}});
const custom = Set.initComptime(.{ .{"href"}, .{"poster"}, .{"src"}, .{"srcset"} });
const parameter = Set.initComptime(.{ .{"name"}, .{"value"}, .{"valuetype"} });
const meta = Set.initComptime(.{ .{"content"}, .{"itemprop"}, .{"name"}, .{"property"} });
const isindex = Set.initComptime(.{ .{"action"}, .{"href"} });
const applet = Set.initComptime(.{ .{"code"}, .{"object"} });
const object = Set.initComptime(.{.{"data"}});
const form = Set.initComptime(.{
    .{"accept-charset"}, .{"action"}, .{"dir"}, .{"id"}, .{"method"}, .{"rel"},
});
const select = Set.initComptime(.{ .{"disabled"}, .{"form"}, .{"multiple"}, .{"name"}, .{"size"} });
const option = Set.initComptime(.{ .{"disabled"}, .{"selected"}, .{"value"} });
const textarea = Set.initComptime(.{ .{"dir"}, .{"dirname"}, .{"disabled"}, .{"form"}, .{"name"} });
const group = Set.initComptime(.{.{"disabled"}});

/// The attributes that count on one tag only.
fn ofTag(kind: names.Tag) ?*const Set {
    return switch (kind) {
        .image, .use, .feimage, .script => &href,
        .lineargradient, .mpath, .pattern, .radialgradient, .textpath => &href,
        .param => &parameter,
        .meta => &meta,
        .isindex => &isindex,
        .frame, .bgsound, .layer, .ilayer, .portal, .fencedframe => &source,
        .applet => &applet,
        .object => &object,
        .form => &form,
        .input, .button => &controls,
        .select => &select,
        .option => &option,
        .textarea => &textarea,
        .fieldset, .optgroup => &group,
        else => null,
    };
}

/// Tell whether a tag's own attributes alone do not make it count.
fn isWeak(kind: names.Tag) bool {
    return switch (kind) {
        .button, .fieldset, .form, .input, .meta, .object, .optgroup, .option, .select, .textarea => true,
        else => false,
    };
}

const data_words = [_][]const u8{
    "src",  "bg",    "back", "image",  "img",    "lazy",  "original", "thumb",  "poster",  "photo",
    "full", "large", "zoom", "hires",  "retina", "video", "audio",    "href",   "url",     "link",
    "echo", "media", "file", "source", "mp4",    "webm",  "2x",       "mobile", "desktop",
};
const paths = [_][]const u8{ "/", "./", "../", "http://", "https://" };
const meta_words = [_][]const u8{
    "image", "url", "video", "audio", "player", "msapplication", "thumb", "logo", "see_also",
};

const Attribute = struct { name: []const u8, value: names.Value, general: bool };

/// What was read of the tag at hand.
pub const Tag = struct {
    name: []const u8 = "",
    own: ?*const Set = null,
    count: usize = 0,
    attributes: [most_attributes]Attribute = undefined,
    /// Names of `data-` attributes whose values do not count: of two with one name the first is it.
    passed: [most_attributes][]const u8 = undefined,
    passed_count: usize = 0,
    has_onchange: bool = false,
    has_value: bool = false,
    has_disabled: bool = false,
    has_form: bool = false,
    property: ?[]const u8 = null,
    itemprop: ?[]const u8 = null,

    /// Begin with a tag. name: as it stands on the page; "" where none can be that long.
    pub fn begin(self: *Tag, name: []const u8, kind: names.Tag) void {
        self.count = 0;
        self.passed_count = 0;
        self.has_onchange = false;
        self.has_value = false;
        self.has_disabled = false;
        self.has_form = false;
        self.property = null;
        self.itemprop = null;
        self.name = name;
        self.own = ofTag(kind);
        if (kind != .other) return;
        if (name.len > longest_name or !isPlain(name)) {
            self.name = "";
        } else if (std.mem.findAny(u8, name, "-:") != null) {
            self.own = &custom;
        }
    }

    fn pass(self: *Tag, name: []const u8) void {
        if (self.passed_count == most_attributes or !std.ascii.startsWithIgnoreCase(name, "data-")) return;
        self.passed[self.passed_count] = name;
        self.passed_count += 1;
    }

    /// Take an attribute of the tag, if it is one that counts.
    pub fn take(self: *Tag, name: []const u8, value: names.Value) void {
        if (self.own == null and !mayBeGeneral(name)) return;
        if (name.len > longest_name or !isPlain(name)) return;
        var small: [longest_name]u8 = undefined;
        const lower = std.ascii.lowerString(&small, name);
        if (std.mem.eql(u8, lower, "onchange")) self.has_onchange = true;
        if (std.mem.eql(u8, lower, "value")) self.has_value = true;
        if (std.mem.eql(u8, lower, "disabled")) self.has_disabled = true;
        if (std.mem.eql(u8, lower, "form")) self.has_form = true;
        if (self.property == null and std.mem.eql(u8, lower, "property")) self.property = value.text;
        if (self.itemprop == null and std.mem.eql(u8, lower, "itemprop")) self.itemprop = value.text;
        const own = if (self.own) |set| set.has(lower) else false;
        const general = isGeneral(lower, value.text);
        if (!own and !general) return self.pass(name);
        for (self.passed[0..self.passed_count]) |one| {
            if (std.ascii.eqlIgnoreCase(one, name)) return;
        }
        if (self.count == most_attributes) return;
        for (self.attributes[0..self.count]) |one| {
            if (std.ascii.eqlIgnoreCase(one.name, name)) return;
        }
        self.attributes[self.count] = .{ .name = name, .value = value, .general = !own };
        self.count += 1;
    }
};

/// Tell whether a name may be one that counts on any tag: quickly, and only a bit too often.
fn mayBeGeneral(name: []const u8) bool {
    return switch (name[0] | 0x20) {
        's' => name.len == 5 or name.len == 6,
        'd' => name.len == 6 or (name.len > 5 and name[4] == '-'),
        'o' => name.len == 8 or (name.len > 2 and name[1] | 0x20 == 'n'),
        'c' => name.len == 4 or name.len == 6 or name.len == 8 or name.len == 9,
        'l' => name.len == 4 or (name.len >= 6 and name.len <= 8),
        'f' => name.len == 4 or name.len == 6,
        'b', 'x' => name.len == 10,
        'a' => name.len == 5 or name.len == 7,
        'h' => name.len == 6 and name[2] == '-',
        'i' => name.len == 6 or name.len == 14,
        'n' => name.len == 6 or name.len == 7 or name.len == 10 or name.len == 14,
        'u' => name.len == 7,
        'w' => name.len == 15,
        'm' => name.len == 4 or name.len == 8 or name.len == 10 or name.len == 12,
        'p', 0x7f => name.len == 4,
        'r', 'z' => name.len == 8,
        else => false,
    };
}

fn isGeneral(name: []const u8, value: []const u8) bool {
    if (std.mem.startsWith(u8, name, "data-")) {
        for (paths) |begin| if (std.mem.startsWith(u8, value, begin)) return true;
        if (value.len > 0 and (value[0] == '{' or value[0] == '[') and std.mem.findScalar(u8, value, '/') != null) return true;
        for (data_words) |word| if (std.mem.find(u8, name[5..], word) != null) return true;
        return false;
    }
    return anywhere.has(name) or painted.has(name) or (name.len > 2 and std.mem.startsWith(u8, name, "on"));
}

fn isKept(one: *const Attribute) bool {
    const value = one.value.text;
    if (hasControl(value)) return false;
    if (!one.general) return true;
    if (std.ascii.eqlIgnoreCase(one.name, "style")) return loads(value);
    if (isPainted(one.name)) return loads(value) and std.ascii.findIgnoreCase(value, "url(#") == null;
    if (std.ascii.startsWithIgnoreCase(one.name, "on")) return std.mem.findAny(u8, value, "'\"`&") != null;
    return value.len > 0;
}

fn isPainted(name: []const u8) bool {
    if (name.len > 12) return false;
    var small: [12]u8 = undefined;
    return painted.has(std.ascii.lowerString(&small, name));
}

/// Tell whether a style may load anything: what it loads stands behind one of six words, or behind
/// a word that is written with escapes.
fn loads(style: []const u8) bool {
    var from: usize = 0;
    while (std.mem.findAnyPos(u8, style, from, "(@")) |at| : (from = at + 1) {
        const behind = style[at..];
        const before = style[0..at];
        if (behind[0] == '@') {
            if (std.ascii.startsWithIgnoreCase(behind, "@import") or beginsWithEscape(behind[1..])) return true;
            continue;
        }
        inline for (.{ "url", "src", "image", "image-set", "loader" }) |word| {
            if (std.ascii.endsWithIgnoreCase(before, word)) return true;
        }
        if (endsWithEscape(before)) return true;
    }
    return false;
}

const longest_escaped = 24;

fn endsWithEscape(before: []const u8) bool {
    const least = before.len -| longest_escaped;
    var at = before.len;
    while (at > least) {
        at -= 1;
        if (before[at] == '\\') return true;
        if (!std.ascii.isAlphanumeric(before[at]) and before[at] != ' ' and before[at] != '-') return false;
    }
    return false;
}

fn beginsWithEscape(behind: []const u8) bool {
    for (behind[0..@min(behind.len, 9)]) |byte| {
        if (byte == '\\') return true;
        if (!std.ascii.isAlphabetic(byte)) return false;
    }
    return false;
}

/// Tell whether a name holds neither marks of what is written here nor characters beyond ASCII.
fn isPlain(name: []const u8) bool {
    for (name) |byte| if (byte <= greatest_mark or byte >= 0x80) return false;
    return true;
}

fn hasControl(text: []const u8) bool {
    for (text) |byte| if (byte <= greatest_mark) return true;
    return false;
}

fn hasWord(text: ?[]const u8) bool {
    const some = text orelse return false;
    for (meta_words) |word| if (std.ascii.findIgnoreCase(some, word) != null) return true;
    return false;
}

fn isSubmittedByPost(method: ?[]const u8) bool {
    const trimmed = std.mem.trim(u8, method orelse "", " \t\n\x0c\r");
    return std.ascii.eqlIgnoreCase(trimmed, "post") or std.ascii.eqlIgnoreCase(trimmed, "dialog");
}

pub const ComplexElements = struct {
    page: []const u8,
    out: []u8,
    written: usize = 0,
    /// counts: its controls are written, for a button may send them by GET.
    form: enum { none, counts, other } = .none,
    in_select: bool = false,
    in_disabled_group: bool = false,
    /// How many are open, from the outermost that is disabled.
    fieldsets: usize = 0,
    /// Whether a button may send a form in another way than the form says; null: not looked for.
    has_methods: ?bool = null,

    /// Write a tag if it counts. behind: the page, from the end of the tag.
    pub fn startTag(self: *ComplexElements, tag: *const Tag, kind: names.Tag, said: *const names.Said, behind: []const u8) Failure!void {
        var counts = false;
        if (tag.count > 0) {
            const is_weak = isWeak(kind);
            for (tag.attributes[0..tag.count]) |*one| {
                if (isKept(one) and (!is_weak or one.general)) counts = true;
            }
        }
        var text: ?[]const u8 = null;
        switch (kind) {
            .form => if (self.form == .none) {
                const is_posted = isSubmittedByPost(names.valueOf(said, .method));
                self.form = if (is_posted and !self.mayHaveMethods()) .other else .counts;
                if (self.form == .counts) counts = true;
            },
            .input, .button => if (self.form == .counts or tag.has_form) {
                counts = true;
            },
            .select => {
                self.in_select = self.form == .counts or tag.has_onchange or tag.has_form;
                self.in_disabled_group = false;
                if (self.in_select) counts = true;
            },
            .optgroup => if (self.in_select and (tag.has_disabled or self.in_disabled_group)) {
                self.in_disabled_group = tag.has_disabled;
                counts = true;
            },
            .fieldset => if (tag.has_disabled or self.fieldsets > 0) {
                self.fieldsets += 1;
                counts = true;
            },
            .legend => if (self.fieldsets > 0) {
                counts = true;
            },
            .option => if (self.in_select) {
                counts = true;
                if (!tag.has_value) {
                    const words = behind[0 .. std.mem.findScalar(u8, behind, '<') orelse behind.len];
                    if (!hasControl(words)) text = words;
                }
            },
            .meta => if (!counts) {
                for (tag.attributes[0..tag.count]) |*one| {
                    if (!std.ascii.eqlIgnoreCase(one.name, "content") or !isKept(one)) continue;
                    const value = one.value.text;
                    counts = hasWord(tag.property) or hasWord(tag.itemprop) or hasWord(names.valueOf(said, .name)) or
                        std.mem.findScalar(u8, value, '<') != null or
                        std.mem.startsWith(u8, value, "http://") or std.mem.startsWith(u8, value, "https://");
                }
            },
            .textarea => return, // with its text
            else => {},
        }
        if (counts) try self.element(tag.name, tag, text);
    }

    /// Write the text of a tag in which nothing is a tag, if it counts.
    pub fn rawText(self: *ComplexElements, tag: *const Tag, kind: names.Tag, said: *const names.Said, text: []const u8) Failure!void {
        switch (kind) {
            .style => if (loads(text)) try self.textOf("style", text),
            .noframes, .noembed => if (std.mem.findScalar(u8, text, '<') != null) {
                try self.textOf(@tagName(kind), text);
            },
            .textarea => if ((self.form == .counts or tag.has_form) and !hasControl(text)) try self.element("textarea", tag, text),
            .script => {
                if (std.mem.findAny(u8, text, "'\"`") == null or hasControl(text)) return;
                try self.putAll("script");
                if (names.valueOf(said, .type)) |named| {
                    if (!hasControl(named)) try self.attribute("type", named);
                }
                try self.attribute("text", text);
                try self.put(end_of_item);
            },
            else => {},
        }
    }

    pub fn endTag(self: *ComplexElements, kind: names.Tag) Failure!void {
        switch (kind) {
            .form => {
                if (self.form == .counts) try self.element("/form", null, null);
                self.form = .none;
            },
            .select => {
                if (self.in_select) try self.element("/select", null, null);
                self.in_select = false;
            },
            .optgroup => if (self.in_select and self.in_disabled_group) {
                self.in_disabled_group = false;
                try self.element("/optgroup", null, null);
            },
            .fieldset => if (self.fieldsets > 0) {
                self.fieldsets -= 1;
                try self.element("/fieldset", null, null);
            },
            .legend => if (self.fieldsets > 0) try self.element("/legend", null, null),
            else => {},
        }
    }

    fn mayHaveMethods(self: *ComplexElements) bool {
        if (self.has_methods == null) {
            self.has_methods = std.ascii.findIgnoreCase(self.page, "formmethod") != null;
        }
        return self.has_methods.?;
    }

    /// Write a comment that some browsers read as a part of the page.
    pub fn comment(self: *ComplexElements, text: []const u8) Failure!void {
        const begun = std.mem.trimStart(u8, text, " \t\n\x0c\r");
        if (!std.ascii.startsWithIgnoreCase(begun, "[if")) return;
        if (std.mem.findScalar(u8, text, '<') != null) try self.textOf("!--", text);
    }

    fn textOf(self: *ComplexElements, name: []const u8, text: []const u8) Failure!void {
        if (!hasControl(text)) try self.element(name, null, text);
    }

    fn element(self: *ComplexElements, name: []const u8, tag: ?*const Tag, text: ?[]const u8) Failure!void {
        const first = self.written;
        try self.putAll(name);
        const written_name = self.out[first..self.written];
        _ = std.ascii.lowerString(written_name, written_name);
        if (tag) |some| for (some.attributes[0..some.count]) |*one| {
            if (!isKept(one)) continue;
            const begin = self.written + 1;
            try self.attribute(one.name, one.value.text);
            const lower = self.out[begin..][0..one.name.len];
            _ = std.ascii.lowerString(lower, lower);
        };
        if (text) |some| try self.attribute("text", some);
        try self.put(end_of_item);
    }

    fn attribute(self: *ComplexElements, name: []const u8, value: []const u8) Failure!void {
        try self.put(name_mark);
        try self.putAll(name);
        try self.put(value_mark);
        try self.putAll(value);
    }

    fn put(self: *ComplexElements, byte: u8) Failure!void {
        if (self.written >= self.out.len) return error.NoRoom;
        self.out[self.written] = byte;
        self.written += 1;
    }

    fn putAll(self: *ComplexElements, bytes: []const u8) Failure!void {
        if (bytes.len > self.out.len - self.written) return error.NoRoom;
        @memcpy(self.out[self.written..][0..bytes.len], bytes);
        self.written += bytes.len;
    }
};
