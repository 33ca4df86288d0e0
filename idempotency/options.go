package idempotency

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/errtext"
)

// Options change one call. Each field names the verbs that take it; the others answer [ErrInvalid].
type Options struct {
	// Payload is what the work is done with: another payload under the same key is [ErrMismatch]. It is
	// hashed as JSON, where the order of fields does not matter. A field that a later version of a struct
	// adds counts, unless it is tagged omitzero or omitempty: else a retry that crosses that deploy is
	// another payload. A list or map of a Go value that is empty is as one that is nil; in a json.RawMessage
	// null and [] are two. What JSON does not keep is [ErrField]: a text that is not UTF-8, fields that
	// encoding/json drops because several have one name. A [Fingerprint] is taken as it is; nil is no
	// payload. Do and Begin.
	Payload any
	// Keep replaces Config.Keep, unless it is 0: for ever is for the Keys whose Config.Keep is 0. Do,
	// Complete, Fail, Release and Work.
	Keep time.Duration
	// Expected replaces Config.Expected; Extend counts from now. Begin and Extend.
	Expected time.Duration
	// Lease lets another Begin take the key over when it has passed without Complete or Extend. Who asks for
	// a lease declares that the work may be done again, or that the token is passed on to where the work is
	// done. Begin and Extend.
	Lease time.Duration
	// Attention marks the error for a human: the gauge counts it, and it does not expire before somebody has
	// looked. Fail.
	Attention bool
	// Result is stored beside the error, encoded as a result is: later calls get it in [Error].Result. It is
	// for work that failed and has an answer all the same. Fail.
	Result any
}

// Fingerprint is a payload that the caller has hashed, as a middleware does with a request.
type Fingerprint struct {
	Sum [sha256.Size]byte
	// Former are what the same payload was hashed to before: keys that were stored with one of these go on.
	Former [][sha256.Size]byte
}

type call struct {
	Options
	key         Key
	token       [16]byte // new for every call, the same in each of its attempts
	fingerprint []byte   // nil: no payload was given
	former      [][sha256.Size]byte
	earlier     string    // the traceparent of whose claim it has met
	tookOver    bool      // Begin: the row it claims was in progress
	start       time.Time // monotonic: only durations are taken
	unknown     error     // of a run without an answer
	contended   bool      // a wait ended in vain, and was begun again
}

// newCall checks a call. takes are the options that its verb takes.
func (k *Keys) newCall(key Key, takes string, opts []Options) (*call, error) {
	if err := key.Check(); err != nil {
		return nil, err
	}
	c := &call{key: key, start: time.Now()}
	switch len(opts) {
	case 0:
	case 1:
		c.Options = opts[0]
	default:
		return nil, fmt.Errorf("%w: %d Options in one call; put them into one", ErrInvalid, len(opts))
	}
	for _, o := range [...]struct {
		name string
		set  bool
	}{
		{"Payload", c.Payload != nil}, {"Keep", c.Keep != 0}, {"Expected", c.Expected != 0}, {"Lease", c.Lease != 0},
		{"Attention", c.Attention}, {"Result", c.Result != nil},
	} {
		if o.set && !strings.Contains(takes, o.name) {
			return nil, fmt.Errorf("%w: this verb does not take the option %s, it takes: %s", ErrInvalid, o.name, takes)
		}
	}
	if c.Keep < 0 || c.Expected < 0 || c.Lease < 0 {
		return nil, fmt.Errorf("%w: Keep is %s, Expected %s, Lease %s", ErrInvalid, c.Keep, c.Expected, c.Lease)
	}
	c.Keep, c.Expected = cmp.Or(c.Keep, k.cfg.Keep), cmp.Or(c.Expected, k.cfg.Expected)
	switch p := c.Payload.(type) {
	case nil:
	case Fingerprint:
		c.fingerprint, c.former = p.Sum[:], p.Former
	default:
		sum, earlier, err := hashOf(p)
		if err != nil {
			return nil, errtext.Wrap(err, "idempotency: the payload")
		}
		c.fingerprint, c.former = sum[:], [][sha256.Size]byte{earlier}
	}
	rand.Read(c.token[:]) // never an error
	return c, nil
}

// micros is a duration as an argument of INTERVAL ? MICROSECOND; 0 is NULL, and so
// is what is computed with it.
func micros(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return max(d.Microseconds(), 1)
}
