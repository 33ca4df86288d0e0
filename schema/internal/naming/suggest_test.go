package naming

import (
	"fmt"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	names := []string{"customer", "customer_address", "film", "Straße"}
	for text, want := range map[string]string{"customers": "customer", "CUSTOMER": "customer", "flim": "film", "strase": "Straße", "warehouse": "", "": ""} {
		if want != "" {
			want = fmt.Sprintf("; did you mean %q?", want)
		}
		if got := DidYouMean(text, names); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
