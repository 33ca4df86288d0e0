package sqltext

import "strings"

// Mode is how a session reads texts. The zero value is the default sql_mode with a character set that is not
// known.
type Mode struct {
	ANSIQuotes         bool // "x" is an identifier
	NoBackslashEscapes bool // a backslash in a string is one
	// Unknown says that the two above are not known: a text is understood if it reads the same in all modes.
	Unknown bool
	Charset Charset
}

// AnyMode is that of a session of which nothing is known.
var AnyMode = Mode{Unknown: true} //nolint:gochecknoglobals // a constant

// AnyUTF8 is that of a session of which nothing is known but that its client writes UTF-8.
var AnyUTF8 = Mode{Unknown: true, Charset: UTF8} //nolint:gochecknoglobals // a constant

// Charset says what bytes above 0x7F are in a text: character_set_client.
type Charset int8

const (
	// OtherCharset is not known, or has characters with a quote or a backslash for their second byte, as gbk,
	// gb18030, big5, sjis and cp932 have: only texts of ASCII are understood.
	OtherCharset Charset = iota
	// UTF8 is utf8mb4 or utf8mb3.
	UTF8
	// SingleByte is ASCII with one byte for each further character: latin1, binary. One of them may be a
	// space, so outside of quotes only ASCII is understood.
	SingleByte
)

// CharsetOf returns what a character set of the server is.
func CharsetOf(name string) Charset {
	switch strings.ToLower(name) {
	case "utf8mb4", "utf8mb3", "utf8":
		return UTF8
	case "ascii", "binary", "latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
		"koi8r", "koi8u", "greek", "hebrew", "macroman", "macce", "armscii8", "dec8", "hp8", "geostd8", "keybcs2", "tis620":
		return SingleByte
	}
	return OtherCharset
}

// ModeOf returns the mode of a session from its sql_mode and character_set_client.
func ModeOf(sqlMode, charset string) Mode {
	m := Mode{Charset: CharsetOf(charset)}
	for name := range strings.SplitSeq(sqlMode, ",") {
		switch strings.ToUpper(strings.TrimSpace(name)) {
		case "ANSI_QUOTES", "ANSI", "ORACLE", "DB2", "MAXDB", "MSSQL", "POSTGRESQL": // all but the first bring it
			m.ANSIQuotes = true
		case "NO_BACKSLASH_ESCAPES":
			m.NoBackslashEscapes = true
		}
	}
	return m
}
