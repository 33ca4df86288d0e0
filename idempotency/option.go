package idempotency

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"
)

// Option changes one call. Each says which verbs take it; the others answer
// [ErrInvalidConfig].
type Option struct {
	name  string
	apply func(*call) error
}

// KeyLast makes Do write the key after the function has run. See the package documentation.
func KeyLast() Option {
	return Option{"KeyLast", func(c *call) error { c.last = true; return nil }}
}

// LookFirst makes Do and Begin look for a stored answer before they write: one statement for a replay, 2
// for a stored error, one more where nothing has ended yet. Worth it where replays are likely. The primary
// key still decides.
func LookFirst() Option {
	return Option{"LookFirst", func(c *call) error { c.look = true; return nil }}
}

// Payload is what the work of Do or Begin is done with: another payload under the same key is
// [ErrMismatch]. It is hashed as JSON, where the order of fields does not matter. A field that a later
// version of a struct adds counts, unless it is tagged omitzero or omitempty: else a retry that crosses
// that deploy is another payload. A list or map of a Go value that is empty is as one that is nil; in a
// json.RawMessage null and [] are two. What JSON does not keep is [ErrField]: a text that is not UTF-8,
// fields that encoding/json drops because several have one name.
func Payload(v any) Option {
	return Option{"Payload", func(c *call) error {
		sum, earlier, err := hashOf(v)
		if err != nil {
			return fmt.Errorf("idempotency: the payload: %w", err)
		}
		c.fingerprint, c.earlier = sum[:], nil
		if sum != earlier {
			c.earlier = [][sha256.Size]byte{earlier}
		}
		return nil
	}}
}

// Fingerprint is [Payload] for a hash that the caller made of it. formerly are hashes that were made of the
// same payload before, by another rule: a key that has one of them is the payload's too. Such a replay takes
// a statement more.
func Fingerprint(sum [sha256.Size]byte, formerly ...[sha256.Size]byte) Option {
	return Option{"Fingerprint", func(c *call) error { c.fingerprint, c.earlier = sum[:], formerly; return nil }}
}

// Keep replaces Config.Keep for a call of Do, Complete, Fail, Release or Work; 0 is for ever.
func Keep(d time.Duration) Option {
	return Option{"Keep", func(c *call) error {
		if d < 0 {
			return fmt.Errorf("%w: Keep(%s)", ErrInvalidConfig, d)
		}
		c.keep = d
		return nil
	}}
}

// Expect replaces Config.Expected for a call of Begin, and of Extend, which counts from now.
func Expect(d time.Duration) Option {
	return Option{"Expect", func(c *call) error {
		if d <= 0 {
			return fmt.Errorf("%w: Expect(%s)", ErrInvalidConfig, d)
		}
		c.expected = d
		return nil
	}}
}

// Lease lets another Begin take the key over when d has passed without Complete or
// Extend. Who asks for a lease declares that the work may be done again, or that
// the token is passed on to where the work is done. For Begin and Extend.
func Lease(d time.Duration) Option {
	return Option{"Lease", func(c *call) error {
		if d < time.Microsecond {
			return fmt.Errorf("%w: Lease(%s)", ErrInvalidConfig, d)
		}
		c.lease = d
		return nil
	}}
}

// Attention marks the error that Fail stores for a human: the gauge counts it, and it does
// not expire before somebody has looked.
func Attention() Option {
	return Option{"Attention", func(c *call) error { c.attention = true; return nil }}
}

// Result makes Fail store v beside the error, encoded as a result is: later calls get it in
// FailedError.Result. For work that failed and has an answer all the same.
func Result(v any) Option {
	return Option{"Result", func(c *call) error { c.result, c.hasResult = v, true; return nil }}
}

// Formerly says under which keys Do or Begin may have met this work before its operation was renamed. The
// first of them that is there, and has not expired, is used instead of the new key, with its state, token and
// payload. Each is asked by one statement, which waits for a call of Do that is running under it. Where the
// old name is still being claimed at the same time, by processes that do not know the new one, the work may
// be done twice.
func Formerly(keys ...Key) Option {
	return Option{"Formerly", func(c *call) error {
		for _, key := range keys {
			if err := key.Check(); err != nil {
				return err
			}
		}
		c.former = keys
		return nil
	}}
}

// call is one call of a verb.
type call struct {
	key         Key
	token       [16]byte            // new for every call, the same in each of its attempts
	fingerprint []byte              // nil: none was given
	earlier     [][sha256.Size]byte // fingerprints that the same payload had
	keep        time.Duration
	expected    time.Duration
	lease       time.Duration
	last, look  bool
	attention   bool
	result      any // Fail: stored beside the error
	hasResult   bool
	former      []Key     // names that the key may have had
	tookOver    bool      // Begin: the row it claims was in progress
	start       time.Time // monotonic: only durations are taken
	unknown     error     // of a run without an answer
	contended   bool      // a wait ended in vain, and was begun again
}

// The options that a verb takes.
const (
	doOptions       = "KeyLast LookFirst Payload Fingerprint Keep Formerly"
	beginOptions    = "LookFirst Payload Fingerprint Expect Lease Formerly"
	completeOptions = "Keep"
	releaseOptions  = "Keep"
	failOptions     = "Keep Attention Result"
	extendOptions   = "Expect Lease"
)

func (k *Keys) newCall(key Key, takes string, opts []Option) (*call, error) {
	c := &call{key: key, keep: k.cfg.Keep, expected: k.cfg.Expected, start: time.Now()}
	if err := key.Check(); err != nil {
		return nil, err
	}
	for _, o := range opts {
		if !hasWord(takes, o.name) {
			return nil, fmt.Errorf("%w: this verb does not take the option %s, it takes: %s", ErrInvalidConfig, o.name, takes)
		}
		if err := o.apply(c); err != nil {
			return nil, err
		}
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
	return d.Microseconds()
}
