package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/exactjson"
)

// jsonForm is the name of the form in which results are stored: it stands beside each, so that another one
// may come.
const jsonForm = "json/1"

type stored struct {
	data      []byte // nil: none
	reference bool
	foreign   bool // in a form that this version does not know
}

func (s stored) equal(t stored) bool {
	return s.reference == t.reference && s.foreign == t.foreign && bytes.Equal(s.data, t.data) && (s.data == nil) == (t.data == nil)
}

// form is the name of the form, or NULL where nothing is stored.
func (s stored) form() any {
	if s.data == nil {
		return nil
	}
	return jsonForm
}

// encode applies the size policy. db is where a reference may be kept. It fills what replay points to as
// decode will, so that the first caller gets what all others get; what it cannot give back is [ErrCodec].
// replay is nil where it is not known into what the result will be decoded.
func (k *Keys) encode(ctx context.Context, db onerow.DB, key Key, v, replay any) (stored, error) {
	data, err := exactjson.RoundTrip(v, replay)
	switch {
	case err != nil:
		return stored{}, errtext.Errorf("%w: a %T of the key %s: %w", ErrCodec, v, key, err)
	case len(data) <= k.cfg.MaxResult:
		return stored{data: data}, nil
	case k.cfg.References == nil:
		return stored{}, tooLarge(key, len(data), k.cfg.MaxResult, nil)
	}
	ref, err := k.cfg.References.Store(ctx, db, key, data)
	if err != nil {
		return stored{}, errtext.Wrap(err, "idempotency: store the result of the key %s, %d bytes, by reference", key, len(data))
	}
	if len(ref) > longestReference {
		return stored{}, fmt.Errorf("%w: the reference to the result of the key %s has %d bytes, %d fit", ErrInvalid, key, len(ref), longestReference)
	}
	return stored{data: []byte(ref), reference: true}, nil
}

// Encode returns a result as its row holds it: the JSON, or a reference to it. It is for who completes a key
// by hand; [Keys.Complete] does it itself. Errors: [ErrTooLarge], [ErrCodec].
func (k *Keys) Encode(ctx context.Context, db onerow.DB, key Key, result any) (data []byte, isReference bool, err error) {
	s, err := k.encode(ctx, db, key, result, nil)
	return s.data, s.reference, err
}

func (k *Keys) decode(ctx context.Context, db onerow.DB, key Key, s stored, v any) error {
	if s.foreign {
		return fmt.Errorf("%w: the result of the key %s is stored in a form that this version does not know", ErrCodec, key)
	}
	data := s.data
	if s.reference {
		if k.cfg.References == nil {
			return fmt.Errorf("%w: the result of the key %s is stored by reference, and Config has no References", ErrCodec, key)
		}
		var err error
		if data, err = k.cfg.References.Load(ctx, db, string(s.data)); err != nil {
			return errtext.Wrap(err, "idempotency: load the result of the key %s by its reference %q", key, s.data)
		}
	}
	if err := json.Unmarshal(data, v); err != nil {
		return errtext.Errorf("%w: the result of the key %s into a %T: %w", ErrCodec, key, v, err)
	}
	return nil
}
