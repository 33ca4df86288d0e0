package pages

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/examples/projects/internal/thumb"
)

// Sizes of the small pictures, for screens with two pixels per point.
const (
	thumbWidth  = 560
	thumbHeight = 420
)

// filePolicy says what a file may do in a browser: nothing. It came from a stranger and may be
// HTML, or SVG with scripts.
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'"

// isPicture says whether browsers show this type in <img>; scripts never run there.
func isPicture(contentType string) bool {
	switch contentType {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/svg+xml":
		return true
	}
	return false
}

// named returns the screen in the path if its file is still the one in the path.
func (p *Pages) named(r *http.Request) (store.Screen, error) {
	screen, err := move(r, p.store.Screen)
	if err == nil && screen.BlobKey != r.PathValue("key") {
		err = problem.New(http.StatusNotFound, "There is a newer version of this file.")
	}
	return screen, err
}

// cached answers a conditional request; the key names the bytes.
func cached(w http.ResponseWriter, r *http.Request, tag string) bool {
	tag = `"` + tag + `"`
	w.Header().Set("Etag", tag)
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

func (p *Pages) file(w http.ResponseWriter, r *http.Request) error {
	screen, err := p.named(r)
	if err != nil {
		return err
	}
	reader, err := p.open(screen)
	if err != nil {
		return err
	}
	defer p.closed(r.Context(), reader)
	if cached(w, r, screen.BlobKey) {
		return nil
	}
	disposition := "attachment"
	if isPicture(screen.ContentType) {
		disposition = "inline"
	}
	h := w.Header()
	h.Set("Content-Type", screen.ContentType)
	h.Set("Content-Length", strconv.FormatInt(screen.Size, 10))
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": screen.Filename}))
	if _, err := io.Copy(w, reader); err != nil {
		p.log.DebugContext(r.Context(), "the client is gone", "error", err)
	}
	return nil
}

// open opens a file; one that is missing has just been replaced or deleted.
func (p *Pages) open(screen store.Screen) (io.ReadCloser, error) {
	reader, err := p.store.File(screen)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.New(http.StatusNotFound, "The file has just been replaced or deleted.")
	}
	return reader, err
}

func (p *Pages) closed(ctx context.Context, c io.Closer) {
	if err := c.Close(); err != nil {
		p.log.DebugContext(ctx, "close a file", "error", err)
	}
}

// thumb sends a small picture of a screen, or a drawing with its extension where
// there is none. Pictures are made when they are asked for, two at a time, and
// kept by the browser.
func (p *Pages) thumb(w http.ResponseWriter, r *http.Request) error {
	screen, err := p.named(r)
	if err != nil {
		return err
	}
	if cached(w, r, "t-"+screen.BlobKey) {
		return nil
	}
	picture, contentType, err := p.small(r.Context(), screen)
	if err != nil {
		w.Header().Del("Cache-Control")
		w.Header().Del("Etag")
		return err
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(picture)))
	h.Set("Content-Security-Policy", filePolicy)
	if _, err := w.Write(picture); err != nil { //nolint:gosec // made here, or sandboxed by the policy
		p.log.DebugContext(r.Context(), "the client is gone", "error", err)
	}
	return nil
}

// asItIs is the largest picture of a kind that cannot be made small here that is
// sent as it is instead.
const asItIs = 256 << 10

func (p *Pages) small(ctx context.Context, screen store.Screen) (picture []byte, contentType string, err error) {
	switch screen.ContentType {
	case "image/png", "image/jpeg", "image/gif":
	case "image/svg+xml", "image/webp":
		if screen.Size > asItIs {
			return drawing(screen.Filename), "image/svg+xml", nil
		}
		reader, err := p.open(screen)
		if err != nil {
			return nil, "", err
		}
		defer p.closed(ctx, reader)
		picture, err = io.ReadAll(reader)
		return picture, screen.ContentType, err
	default:
		return drawing(screen.Filename), "image/svg+xml", nil
	}
	select {
	case p.thumbs <- struct{}{}:
		defer func() { <-p.thumbs }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	reader, err := p.open(screen)
	if err != nil {
		return nil, "", err
	}
	defer p.closed(ctx, reader)
	picture, contentType, err = thumb.Make(reader, thumbWidth, thumbHeight)
	if errors.Is(err, thumb.ErrNoPicture) {
		return drawing(screen.Filename), "image/svg+xml", nil
	}
	return picture, contentType, err
}

const maxLabel = 5

// drawing is a sheet of paper with the file's extension.
func drawing(filename string) []byte {
	label := []rune(strings.ToUpper(strings.TrimPrefix(path.Ext(filename), ".")))
	if len(label) == 0 || len(label) > maxLabel {
		label = []rune("FILE")
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 280 210" width="280" height="210">`+
		`<path d="M98 30h58l28 28v122a6 6 0 0 1-6 6H98a6 6 0 0 1-6-6V36a6 6 0 0 1 6-6z" fill="#8892a6" fill-opacity=".18" stroke="#8892a6" stroke-width="2.5"/>`+
		`<path d="M156 30v22a6 6 0 0 0 6 6h22" fill="none" stroke="#8892a6" stroke-width="2.5"/>`+
		`<text x="138" y="132" text-anchor="middle" font-family="system-ui,sans-serif" font-weight="600" font-size="22" fill="#8892a6">%s</text></svg>`,
		html.EscapeString(string(label)))
}
