"""Tables of the console: one declaration of each makes its page, its files and its reference."""
