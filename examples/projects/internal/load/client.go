package load

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// client sends requests, again where that is right.
type client struct {
	base string
	http *http.Client
}

const (
	attempts  = 8
	firstWait = 200 * time.Millisecond
	longWait  = 5 * time.Second
	maxAnswer = 8 << 20
	// requestTime is for one attempt; uploads are limited by the application, too.
	requestTime = 10 * time.Minute
)

// problemError is an answer that is not 2xx.
type problemError struct {
	Status     int    `json:"status"`
	Title      string `json:"title"`
	Detail     string `json:"detail"`
	ExistingID int64  `json:"existing_id"`
}

func (e *problemError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%d %s", e.Status, e.Detail)
}

func nameTaken(err error) bool {
	var p *problemError
	return errors.As(err, &p) && p.Status == http.StatusConflict && p.ExistingID != 0
}

// call is one request, and how to begin its body anew.
type call struct {
	method, path string
	header       http.Header
	body         func() (io.ReadCloser, int64, error) // nil: none
}

// do sends a call until there is an answer that settles it, and decodes that into
// dest. No answer, and 502, 503 and 504, mean that it may be sent again: every call
// here may be.
func (c client) do(ctx context.Context, what call, dest any) (status int, err error) {
	wait := firstWait
	for n := 1; ; n++ {
		var after time.Duration
		status, after, err = c.once(ctx, what, dest)
		var p *problemError
		settled := err == nil || errors.As(err, &p) && p.Status != http.StatusBadGateway && p.Status != http.StatusServiceUnavailable && p.Status != http.StatusGatewayTimeout
		if settled || n == attempts || ctx.Err() != nil {
			return status, err
		}
		timer := time.NewTimer(max(wait, after))
		select {
		case <-ctx.Done():
			timer.Stop()
			return status, err
		case <-timer.C:
		}
		wait = min(2*wait, longWait)
	}
}

func (c client) once(ctx context.Context, what call, dest any) (status int, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, what.method, c.base+what.path, http.NoBody)
	if err != nil {
		return 0, 0, err
	}
	for name, values := range what.header {
		req.Header[name] = values
	}
	if what.body != nil {
		body, size, err := what.body()
		if err != nil {
			return 0, 0, err
		}
		req.Body, req.ContentLength = body, size
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, 0, err
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return 0, 0, err
	}
	if res.StatusCode/100 != 2 {
		p := &problemError{}
		if json.Unmarshal(text, p) != nil || p.Status == 0 {
			p = &problemError{Status: res.StatusCode}
		}
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil || seconds < 0 {
			seconds = 0
		}
		return res.StatusCode, time.Duration(seconds) * time.Second, p
	}
	if dest == nil || len(text) == 0 {
		return res.StatusCode, 0, nil
	}
	if err := json.Unmarshal(text, dest); err != nil {
		return 0, 0, fmt.Errorf("the answer to %s %s is no JSON; is this the application's address? %w", what.method, what.path, err)
	}
	return res.StatusCode, 0, nil
}

// jsonCall is a call with a JSON body.
func jsonCall(method, path string, body any) (call, error) {
	text, err := json.Marshal(body)
	return call{method: method, path: path, header: http.Header{"Content-Type": {"application/json"}},
		body: func() (io.ReadCloser, int64, error) {
			return io.NopCloser(bytes.NewReader(text)), int64(len(text)), nil
		}}, err
}

// accountName is the account that gets what is loaded, unless one is named.
const accountName = "load"

// account returns the first account of that name, made if it may be.
func (c client) account(ctx context.Context, make bool) (int64, error) {
	type user struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	for cursor := ""; ; {
		var page struct {
			Items []user  `json:"items"`
			Next  *string `json:"next"`
		}
		if _, err := c.do(ctx, call{method: http.MethodGet, path: "/api/users?limit=500&cursor=" + url.QueryEscape(cursor)}, &page); err != nil {
			return 0, fmt.Errorf("load: look for the user %q at %s: %w", accountName, c.base, err)
		}
		for _, u := range page.Items {
			if u.Name == accountName {
				return u.ID, nil
			}
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	if !make {
		return 0, fmt.Errorf("load: there is no user named %q; say whose projects are to be deleted with -user", accountName)
	}
	what, err := jsonCall(http.MethodPost, "/api/users", map[string]string{"name": accountName, "plan": "team"})
	if err != nil {
		return 0, err
	}
	var u user
	if _, err := c.do(ctx, what, &u); err != nil {
		return 0, fmt.Errorf("load: make the user %q: %w", accountName, err)
	}
	return u.ID, nil
}

// exists is an error unless the account is there.
func (c client) exists(ctx context.Context, userID int64) error {
	_, err := c.do(ctx, call{method: http.MethodGet, path: fmt.Sprintf("/api/users/%d/projects?limit=1", userID)}, nil)
	var p *problemError
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		return fmt.Errorf("load: there is no user %d at %s", userID, c.base)
	}
	if err != nil {
		return fmt.Errorf("load: look for the user %d at %s: %w", userID, c.base, err)
	}
	return nil
}

// createProject makes a project, or finds the one that has the name.
func (c client) createProject(ctx context.Context, userID int64, name string) (id int64, found bool, err error) {
	what, err := jsonCall(http.MethodPost, fmt.Sprintf("/api/users/%d/projects", userID), map[string]string{"name": name})
	if err != nil {
		return 0, false, err
	}
	what.header.Set("Idempotency-Key", rand.Text()) // one for all attempts
	var project struct {
		ID int64 `json:"id"`
	}
	_, err = c.do(ctx, what, &project)
	var p *problemError
	if nameTaken(err) && errors.As(err, &p) {
		return p.ExistingID, true, nil
	}
	return project.ID, false, err
}

// upload sends a file; the status is 201 for a new screen, 200 for a new version.
func (c client) upload(ctx context.Context, projectID int64, f file, fail bool) (status int, err error) {
	path := fmt.Sprintf("/api/projects/%d/screens/%s", projectID, url.PathEscape(f.name))
	if fail {
		path += "?on_conflict=fail"
	}
	return c.do(ctx, call{method: http.MethodPut, path: path, header: http.Header{"Content-Type": {"application/octet-stream"}},
		body: func() (io.ReadCloser, int64, error) {
			body, err := os.Open(f.path)
			if err != nil {
				return nil, 0, err
			}
			info, err := body.Stat()
			if err != nil || info.Size() == 0 {
				return http.NoBody, 0, errors.Join(err, body.Close())
			}
			return body, info.Size(), nil
		}}, nil)
}
