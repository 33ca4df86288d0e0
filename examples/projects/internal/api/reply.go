package api

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// reply sends a JSON answer.
func reply(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(append(text, '\n')); err != nil {
		return nil //nolint:nilerr // the client is gone; the status was sent
	}
	return nil
}
