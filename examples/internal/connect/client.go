package connect

import (
	"errors"
	"io"
	"net/http"
)

const maxAnswer = 1 << 20

// Send sends a request and reads its answer, up to 1 MiB of it. The response's body is closed.
func Send(client *http.Client, req *http.Request) (res *http.Response, body []byte, err error) {
	if res, err = client.Do(req); err != nil { //nolint:gosec // examples ask each other alone
		return nil, nil, err
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return res, body, errors.Join(err, res.Body.Close())
}
