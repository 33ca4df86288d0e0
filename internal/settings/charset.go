package settings

import (
	"slices"
	"strings"
)

// safeCharsets are the character sets in which a quote or a backslash is never a part of another character:
// UTF-8, and those of one byte a character that contain ASCII. In others a backslash that the driver puts
// before a quote may become the second half of a character, and the quote ends the literal. (swe7 has a
// letter in the backslash's place.)
var safeCharsets = []string{
	"utf8mb4", "utf8mb3", "utf8", "ascii", "binary",
	"latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "koi8r", "koi8u",
	"greek", "hebrew", "macroman", "macce", "armscii8", "dec8", "hp8", "geostd8", "keybcs2", "tis620",
}

// IsSafe says whether a character set is one of them.
func IsSafe(charset string) bool {
	return slices.Contains(safeCharsets, strings.ToLower(charset))
}
