"""How fast the page is, in Debian's Chromium on a real service."""
