package names_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/names"
)

func ExampleKind_filename() {
	for _, s := range []string{"home.png", "home.jpg", "home@2x.png", "HOME@1.5X.GIF", "archive.tar.gz", ".gitignore", "v1.2"} {
		base, err := names.KindFilename.Key(s)
		fmt.Println(base, err)
	}
	// Output:
	// home <nil>
	// home <nil>
	// home <nil>
	// home <nil>
	// archive.tar <nil>
	// .gitignore <nil>
	// v1.2 <nil>
}

func TestFilenameBase(t *testing.T) {
	tests := []struct{ what, in, want string }{
		{"extension", "home.png", "home"},
		{"no extension", "home", "home"},
		{"upper case", "HOME@3X.GIF", "home"},
		{"density", "home@2x.png", "home"},
		{"density without extension", "home@2x", "home"},
		{"fraction", "home@1.5x.png", "home"},
		{"fraction without extension", "home@1.5x", "home"},
		{"less than one", "home@0.75x.png", "home"},
		{"longest density", "home@999.999x.png", "home"},
		{"density 1x", "home@1x.png", "home"},

		{"density zero is text", "home@0x.png", "home@0x"},
		{"density 0.0 is text", "home@0.0x.png", "home@0.0x"},
		{"leading zero is text", "home@02x.png", "home@02x"},
		{"four digits are text", "home@1000x.png", "home@1000x"},
		{"no number is text", "home@x.png", "home@x"},
		{"half a fraction is text", "home@1.x.png", "home@1.x"},
		{"no digit before the dot is text", "home@.5x.png", "home@.5x"},
		{"comma is text", "home@1,5x.png", "home@1,5x"},
		{"sign is text", "home@-2x.png", "home@-2x"},
		{"space in density is text", "home@2 x.png", "home@2 x"},
		{"only the last density", "home@2x@3x.png", "home@2x"},
		{"density behind the extension", "home.png@2x", "home.png"},
		{"density before the token's place", "home@2x (Copy 1).png", "home@2x (copy 1)"},
		{"tilde of a device is text", "home@2x~ipad.png", "home@2x~ipad"},
		{"address", "bob@example.com", "bob@example"},

		{"only density and extension", "@2x.png", "@2x"},
		{"only density", "@2x", "@2x"},
		{"only fraction", "@1.5x", "@1.5x"},
		{"only fraction and extension", "@1.5x.png", "@1.5x"},
		{"invisible before density", "\u200b@2x.png", "\u200b@2x"},
		{"dotfile", ".gitignore", ".gitignore"},
		{"dotfile with extension", ".env.local", ".env"},
		{"dotfile with density", ".icon@2x.png", ".icon"},
		{"dots before the extension", "..png", "..png"},
		{"dots and space before the extension", ".. .png", ".. .png"},
		{"dot before density", ".@2x.png", ".@2x"},
		{"dot before fraction", ".@1.5x", ".@1.5x"},

		{"two extensions", "archive.tar.gz", "archive.tar"},
		{"several dots", "a.b.c.png", "a.b.c"},
		{"dot at the end", "home.", "home."},
		{"dot and density", "home.@2x.png", "home."},
		{"two dots", "home..png", "home."},
		{"version", "v1.2", "v1.2"},
		{"version with extension", "v1.2.png", "v1.2"},
		{"version and words", "v1.2 final", "v1.2 final"},
		{"number is no extension", "part.001", "part.001"},
		{"digit and letter are one", "a.7z", "a"},
		{"letters and digits", "a.mp3", "a"},
		{"no dot", "Makefile", "makefile"},
		{"16 characters", "a.abcdefghijklmnop", "a"},
		{"17 characters", "a.abcdefghijklmnopq", "a.abcdefghijklmnopq"},
		{"hyphen", "a.code-workspace", "a.code-workspace"},
		{"underscore", "a.foo_bar", "a.foo_bar"},
		{"tilde", "a.txt~", "a.txt~"},
		{"space in it", "Dr. Who", "dr. who"},
		{"copy behind it is text", "home.png (Copy 1)", "home.png (copy 1)"},

		{"space before extension", "home .png", "home"},
		{"space before density", "home @2x.png", "home"},
		{"space before both", "home @2x .png", "home @2x"},
		{"space at the ends", " home.png\u00a0\n", "home"},
		{"spaces inside", "my  home.png", "my home"},
		{"full width", "ｈｏｍｅ＠２ｘ．ＰＮＧ", "home"},
		{"superscript density", "home@²x.png", "home"},
		{"Arabic digits are text", "home@٢x.png", "home@٢x"},
		{"Cyrillic extension is text", "home.рng", "home.рng"},
		{"Cyrillic x is text", "home@2х.png", "home@2х"},
		{"one dot leader", "home․png", "home"},
		{"ideographic full stop is text", "home。png", "home。png"},
		{"ligature in extension", "a.ﬂac", "a"},
		{"sharp s in extension", "a.ß", "a"},
		{"dot hidden in a number", "v⒈png", "v1"},
		{"dots hidden in an ellipsis", "home…png", "home.."},
		{"Kelvin", "a.bKmp", "a"},
		{"mark on the extension", "home.pn\u0303g", "home.pñg"},
		{"mark behind the extension", "home.png\u0301", "home.pnǵ"},
		{"mark on the dot", "home.\u0338png", "home.\u0338png"},
		{"mark in the base", "cafe\u0301.png", "café"},
		{"joiner behind the extension", "home.png\u200d", "home.png\u200d"},
		{"emoji", "👩‍👩‍👧.png", "👩‍👩‍👧"},
		{"right to left", "שלום.png", "שלום"},
		{"colon, quotes, stars", `a:"*?<>|'.png`, `a:"*?<>|'`},
		{"fraction slash is no separator", "½.png", "1⁄2"},
		{"200 characters", strings.Repeat("a", 196) + ".png", strings.Repeat("a", 196)},
		{"200 characters of 4 bytes", strings.Repeat("😀", 193) + "@2x.png", strings.Repeat("😀", 193)},
		{"base of 254 characters", strings.Repeat("ß", 127) + ".png", strings.Repeat("ss", 127)},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			got, err := names.KindFilename.Key(tt.in)
			if err != nil || got != tt.want {
				t.Errorf("FilenameBase(%+q) = %+q, %v; want %+q", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestFilenameBaseErrors(t *testing.T) {
	tests := []struct {
		what, in string
		want     error
	}{
		{"empty", "", names.ErrEmpty},
		{"white space", " \u3000", names.ErrEmpty},
		{"invisible", "\u200b", names.ErrEmpty},
		{"this folder", ".", names.ErrInvalid},
		{"the folder above", "..", names.ErrInvalid},
		{"three dots", "...", names.ErrInvalid},
		{"dots and spaces", ". .", names.ErrInvalid},
		{"dot and invisible", "\u200b.", names.ErrInvalid},
		{"two dot leader", "‥", names.ErrInvalid},
		{"ellipsis", "…", names.ErrInvalid},
		{"full-width dots", "．．", names.ErrInvalid},
		{"path", "a/b.png", names.ErrInvalid},
		{"path upwards", "../b.png", names.ErrInvalid},
		{"backslash", `a\b.png`, names.ErrInvalid},
		{"full-width slash", "a／b.png", names.ErrInvalid},
		{"full-width backslash", "a＼b.png", names.ErrInvalid},
		{"slash hidden in a symbol", "℀.png", names.ErrInvalid},
		{"NUL", "a\x00.png", names.ErrInvalid},
		{"line feed inside", "a\n.png", names.ErrInvalid},
		{"invalid UTF-8", "a\xff.png", names.ErrInvalid},
		{"201 characters", strings.Repeat("a", 197) + ".png", names.ErrTooLong},
		{"base of 256 characters", strings.Repeat("ß", 128) + ".png", names.ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			base, err := names.KindFilename.Key(tt.in)
			var detail *names.Error
			if base != "" || !errors.Is(err, tt.want) || !errors.As(err, &detail) {
				t.Errorf("FilenameBase(%+q) = %q, %v; want %v", tt.in, base, err, tt.want)
			}
		})
	}
}

func BenchmarkFilenameBase(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := names.KindFilename.Key("home@2x.png"); err != nil {
			b.Fatal(err)
		}
	}
}
