package sqltext

import "strings"

// charsetOf returns what a character set of the server is.
func charsetOf(name string) Charset {
	switch strings.ToLower(name) {
	case "utf8mb4", "utf8mb3", "utf8":
		return UTF8
	case "ascii", "binary", "latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
		"koi8r", "koi8u", "greek", "hebrew", "macroman", "macce", "armscii8", "dec8", "hp8", "geostd8", "keybcs2", "tis620":
		return SingleByte
	}
	return OtherCharset
}

// modeOf returns the mode of a session from its sql_mode and character_set_client.
func modeOf(sqlMode, charset string) Mode {
	m := Mode{Charset: charsetOf(charset)}
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
