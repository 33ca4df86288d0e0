package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/exactjson"
)

// maxCodecName is the length in bytes of the column for a codec's name.
const maxCodecName = 64

// Codec turns results into bytes and back.
type Codec interface {
	// Name, with a version, is stored beside each result: "json/1". A codec must go on to
	// decode what it has encoded; for another form it takes another name, and the old one stays in
	// Config.Codecs while its rows live. 1 to 64 bytes.
	Name() string
	Encode(v any) ([]byte, error)
	// Decode fills what v points to. For what was nil it gives nil.
	Decode(data []byte, v any) error
}

// jsonCodec is encoding/json.
type jsonCodec struct{}

func (jsonCodec) Name() string                    { return "json/1" }
func (jsonCodec) Encode(v any) ([]byte, error)    { return exactjson.Marshal(v) }
func (jsonCodec) Decode(data []byte, v any) error { return json.Unmarshal(data, v) }

// stored is a result as its row holds it.
type stored struct {
	codec     string
	data      []byte
	reference bool
}

func (s stored) equal(t stored) bool {
	return s.codec == t.codec && s.reference == t.reference && bytes.Equal(s.data, t.data)
}

// name is the codec's, or NULL where nothing is stored.
func (s stored) name() any {
	if s.codec == "" {
		return nil
	}
	return s.codec
}

// encode applies the size policy. db is where a reference may be kept. It fills what replay points to as
// decode will, so that the first caller gets what all others get; what it cannot give back is [ErrCodec].
// replay is nil where it is not known into what the result will be decoded.
func (k *Keys) encode(ctx context.Context, db onerow.DB, key Key, v, replay any) (stored, error) {
	codec := k.cfg.Codecs[0]
	data, err := codec.Encode(v)
	if err == nil {
		err = again(codec, data, v, replay)
	}
	if err != nil {
		return stored{}, fmt.Errorf("%w: codec %s, a %T of the key %s: %w", ErrCodec, codec.Name(), v, key, err)
	}
	if data == nil {
		data = []byte{} // NULL means that there is no result yet
	}
	if len(data) <= k.cfg.MaxResult {
		return stored{codec: codec.Name(), data: data}, nil
	}
	if k.cfg.References == nil {
		return stored{}, tooLarge(key, len(data), k.cfg.MaxResult, nil)
	}
	ref, err := k.cfg.References.Store(ctx, db, key, data)
	if err != nil {
		return stored{}, fmt.Errorf("idempotency: store the result of the key %s, %d bytes, by reference: %w", key, len(data), err)
	}
	if len(ref) > longestReference {
		return stored{}, fmt.Errorf("%w: the reference to the result of the key %s has %d bytes, %d fit", ErrInvalid, key, len(ref), longestReference)
	}
	return stored{codec: codec.Name(), data: []byte(ref), reference: true}, nil
}

// again decodes what was encoded, and says what has been lost.
func again(codec Codec, data []byte, v, replay any) error {
	_, isJSON := codec.(jsonCodec)
	if replay != nil {
		if err := codec.Decode(data, replay); err != nil {
			return fmt.Errorf("it cannot be decoded again: %w", err)
		}
	} else if replay = new(any); v != nil && isJSON {
		replay = reflect.New(reflect.TypeOf(v)).Interface()
		if codec.Decode(data, replay) != nil { // its reader may have another type
			return nil
		}
	}
	if isJSON && v != nil {
		return exactjson.Kept(data, replay)
	}
	return nil
}

// decode fills what v points to.
func (k *Keys) decode(ctx context.Context, db onerow.DB, key Key, s stored, v any) error {
	data := s.data
	if s.reference {
		if k.cfg.References == nil {
			return fmt.Errorf("%w: the result of the key %s is stored by reference, and Config has no References", ErrCodec, key)
		}
		var err error
		if data, err = k.cfg.References.Load(ctx, db, string(s.data)); err != nil {
			return fmt.Errorf("idempotency: load the result of the key %s by its reference %q: %w", key, s.data, err)
		}
	}
	for _, codec := range k.cfg.Codecs {
		if codec.Name() == s.codec {
			if err := codec.Decode(data, v); err != nil {
				return fmt.Errorf("%w: codec %s, the result of the key %s into a %T: %w", ErrCodec, s.codec, key, v, err)
			}
			return nil
		}
	}
	return fmt.Errorf("%w: the result of the key %s was stored by the codec %q, which Config.Codecs lacks", ErrCodec, key, s.codec)
}
