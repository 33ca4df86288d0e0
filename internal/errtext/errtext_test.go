package errtext_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/internal/errtext"
)

// detail is an error with others, of which one may be nil.
type detail []error

func (d detail) Error() string   { return d[0].Error() }
func (d detail) Unwrap() []error { return d }

// A package is named once, and errors.Is finds all that is wrapped.
func TestPackageIsNamedOnce(t *testing.T) {
	gone, full, other := errors.New("repo: gone"), errors.New("repo: full"), errors.New("onerow: moved")
	for _, c := range []struct {
		err  error
		want string
	}{
		{errtext.Wrap(nil, "repo: get %d", 5), "<nil>"},
		{errtext.Wrap(gone, "repo: get %d", 5), "repo: get 5: gone"},
		{errtext.Wrap(errtext.Wrap(gone, "repo: read"), "repo: get %d", 5), "repo: get 5: read: gone"},
		{errtext.Wrap(other, "repo: get %d", 5), "repo: get 5: onerow: moved"},
		{errtext.Wrap(errors.New("full: 5"), "read the context"), "read the context: full: 5"},
		{errtext.Wrap(fmt.Errorf("onerow: gave up: %w", gone), "repo: get"), "repo: get: onerow: gave up: gone"},
		{errtext.Errorf("%w: %w", gone, full), "repo: gone: full"},
		{errtext.Errorf("repo: get %d: %w: %w: %w", 5, other, gone, other), "repo: get 5: onerow: moved: gone: moved"},
		{errtext.Wrap(errtext.Errorf("%w: %q: %w", gone, "x", full), "repo: get"), `repo: get: gone: "x": full`},
		{errtext.Wrap(errtext.Errorf("%w: %q", gone, "a: repo: b"), "repo: get"), `repo: get: gone: "a: repo: b"`}, // a user's
		{errtext.Wrap(detail{gone, nil}, "repo: get %d", 5), "repo: get 5: gone"},
	} {
		if got := fmt.Sprint(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if err := errtext.Wrap(errtext.Errorf("%w: %w", gone, full), "repo: get"); !errors.Is(err, gone) || !errors.Is(err, full) || errors.Is(err, other) {
		t.Errorf("%v does not wrap what it was made of", err)
	}
}
