package names_test

import (
	"errors"
	"fmt"

	"github.com/onerow/onerow/names"
)

// A table of the application's own that keeps names without package repo. The unique index is on name_key.
func Example() {
	fmt.Printf("name VARCHAR(%d), name_key VARBINARY(%d), stem_key VARBINARY(%d)\n",
		names.MaxLength, 4*names.MaxKeyLength, 4*names.MaxStemLength) // a character has 4 bytes at most

	for _, name := range []string{"Email  Campaign", "STRASSE", "a\x00b"} {
		key, err := names.KindName.Key(name)
		fmt.Printf("%q %v\n", key, errors.Is(err, names.ErrInvalid))
	}
	base, err := names.KindFilename.Key("Home@2x.PNG")
	fmt.Println(base, err)

	parsed, err := names.KindFilename.Parse("Home@2x.PNG")
	fmt.Println(parsed.Display, parsed.Key, err)
	last, err := parsed.WithCopy(names.MaxCopy)
	fmt.Println(last.Display, last.StemKey, err)
	_, err = parsed.WithCopy(names.MaxCopy + 1)
	fmt.Println(errors.Is(err, names.ErrTooManyCopies))
	// Output:
	// name VARCHAR(200), name_key VARBINARY(1020), stem_key VARBINARY(744)
	// "email campaign" false
	// "strasse" false
	// "" true
	// home <nil>
	// Home@2x.PNG home <nil>
	// Home (Copy 999999)@2x.PNG home <nil>
	// true
}
