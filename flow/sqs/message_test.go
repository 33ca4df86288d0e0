package sqs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/flow/sqs"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got the error %v, want %v", err, want)
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return must(os.ReadFile("testdata/" + name + ".json"))
}

func TestOpen(t *testing.T) {
	for name, want := range map[string]sqs.Message{
		"sqs-lambda": {RequestID: "3c7f9b1e-5d82-4a46-97c0-e8b2d4f6a135", MessageID: "3c7f9b1e-5d82-4a46-97c0-e8b2d4f6a135", Body: "validate cart 7",
			Attributes: map[string]sqs.Attribute{"origin": {Type: "String", Value: "web"}}},
		"sqs-api": {RequestID: "a81c3e5f-2b74-49d6-8e90-1f6d7c4b3a25", MessageID: "a81c3e5f-2b74-49d6-8e90-1f6d7c4b3a25", Body: `{"order": 42}`,
			Attributes: map[string]sqs.Attribute{"PostalCode": {Type: "String", Value: "10115"}, "Count": {Type: "Number", Value: "3"},
				"Picture": {Type: "Binary.png", Binary: []byte("\x89PNG\r")}}},
		"sns-sqs": {RequestID: "0d5e1c7a-41b8-4f0e-8a3e-5b7c2f9e6d10", MessageID: "f2b9a6c4-7e13-4d58-b0a1-9c8e3d5f7a26", Body: "cart 7 changed",
			Wrapped: true, Topic: "arn:aws:sns:eu-central-1:123456789012:orders", Subject: "a cart was changed",
			Attributes: map[string]sqs.Attribute{"store": {Type: "String", Value: "north"}, "total_eur": {Type: "Number", Value: "19.90"},
				"icon": {Type: "Binary", Binary: []byte("\x89PNG\r")}}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := sqs.Open(fixture(t, name))
			if err != nil {
				t.Fatal(err)
			}
			same(t, e, want)
			// Sent again and again it keeps its request id, its body and its attributes.
			for n := 1; n <= 4; n++ {
				out, err := e.Resend(sqs.Backoff{First: 300 * time.Second, Retries: 4})
				if err != nil || out.Delay != min(time.Duration(300<<(n-1))*time.Second, 15*time.Minute) {
					t.Fatalf("%v, %v", out.Delay, err)
				}
				id := fmt.Sprintf("11111111-2222-3333-4444-%012d", n)
				if e, err = sqs.Open(deliver(t, id, out)); err != nil {
					t.Fatal(err)
				}
				want.MessageID, want.Retry = id, n
				same(t, e, want)
			}
			_, err = e.Resend(sqs.Backoff{Retries: 4})
			wantError(t, err, sqs.ErrExhausted)
		})
	}
}

// same compares what is exported.
func same(t testing.TB, got, want sqs.Message) {
	t.Helper()
	a, b := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range a.NumField() {
		if f := a.Type().Field(i); f.IsExported() && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			t.Fatalf("%s: %+v, want %+v", f.Name, a.Field(i), b.Field(i))
		}
	}
}

// deliver is what SQS makes of an outgoing message.
func deliver(t testing.TB, id string, out sqs.Outgoing) []byte {
	t.Helper()
	attributes := map[string]any{}
	for name, a := range out.Attributes {
		attributes[name] = map[string]any{"dataType": a.Type, "stringValue": a.Value, "binaryValue": a.Binary}
	}
	if len(attributes) > 10 {
		t.Fatal("SQS takes ten attributes")
	}
	return must(json.Marshal(map[string]any{"messageId": id, "body": out.Body, "messageAttributes": attributes}))
}

func TestOpenRefuses(t *testing.T) {
	many := map[string]any{}
	for i := range 9 {
		many[fmt.Sprint(i)] = map[string]any{"dataType": "String", "stringValue": "x"}
	}
	e := must(sqs.Open(must(json.Marshal(map[string]any{"messageId": "m", "body": "b", "messageAttributes": many}))))
	_, err := e.Resend(sqs.Backoff{})
	wantError(t, err, sqs.ErrMessage)
	for _, raw := range []string{
		``, `[]`, `{}`, `{"messageId": "m"}`, `{"body": "b"}`,
		`{"messageId": "m", "body": "b", "messageAttributes": {"onerow_retry": {"dataType": "Number", "stringValue": "-1"}}}`,
		`{"messageId": "m", "body": "b", "messageAttributes": {"onerow_request_id": {"dataType": "String", "stringValue": "` + strings.Repeat("x", 256) + `"}}}`,
		`{"messageId": "m", "body": "b", "messageAttributes": {"onerow_request_id": {"dataType": "String", "stringValue": "a\ud800"}}}`,
		"{\"messageId\": \"m\xff\", \"body\": \"b\"}",
		`{"messageId": "m", "body": "{\"Type\":\"Notification\",\"MessageId\":\"n\",\"TopicArn\":\"t\",\"Timestamp\":\"t\",\"Message\":\"m\",\"MessageAttributes\":{\"a\":{\"Type\":\"Binary\",\"Value\":\"!\"}}}"}`,
	} {
		_, err := sqs.Open([]byte(raw))
		wantError(t, err, sqs.ErrMessage)
	}
	// A body that only looks a little like a notification is the sender's own.
	for _, body := range []string{`{"Type":"Notification"}`, `{"Type":"Notification","Message":{}}`, `{`, ` x`, ``} {
		e, err := sqs.Open(must(json.Marshal(map[string]string{"messageId": "m", "body": body})))
		if err != nil || e.Wrapped || e.Body != body {
			t.Fatalf("%q: %+v, %v", body, e, err)
		}
	}
}

func TestBackoff(t *testing.T) {
	delay := func(b sqs.Backoff, n int) time.Duration {
		b.Retries = n
		return must(sqs.Message{Retry: n - 1}.Resend(b)).Delay
	}
	for n, want := range map[int]time.Duration{1: 5, 2: 10, 3: 20, 8: 640, 9: 900, 10: 900, 1 << 40: 900} {
		if got := delay(sqs.Backoff{}, n); got != want*time.Second {
			t.Errorf("retry %d: %s", n, got)
		}
	}
	if got := delay(sqs.Backoff{First: time.Millisecond, Max: time.Hour}, 1); got != time.Second {
		t.Error(got)
	}
}

// FuzzOpen: any bytes are read or refused, and what is read can be sent again and is the same.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"sqs-lambda", "sqs-api", "sns-sqs"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := sqs.Open(raw)
		if err != nil {
			wantError(t, err, sqs.ErrMessage)
			return
		}
		out, err := e.Resend(sqs.Backoff{Retries: e.Retry + 1})
		if err != nil || e.RequestID == "" {
			return
		}
		again, err := sqs.Open(deliver(t, "m", out))
		if err != nil || again.RequestID != e.RequestID || again.Retry != e.Retry+1 || again.Body != e.Body || again.Wrapped != e.Wrapped {
			t.Fatalf("%+v, sent again %+v, %v", e, again, err)
		}
	})
}
