package sqs

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow/flow"
)

var (
	// ErrMessage means: this is no message of SQS, or it cannot be sent again.
	ErrMessage = errors.New("sqs: message")
	// ErrExhausted means: a message was re-sent as often as is allowed.
	ErrExhausted = errors.New("sqs: no retries left")
)

// maxRequest is how long a request id of package flow may be, in bytes.
const maxRequest = 255

// The attributes that carry the original request id and the number of retries in a
// message that was sent again. Only senders that are trusted may set them.
const (
	AttributeRequestID = "onerow_request_id"
	AttributeRetry     = "onerow_retry"
)

// Attribute is a message attribute: Value for the types String and Number, Binary for
// Binary, whatever custom label follows the type.
type Attribute struct {
	Type   string
	Value  string
	Binary []byte
}

// Message is a message as a flow sees it, however it came.
type Message struct {
	// RequestID is the id to claim with. In this order: the attribute of a message that was
	// sent again, the attribute that the sender of a wrapped message set, the message id of SNS,
	// which the same message has in all queues and deliveries, the message id of SQS.
	RequestID string
	// Retry is how often the message was sent again.
	Retry int
	// MessageID is the message id of SQS, new with each sending.
	MessageID string
	// Wrapped says that it came through SNS; Topic is the topic's ARN then, and Subject its subject.
	Wrapped        bool
	Topic, Subject string
	// Body is what the sender sent.
	Body string
	// Attributes are those of the sender, without the two of this package.
	Attributes map[string]Attribute

	outerBody string
	outer     map[string]Attribute // without ours
}

// record is a message as SQS hands it out, in the spelling of the API (Body) or of a
// Lambda event (body): encoding/json does not care for case.
type record struct {
	MessageID  string                     `json:"messageId"`
	Body       *string                    `json:"body"`
	Attributes map[string]recordAttribute `json:"messageAttributes"`
}

type recordAttribute struct {
	DataType string `json:"dataType"`
	String   string `json:"stringValue"`
	Binary   []byte `json:"binaryValue"`
}

// notification is the body that SNS makes.
type notification struct {
	Type       string
	MessageID  string `json:"MessageId"`
	TopicArn   string
	Subject    string
	Message    *string
	Timestamp  string
	Attributes map[string]struct{ Type, Value string } `json:"MessageAttributes"`
}

// Open reads one message: a record of the event that a Lambda gets from SQS, or a message of the SQS API, as
// JSON; direct, or wrapped by SNS (without raw delivery). The error is [ErrMessage].
func Open(raw []byte) (Message, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return Message{}, fmt.Errorf("%w is not JSON as SQS makes it: %w", ErrMessage, err)
	}
	if r.MessageID == "" || r.Body == nil {
		return Message{}, fmt.Errorf("%w has no messageId or no body", ErrMessage)
	}
	m := Message{RequestID: r.MessageID, MessageID: r.MessageID, Body: *r.Body, outerBody: *r.Body, outer: map[string]Attribute{}}
	for name, a := range r.Attributes {
		m.outer[name] = Attribute{Type: a.DataType, Value: a.String, Binary: a.Binary}
	}
	m.Attributes = maps.Clone(m.outer)
	if n, ok := unwrap(*r.Body); ok {
		m.Wrapped, m.RequestID, m.Body, m.Topic, m.Subject = true, n.MessageID, *n.Message, n.TopicArn, n.Subject
		m.Attributes = map[string]Attribute{}
		for name, a := range n.Attributes {
			if strings.HasPrefix(a.Type, "Binary") {
				binary, err := base64.StdEncoding.DecodeString(a.Value)
				if err != nil {
					return Message{}, fmt.Errorf("%w %s: attribute %q: %w", ErrMessage, r.MessageID, name, err)
				}
				m.Attributes[name] = Attribute{Type: a.Type, Binary: binary}
				continue
			}
			m.Attributes[name] = Attribute{Type: a.Type, Value: a.Value}
		}
	}
	return m, m.own()
}

// own takes the two attributes of this package out: the outer ones win, a message that
// was sent again has them there.
func (m *Message) own() error {
	for _, attributes := range []map[string]Attribute{m.Attributes, m.outer} {
		if id := attributes[AttributeRequestID].Value; id != "" {
			m.RequestID = id
		}
		if text := attributes[AttributeRetry].Value; text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return fmt.Errorf("%w %s has the retry count %q", ErrMessage, m.MessageID, text)
			}
			m.Retry = n
		}
	}
	for _, attributes := range []map[string]Attribute{m.Attributes, m.outer} {
		delete(attributes, AttributeRequestID)
		delete(attributes, AttributeRetry)
	}
	if strings.ContainsRune(m.RequestID, utf8.RuneError) { // what encoding/json makes of all that is no text
		return fmt.Errorf("%w %s has a request id that is not UTF-8, or half of a surrogate pair, and would be that of others: %q", ErrMessage, m.MessageID, m.RequestID)
	}
	if len(m.RequestID) > maxRequest {
		return fmt.Errorf("%w %s has a request id of %d bytes, %d fit", ErrMessage, m.MessageID, len(m.RequestID), maxRequest)
	}
	return nil
}

func unwrap(body string) (n notification, ok bool) {
	if !strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "{") {
		return n, false
	}
	err := json.Unmarshal([]byte(body), &n)
	return n, err == nil && n.Type == "Notification" && n.MessageID != "" && n.TopicArn != "" && n.Timestamp != "" && n.Message != nil
}

// Backoff is how long the next sending of a message waits. The zero value is valid.
type Backoff struct {
	// First is the delay of the first retry, doubled with each. Default 5 s.
	First time.Duration
	// Max is the longest delay. Default, and at most, 15 min: more SQS does not delay.
	Max time.Duration
	// Retries is how many there are. Default 10.
	Retries int
}

// sqsDelay and sqsAttributes are the limits of SQS.
const (
	sqsDelay      = 15 * time.Minute
	sqsAttributes = 10
)

// delay is the delay of retry n, from 1 on, in whole seconds.
func (b Backoff) delay(n int) time.Duration {
	first, most := b.First, b.Max
	if first <= 0 {
		first = 5 * time.Second
	}
	if most <= 0 || most > sqsDelay {
		most = sqsDelay
	}
	d := min(first, most)
	for ; n > 1 && d < most; n-- {
		d = min(2*d, most)
	}
	return (d + time.Second - 1).Truncate(time.Second)
}

// Outgoing is a message to be sent to the same queue.
type Outgoing struct {
	Body       string
	Attributes map[string]Attribute
	Delay      time.Duration
	// DeduplicationID is the same for each attempt to send this retry.
	DeduplicationID string
}

// Resend makes the next sending of a message that could not be worked now: the same
// body, wrapped if it was, the same attributes, and with them the original request id and
// the retry count plus one. [Open] finds both in it, so the new message, with its new message id, passes
// its flow's claim. After the last retry the error is [ErrExhausted]: park the message. A direct message with
// more than 8 attributes of its own cannot be sent again: [ErrMessage].
func (m Message) Resend(b Backoff) (Outgoing, error) {
	most := b.Retries
	if most <= 0 {
		most = 10
	}
	if m.Retry >= most {
		return Outgoing{}, fmt.Errorf("%w: request %q was sent again %d times", ErrExhausted, m.RequestID, m.Retry)
	}
	if len(m.outer)+2 > sqsAttributes {
		return Outgoing{}, fmt.Errorf("%w %s has %d attributes, and 2 more than %d do not fit", ErrMessage, m.MessageID, len(m.outer), sqsAttributes)
	}
	retry := strconv.Itoa(m.Retry + 1)
	attributes := maps.Clone(m.outer)
	if attributes == nil {
		attributes = map[string]Attribute{}
	}
	attributes[AttributeRequestID] = Attribute{Type: "String", Value: m.RequestID}
	attributes[AttributeRetry] = Attribute{Type: "Number", Value: retry}
	return Outgoing{Body: m.outerBody, Attributes: attributes, Delay: b.delay(m.Retry + 1),
		DeduplicationID: flow.MessageID(m.RequestID, "retry "+retry)}, nil
}
