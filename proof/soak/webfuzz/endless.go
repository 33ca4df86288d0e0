package webfuzz

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
)

var errEnd = errors.New("the end of what is sent")

// counted counts what of an endless body is taken.
type counted struct {
	begin io.Reader
	n     int64
	most  int64
	fill  byte
}

func (c *counted) Read(p []byte) (int, error) {
	if n, err := c.begin.Read(p); err == nil {
		return n, nil
	}
	if c.n > c.most {
		return 0, errEnd
	}
	for i := range p {
		p[i] = c.fill
	}
	c.n += int64(len(p))
	return len(p), nil
}

// What is sent of a body without an end, and what of it may lie in buffers when it is refused; the largest
// attachment has 10 MiB.
const (
	mostSent   = 96 << 20
	mostBuffer = 40 << 20
)

// endless sends a form whose file does not end to where a file of 10 MiB may go.
func (d *desk) endless(ctx context.Context) {
	id, t := d.some()
	if t == nil || t.state != "active" {
		return
	}
	d.once.Do(func() {
		body := &counted{begin: bytes.NewReader([]byte("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n")), most: mostSent}
		q := request{method: http.MethodPut, path: d.at(id) + "/attachments/" + uuid(d.r), stream: body, header: http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}}
		_, _ = d.c.do(ctx, q) //nolint:errcheck // it ends in the middle
		if body.n > mostBuffer {
			d.c.broken(brokenTaken, "%d MiB and more of a body without an end: %s", body.n>>20, d.c.curl(q))
		}
	})
}
