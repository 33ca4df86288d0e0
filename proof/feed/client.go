package main

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
	"slices"
	"strconv"
	"time"
)

// client sends requests, again where that is right.
type client struct{ base string }

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
	res, err := http.DefaultClient.Do(req)
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

// post is a call with a JSON body.
func post(path string, fields map[string]string) call {
	return call{method: http.MethodPost, path: path, header: http.Header{"Content-Type": {"application/json"}},
		body: func() (io.ReadCloser, int64, error) {
			text, err := json.Marshal(fields)
			return io.NopCloser(bytes.NewReader(text)), int64(len(text)), err
		}}
}

// row is an account or a project.
type row struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// list reads all pages of a list; path ends with ? or &.
func (c client) list(ctx context.Context, path string) (all []row, err error) {
	next := ""
	for {
		var page struct {
			Items []row   `json:"items"`
			Next  *string `json:"next"`
		}
		if _, err := c.do(ctx, call{method: http.MethodGet, path: path + "limit=500&cursor=" + url.QueryEscape(next)}, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == nil {
			return all, nil
		}
		next = *page.Next
	}
}

// accountName is the account that gets what is loaded, unless one is named.
const accountName = "load"

// account returns the first account of that name, created if it may be.
func (c client) account(ctx context.Context, create bool) (int64, error) {
	users, err := c.list(ctx, "/api/users?")
	if err != nil {
		return 0, fmt.Errorf("look for the user %q at %s: %w", accountName, c.base, err)
	}
	if i := slices.IndexFunc(users, func(u row) bool { return u.Name == accountName }); i >= 0 {
		return users[i].ID, nil
	}
	if !create {
		return 0, fmt.Errorf("there is no user named %q; say whose projects are to be deleted with -user", accountName)
	}
	var u row
	if _, err := c.do(ctx, post("/api/users", map[string]string{"name": accountName, "plan": "team"}), &u); err != nil {
		return 0, fmt.Errorf("create the user %q: %w", accountName, err)
	}
	return u.ID, nil
}

// createProject creates a project, or finds the one that has the name.
func (c client) createProject(ctx context.Context, userID int64, name string) (id int64, found bool, err error) {
	what := post(fmt.Sprintf("/api/users/%d/projects", userID), map[string]string{"name": name})
	what.header.Set("Idempotency-Key", rand.Text()) // one for all attempts
	var project row
	_, err = c.do(ctx, what, &project)
	var p *problemError
	if errors.As(err, &p) && p.Status == http.StatusConflict && p.ExistingID != 0 {
		return p.ExistingID, true, nil
	}
	return project.ID, false, err
}

// upload sends a file; the status is 201 for a new screen, 200 for a new version.
func (c client) upload(ctx context.Context, projectID int64, f file) (status int, err error) {
	return c.do(ctx, call{method: http.MethodPut, path: fmt.Sprintf("/api/projects/%d/screens/%s", projectID, url.PathEscape(f.name)),
		header: http.Header{"Content-Type": {"application/octet-stream"}},
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
