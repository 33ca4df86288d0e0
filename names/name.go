package names

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths are in characters (Unicode code points), as VARCHAR(n) counts them, never in bytes.
const (
	// MaxLength is the longest name that is stored, white space at its ends not counted: the length of
	// the name column.
	MaxLength = 200
	// MaxKeyLength is the longest name key: the length of the key column. A key may be longer than its name
	// ("ß" folds to "ss").
	MaxKeyLength = 255
)

// Kind says how a resource's names are turned into keys. The values are also the spellings in a YAML plan.
type Kind string

const (
	// KindName is a title such as "Email Campaign". Its key is the name with compatibility forms replaced
	// (Unicode NFKC), full case folding ("STRASSE" and "Straße" are one name), white space at the ends
	// removed and every other run of white space turned into one space.
	//
	// Look-alike letters are not merged: Latin "a" and Cyrillic "а" are two names. Neither are accents ("e"
	// and "é"), and invisible characters inside a name count: they join emoji and shape Arabic and Indic
	// text.
	//
	// The key of a key is the key again, as long as it is short enough to be a name (MaxLength).
	//
	// Every error is a *Error and wraps one of
	//   - ErrInvalid: not UTF-8, or a control character or line break anywhere but at the ends (a tab is
	//     white space)
	//   - ErrEmpty: nothing visible is left
	//   - ErrTooLong: a name of more than MaxLength or a key of more than MaxKeyLength characters
	//
	// Keys follow the Unicode version of golang.org/x/text; characters that this version does not know yet
	// stay as they are, so a later version may give them another key.
	KindName Kind = "name"
	// KindFilename is a file name such as "home@2x.png". Its key is that of a title without extension and
	// pixel density, so that home.png, home.jpg, home@2x.png and HOME@1.5X.GIF are one screen, "home"; a
	// copy's token goes before them. A file name is read as
	//
	//	base [ @density ] [ .extension ]
	//
	// where everything is decided on the normal form (so full-width "．ＰＮＧ" is an extension) and
	//   - an extension is a dot and 1 to 16 ASCII letters and digits, at least one of them a letter: ".png",
	//     ".7z", ".go". So "v1.2" and "Home 1.0" have none and stay apart from "v1.3", and neither has "v1.2
	//     final". Only the last one is cut: "archive.tar.gz" → "archive.tar".
	//   - a density is "@", up to three digits without leading zero, perhaps a dot and up to three more, and
	//     "x"; it is not zero. "@2x", "@1.5x", "@0.75x", not "@0x", "@02x". Only the last one is cut:
	//     "home@2x@3x.png" → "home@2x". "home@1.5x" ends with a density, not with ".5x".
	//   - neither is cut if nothing but dots, white space and invisible characters would be left:
	//     ".gitignore" → ".gitignore", "@2x.png" → "@2x", "..png" → "..png". White space before what was cut
	//     goes too: "home .png" → "home".
	//
	// A base is a key of KindName (its own, within MaxLength), but not of KindFilename:
	// "a.b.png" → "a.b", and "a.b" → "a". Keep the file name, and never cut a base again.
	//
	// The errors are those of KindName, and ErrInvalid also for a name with "/" or "\" and for one of dots
	// only (".", "..", "…"), both after NFKC.
	KindFilename Kind = "filename"
)

// Valid reports whether k is one of the kinds declared here. The empty kind is not valid.
func (k Kind) Valid() bool {
	return k == KindName || k == KindFilename
}

// Key returns the name key of s: the text that stands in the unique index, computed here and compared byte by
// byte, so that every engine and collation agrees on which names are equal. It equals the Key of Parse, with
// the same errors.
func (k Kind) Key(s string) (string, error) {
	c, err := k.clean(s)
	return c.key, err
}

// cleaned is a checked name. For a file name, full is key plus suffix, but for white space between the two;
// for a title they are equal.
type cleaned struct {
	display string // as typed, without white space at the ends
	full    string // normal form of display
	key     string // name key
	suffix  string // density and extension in normal form
}

// clean checks s and computes its key. It is the only way to a key, so that lookups and writes cannot
// disagree.
func (k Kind) clean(s string) (cleaned, error) {
	if !k.Valid() {
		return cleaned{}, fmt.Errorf("names: unknown name kind %q: use %q or %q", string(k), KindName, KindFilename)
	}
	if i := invalidUTF8(s); i >= 0 {
		return cleaned{}, invalid(s, fmt.Sprintf("byte %d is not valid UTF-8", i+1))
	}
	c := cleaned{display: strings.TrimSpace(s)}
	// The length comes before the costly steps, so that a huge name costs one pass.
	if n := utf8.RuneCountInString(c.display); n > MaxLength {
		return cleaned{}, tooLong(s, "", n, MaxLength)
	}
	if r, at := forbidden(c.display); at > 0 {
		return cleaned{}, invalid(s, fmt.Sprintf("character %d is the control character or line break %U", at, r))
	}
	full, stable := normalize(c.display)
	if !stable {
		return cleaned{}, invalid(s, "it has no stable normal form")
	}
	if blank(full, "") {
		return cleaned{}, &Error{Name: shorten(s), Err: ErrEmpty}
	}
	c.full, c.key = full, full
	if k == KindFilename {
		if why := badFilename(full); why != "" {
			return cleaned{}, invalid(s, why)
		}
		c.key, c.suffix = splitFilename(full)
	}
	if n := utf8.RuneCountInString(c.key); n > MaxKeyLength {
		return cleaned{}, tooLong(s, "its normalized form", n, MaxKeyLength)
	}
	return c, nil
}

// invalidUTF8 returns the index of the first byte that is not part of valid UTF-8, or -1.
func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

// forbidden returns the first character that no name may contain and its position counted from 1, or 0, 0. A
// tab passes: it is white space that people paste.
func forbidden(s string) (r rune, position int) {
	for _, r := range s {
		position++
		if r != '\t' && (unicode.IsControl(r) || r == '\u2028' || r == '\u2029') {
			return r, position
		}
	}
	return 0, 0
}

// blank reports whether s has nothing to see: white space, invisible characters and the characters in also.
func blank(s, also string) bool {
	for _, r := range s {
		if !invisible(r) && !strings.ContainsRune(also, r) {
			return false
		}
	}
	return true
}

// invisible reports white space, format characters (joiners, direction marks), variation selectors, fillers
// and the blank Braille pattern. The few format characters of Arabic and its relatives that are drawn do not
// count.
func invisible(r rune) bool {
	if r > ' ' && r <= '~' {
		return false
	}
	if unicode.IsSpace(r) || r == '\u2800' {
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
