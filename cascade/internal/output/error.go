package output

import "strings"

// said is an error in fewer words.
type said struct {
	text string
	err  error
}

func (e *said) Error() string { return e.text }
func (e *said) Unwrap() error { return e.err }

// Said is err in other words.
func Said(text string, err error) error { return &said{text, err} }

// Detail is what err says after the texts of sentinels, which the caller has said in its
// own words. What says nothing more stays as it is.
func Detail(err error, sentinels ...error) error {
	text := err.Error()
	for _, sentinel := range sentinels {
		if at := strings.LastIndex(text, sentinel.Error()+": "); at >= 0 {
			text = text[at+len(sentinel.Error())+2:]
		}
	}
	return Said(text, err)
}
