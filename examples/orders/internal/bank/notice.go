package bank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// SecretHeader carries Config.Secret with a notice.
const SecretHeader = "Bank-Secret"

// How often a notice is sent: for about a minute.
const (
	noticeTries = 40
	firstPause  = 50 * time.Millisecond
	longPause   = 2 * time.Second
	noticeTime  = 10 * time.Second
)

// notify tells the shop of a charge until it takes the notice.
func (b *Bank) notify(c Charge) {
	pause := firstPause
	for n := 1; n <= noticeTries; n++ {
		err := b.notice(c)
		if err == nil {
			return
		}
		b.cfg.Log.Debug("bank: the shop did not take a notice", "reference", c.Reference, "try", n, "error", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-b.life.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, longPause)
	}
	b.cfg.Log.Warn("bank: a notice was given up", "reference", c.Reference)
}

func (b *Bank) notice(c Charge) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(b.life, noticeTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.cfg.Notices, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(SecretHeader, b.cfg.Secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("the shop answered %s", res.Status)
	}
	return errors.Join(err, res.Body.Close())
}
