// Package names says which names are the same. The key of a name stands in the unique index beside it and is
// compared byte by byte, so that every engine and collation agrees:
//
//	key, err := names.KindName.Key("Email  Campaign")    // "email campaign"
//	key, err := names.KindFilename.Key("Home@2x.PNG")    // "home": density and extension do not count
//	parsed, err := names.KindName.Parse("Plan (Copy 2)") // its stem is "Plan", its copy number 2
//	parsed, err = parsed.WithCopy(3)                     // "Plan (Copy 3)"
//
// Package repo does all of this for its resources. The key of a key is that key. Look-alike letters are not
// merged. It imports nothing of this module.
//
// Open this package when two names are the same that should not be, or a copy gets the wrong one.
package names
