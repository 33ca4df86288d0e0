package httpkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/errtext"
)

// fingerprint is what the request stands for, and what stood for it before: the first version knew neither
// the host nor what an http.StripPrefix had taken from the path, and a service may get a Config.Fingerprint.
func (m *Middleware) fingerprint(r *http.Request, body []byte) (f idempotency.Fingerprint, err error) {
	f.Former = [][sha256.Size]byte{hashOf([]byte("httpkey/1"), []byte(r.Method), []byte(r.URL.EscapedPath()), []byte(r.URL.RawQuery), body)}
	kind, parts := "httpkey/2", [][]byte{body}
	if form, isForm := partsOf(r, body); isForm {
		kind, parts = "httpkey/2 form", form
	}
	f.Sum = hashOf(append([][]byte{[]byte(kind), []byte(r.Method), []byte(hostOf(r)), []byte(sentPath(r)), []byte(r.URL.EscapedPath()), []byte(r.URL.RawQuery)}, parts...)...)
	if m.cfg.Fingerprint == nil {
		return f, nil
	}
	own, err := m.cfg.Fingerprint(r, body)
	if err != nil {
		return f, errtext.Wrap(err, "httpkey: Config.Fingerprint")
	}
	f.Former = append(f.Former, f.Sum)
	f.Sum = hashOf([]byte("httpkey/2 own"), []byte(r.Method), own)
	return f, nil
}

// hashOf hashes each part with its length, so that no two requests share their bytes.
func hashOf(parts ...[]byte) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part))) //nolint:gosec // a length is not negative
		h.Write(size[:])
		h.Write(part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// hostOf is the name of the host that a request was sent to, without the port, as http.ServeMux takes it. An
// address is none: it says which machine answers, and the next try may come to another one.
func hostOf(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// sentPath is the path as it was sent: handlers outside of this one may have taken a prefix from r.URL.
func sentPath(r *http.Request) string {
	if u, err := url.ParseRequestURI(r.RequestURI); err == nil {
		return u.EscapedPath()
	}
	return r.URL.EscapedPath() // it did not come through a server
}

// partsOf are the parts of a multipart form, each a head and a body, which a client that builds the form anew
// sends between other boundaries, and perhaps in another order: only that of parts with one name counts. It
// is no form if it breaks off.
func partsOf(r *http.Request, body []byte) (parts [][]byte, isForm bool) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, false
	}
	form := map[string][][]byte{}
	reader := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		p, err := reader.NextRawPart()
		if err == io.EOF { //nolint:errorlint // within another error it is that of a form that broke off
			break
		}
		if err != nil {
			return nil, false
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, false
		}
		var head bytes.Buffer
		if err := http.Header(p.Header).Write(&head); err != nil { // by name
			return nil, false
		}
		form[p.FormName()] = append(form[p.FormName()], head.Bytes(), content)
	}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		parts = append(parts, form[name]...)
	}
	return parts, true
}
