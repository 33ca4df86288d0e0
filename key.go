package onerow

import "github.com/onerow/onerow/internal/key"

// MaxKeyLen is the length in bytes of the columns that hold encoded keys.
const MaxKeyLen = key.MaxLen

// ErrInvalidKey means: a value cannot be a key, or text is not an encoded key.
var ErrInvalidKey = key.ErrInvalid

// EncodeKey writes the value of a primary key, or of an owner, in the one form
// in which the toolkit's tables hold it, readable in a database shell:
//
//	42            an integer of any kind, in decimal
//	'abc          text, as stored in its row; , ' and % are written %2C %27 %25
//	0x00ff        bytes, in hexadecimal
//	7,'en         a composite key, its parts in the order of the key's columns
//
// Two different keys never have the same form. Types that are based on an integer, a string or bytes count as
// these. A nil, an empty list, another type or more than [MaxKeyLen] bytes is [ErrInvalidKey].
func EncodeKey(parts ...any) (string, error) { return key.Encode(parts...) }

// DecodeKey is the inverse of [EncodeKey]: the parts as int64, uint64 (only above the largest int64), string
// or []byte. Anything that EncodeKey would not have written is [ErrInvalidKey].
func DecodeKey(encoded string) ([]any, error) { return key.Decode(encoded) }
