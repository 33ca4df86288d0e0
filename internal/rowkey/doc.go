// Package rowkey reads and writes values of key columns exactly, whatever their type,
// the session's settings (time zone, sql_mode, character set) and the driver's.
//
//	type of the column              read as                 written as
//	integers, year                  digits                  42
//	decimal                         digits                  12.50
//	char, varchar, enum, set        HEX of the UTF-8 form   _utf8mb4 x'616263'
//	binary, varbinary               HEX                     x'00ff'
//	date, datetime, time,           text                    '1993-09-21'
//	uuid, inet4, inet6
//
// A value that was read finds its row again, by the index, and only rows that the
// column's collation takes for equal. Values of other types (float, double, bit, json,
// geometry, text and blob, and timestamp, which depends on the session's time zone) are
// refused with [ErrType]: they make poor keys, and have no exact literal.
//
// A [Key] is the literals as they go into a statement's text; nothing in it came from outside without being
// checked and written anew. Two keys that were read from the same columns are equal as Go strings exactly
// when they are equal byte by byte in the row; what a collation takes for equal only the database can say.
//
// Not guaranteed: zero dates ('0000-00-00') on MySQL, which refuses to compare with them under its default
// sql_mode; text of character sets that do not convert to Unicode and back without loss.
//
// The package sends nothing.
//
// Open this package when a key is read or compared wrongly under a setting or a type.
package rowkey
