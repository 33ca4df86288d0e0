package sqltext

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
