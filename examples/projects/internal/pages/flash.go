package pages

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
)

// flash is what a page says once about the change before it.
type flash struct {
	Kind string `json:"k"` // "good" or "bad"
	Text string `json:"t"`
}

const (
	flashCookie = "flash"
	flashAge    = 60 // seconds
	maxFlash    = 1000
)

func good(text string) *flash { return &flash{"good", text} }
func bad(text string) *flash  { return &flash{"bad", text} }

// putFlash keeps a message for the next page. It is only ever shown as text, so it
// does not matter that a browser could change it.
func putFlash(w http.ResponseWriter, f flash) {
	if runes := []rune(f.Text); len(runes) > maxFlash/2 {
		f.Text = string(runes[:maxFlash/2]) + "…"
	}
	text, err := json.Marshal(f)
	if err != nil {
		return
	}
	http.SetCookie(w, &http.Cookie{Name: flashCookie, Value: base64.RawURLEncoding.EncodeToString(text), Path: "/", MaxAge: flashAge, //nolint:gosec // no secret, and plain HTTP
		HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// takeFlash returns the message, once.
func takeFlash(w http.ResponseWriter, r *http.Request) *flash {
	c, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: flashCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode}) //nolint:gosec // as above
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return nil
	}
	var f flash
	if json.Unmarshal(text, &f) != nil || f.Kind != "good" && f.Kind != "bad" {
		return nil
	}
	return &f
}
