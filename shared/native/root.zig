//! The functions that Python calls. Each takes what the caller owns, and keeps nothing.

const std = @import("std");
const crawl_log = @import("crawl_log.zig");
const markup = @import("markup.zig");

/// A mistake of ours: end the process at once. Its parent says what it was at.
pub const panic = std.debug.FullPanic(struct {
    fn end(_: []const u8, _: ?usize) noreturn {
        @trap();
    }
}.end);

/// Write what on a page leads on; return 0, -1: only a tree can tell (the complex elements are
/// there all the same), -2: no room.
export fn prsm_references(
    page: [*]const u8,
    page_bytes: usize,
    token: [*]const u8,
    token_bytes: usize,
    found: *markup.Found,
) isize {
    const whole = markup.read(page[0..page_bytes], token[0..token_bytes], found) catch return -2;
    return if (whole) 0 else -1;
}

/// Read the lines of a log into columns; return 0, or -2: there is no room for so many.
export fn prsm_log_lines(block: [*]const u8, block_bytes: usize, columns: *crawl_log.Columns) isize {
    crawl_log.read(block[0..block_bytes], columns) catch return -2;
    return 0;
}
