package thumb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/onerow/onerow/examples/projects/internal/thumb"
)

func picture(w, h int, alpha uint8) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{200, 100, 50, alpha})
		}
	}
	return m
}

func TestMake(t *testing.T) {
	encoders := map[string]func(*bytes.Buffer, image.Image) error{
		"png":  func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) },
		"jpeg": func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) },
		"gif":  func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) },
	}
	for name, encode := range encoders {
		for _, size := range [][4]int{{640, 320, 320, 160}, {320, 640, 120, 240}, {30, 20, 30, 20}, {3000, 2, 320, 1}, {321, 241, 319, 240}} {
			var in bytes.Buffer
			if err := encode(&in, picture(size[0], size[1], 255)); err != nil {
				t.Fatal(err)
			}
			out, kind, err := thumb.Make(&in, 320, 240)
			if err != nil || kind != "image/jpeg" {
				t.Fatalf("%s of %v: %s, %v", name, size, kind, err)
			}
			small, _, err := image.Decode(bytes.NewReader(out))
			if err != nil || small.Bounds().Dx() != size[2] || small.Bounds().Dy() != size[3] {
				t.Errorf("%s of %v: %v, %v", name, size, small.Bounds(), err)
			}
			r, g, b, _ := small.At(0, 0).RGBA()
			if r>>8 < 180 || r>>8 > 220 || g>>8 < 80 || g>>8 > 120 || b>>8 < 30 || b>>8 > 70 {
				t.Errorf("%s of %v: the color is %d %d %d", name, size, r>>8, g>>8, b>>8)
			}
		}
	}
}

func TestTransparentStaysTransparent(t *testing.T) {
	var in bytes.Buffer
	if err := png.Encode(&in, picture(640, 480, 0)); err != nil {
		t.Fatal(err)
	}
	if _, kind, err := thumb.Make(&in, 320, 240); err != nil || kind != "image/png" {
		t.Fatal(kind, err)
	}
}

// A header says 30,000 × 30,000 pixels: refused before anything is decoded.
func TestBombIsRefused(t *testing.T) {
	var in bytes.Buffer
	if err := png.Encode(&in, picture(1, 1, 255)); err != nil {
		t.Fatal(err)
	}
	bomb := in.Bytes()
	binary.BigEndian.PutUint32(bomb[16:], 30_000)
	binary.BigEndian.PutUint32(bomb[20:], 30_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	_, _, err := thumb.Make(bytes.NewReader(bomb), 320, 240)
	if !errors.Is(err, thumb.ErrNoPicture) || !strings.Contains(err.Error(), "30000") {
		t.Fatal(err)
	}
}

func TestNoPicture(t *testing.T) {
	for _, text := range []string{"", "hello", "\x89PNG\r\n\x1a\n", "GIF89a", "\xff\xd8\xff"} {
		if _, _, err := thumb.Make(strings.NewReader(text), 320, 240); !errors.Is(err, thumb.ErrNoPicture) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
