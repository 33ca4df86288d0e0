// Package thumb makes small pictures of large ones. What it is given comes from
// strangers, so it looks at a picture's size before it decodes it, and refuses what
// would take too much memory (a few kilobytes of PNG can decode to gigabytes).
package thumb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/gif" // the formats that browsers and the standard library share
	"image/jpeg"
	"image/png"
	"io"
)

// ErrNoPicture means that it is not a picture that can be made small: not PNG, JPEG or GIF,
// broken, or too large.
var ErrNoPicture = errors.New("thumb: not a picture that can be made small")

const (
	// MaxPixels is the largest picture that is decoded: at most 8 bytes each.
	MaxPixels = 24 << 20
	maxSide   = 1 << 15
	quality   = 85
	headLen   = 256 << 10 // enough for the size of every usual picture
)

// Make returns the picture that r has, scaled to fit into width × height pixels
// (never made larger), as JPEG, or as PNG if it is transparent, and its content
// type. Of an animation it takes the first frame. [ErrNoPicture] otherwise.
func Make(r io.Reader, width, height int) (picture []byte, contentType string, err error) {
	buffered := bufio.NewReaderSize(r, headLen)
	head, err := buffered.Peek(headLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", fmt.Errorf("thumb: %w", err)
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(head))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrNoPicture, err)
	}
	most := MaxPixels
	if format == "jpeg" {
		most /= 4 // a progressive one takes up to 24 bytes for each while it is decoded
	}
	if size.Width < 1 || size.Height < 1 || size.Width > maxSide || size.Height > maxSide || size.Width*size.Height > most {
		return nil, "", fmt.Errorf("%w: %d × %d pixels", ErrNoPicture, size.Width, size.Height)
	}
	full, _, err := image.Decode(buffered)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrNoPicture, err)
	}
	small := shrink(full, width, height)
	var out bytes.Buffer
	if small.Opaque() {
		contentType, err = "image/jpeg", jpeg.Encode(&out, small, &jpeg.Options{Quality: quality})
	} else {
		contentType, err = "image/png", png.Encode(&out, small)
	}
	if err != nil {
		return nil, "", fmt.Errorf("thumb: %w", err)
	}
	return out.Bytes(), contentType, nil
}

// shrink scales by averaging: each pixel is the mean of those that it stands for.
// Memory beside the picture: one row.
func shrink(src image.Image, width, height int) *image.RGBA {
	b := src.Bounds()
	w, h := fit(b.Dx(), b.Dy(), width, height)
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	row := image.NewRGBA(image.Rect(0, 0, b.Dx(), 1))
	for y := range h {
		top, bottom := y*b.Dy()/h, (y+1)*b.Dy()/h
		sums := make([][4]uint64, w)
		for sy := top; sy < bottom; sy++ {
			draw.Draw(row, row.Rect, src, image.Pt(b.Min.X, b.Min.Y+sy), draw.Src)
			for x := range w {
				for sx := x * b.Dx() / w; sx < (x+1)*b.Dx()/w; sx++ {
					for c := range 4 {
						sums[x][c] += uint64(row.Pix[4*sx+c])
					}
				}
			}
		}
		for x, sum := range sums {
			n := uint64((bottom - top) * ((x+1)*b.Dx()/w - x*b.Dx()/w)) //nolint:gosec // positive
			dst.SetRGBA(x, y, color.RGBA{mean(sum[0], n), mean(sum[1], n), mean(sum[2], n), mean(sum[3], n)})
		}
	}
	return dst
}

// mean is sum/n, rounded; it is at most 255 since every summand is.
func mean(sum, n uint64) uint8 { return uint8((sum + n/2) / n) } //nolint:gosec // see above

// fit returns the largest size with the proportions of w × h in the frame, not
// larger than it is.
func fit(w, h, maxW, maxH int) (int, int) {
	if w <= maxW && h <= maxH {
		return w, h
	}
	if w*maxH > h*maxW {
		return maxW, max(1, h*maxW/w)
	}
	return max(1, w*maxH/h), maxH
}
