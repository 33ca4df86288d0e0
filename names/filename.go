package names

import (
	"strings"
	"unicode/utf8"
)

const (
	maxExtension = 16               // letters and digits behind the dot
	maxDensity   = len("@999.999x") // the longest pixel density
	maxSuffix    = maxDensity + 1 + maxExtension
)

// badFilename says why a name in normal form cannot be a file's, or "".
func badFilename(full string) string {
	switch {
	case strings.ContainsAny(full, `/\`):
		return "a file name cannot contain a path separator"
	case blank(full, "."):
		return "a file name cannot be made of dots only"
	}
	return ""
}

// splitFilename cuts a file name in normal form into its base and its suffix, density and extension.
func splitFilename(full string) (base, suffix string) {
	end := len(full)
	// The density comes first: the ".5x" of "home@1.5x" would pass for an extension.
	if d := densityStart(full); d >= 0 {
		if cuttable(full[:d]) {
			end = d
		}
	} else if e := extensionStart(full); e >= 0 && cuttable(full[:e]) {
		end = e
		if d := densityStart(full[:e]); d >= 0 && cuttable(full[:d]) {
			end = d
		}
	}
	return strings.TrimRight(full[:end], " "), full[end:]
}

// cuttable reports whether rest can stand as a base.
func cuttable(rest string) bool { return !blank(rest, ".") }

// extensionStart returns the index of the dot before the extension of s, or -1.
func extensionStart(s string) int {
	letter := false
	for i := len(s) - 1; i >= 0 && len(s)-i <= maxExtension+1; i-- {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
			letter = true
		case '0' <= c && c <= '9':
		case c == '.' && letter:
			return i
		default:
			return -1
		}
	}
	return -1
}

// densityStart returns the index of the @ before the density that ends s, or -1.
func densityStart(s string) int {
	at := strings.LastIndexByte(s, '@')
	if at < 0 || len(s)-at > maxDensity || !strings.HasSuffix(s, "x") {
		return -1
	}
	whole, fraction, dot := strings.Cut(s[at+1:len(s)-1], ".")
	if !digits(whole) || dot && !digits(fraction) || len(whole) > 1 && whole[0] == '0' {
		return -1
	}
	if strings.Trim(whole+fraction, "0") == "" {
		return -1
	}
	return at
}

// digits reports whether s is one to three ASCII digits.
func digits(s string) bool {
	return len(s) >= 1 && len(s) <= 3 && strings.Trim(s, "0123456789") == ""
}

// splitDisplay finds in the display text where the suffix begins, so that a copy keeps it as typed. One typed
// character can hold the end of the base and the start of the suffix (the "⒈" of "v⒈png" is "1."); then the
// text is normalized first.
func splitDisplay(c cleaned) (base, suffix string) {
	for _, text := range []string{c.display, collapse(nfkc(c.display))} {
		at := len(text)
		for range maxSuffix + 1 {
			if tail, _ := normalize(text[at:]); tail == c.suffix {
				return strings.TrimSpace(text[:at]), text[at:]
			}
			_, size := utf8.DecodeLastRuneInString(text[:at])
			at -= size
		}
	}
	return c.key, c.suffix
}
