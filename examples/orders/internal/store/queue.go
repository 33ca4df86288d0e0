package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow/sqs"
)

// The queues.
const (
	QueueCarts  = "carts"  // carts to validate
	QueuePrices = "prices" // questions to the price service
	QueueMail   = "mail"   // what the customer is told
)

// Message is a message of a queue.
type Message struct {
	// ID is the message id: what is sent twice with one id is there once.
	ID         string
	Queue      string
	Body       string
	Attributes map[string]sqs.Attribute
	Delay      time.Duration
}

// sqlSend: the primary key decides. 1 row is affected by an insert, 2 by an update.
const sqlSend = `INSERT INTO message (id, queue, body, attributes, delay_s, due_at) VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? SECOND)
ON DUPLICATE KEY UPDATE sent = sent + 1`

// Send puts a message into its queue; false: it was there already and is not sent again. In a
// transaction it is sent when that commits. One statement.
func Send(ctx context.Context, db onerow.DB, m Message) (bool, error) {
	attributes, err := json.Marshal(m.Attributes)
	if err != nil {
		return false, err
	}
	seconds := int64(m.Delay / time.Second)
	n, err := onerow.Affected(ctx, db, sqlSend, m.ID, m.Queue, m.Body, string(attributes), seconds, seconds)
	return n == 1, err
}

// JSON is the message as SQS hands it to a consumer, for sqs.Open.
func (m Message) JSON() ([]byte, error) {
	type attribute struct {
		DataType string `json:"dataType"`
		String   string `json:"stringValue,omitempty"`
		Binary   []byte `json:"binaryValue,omitempty"`
	}
	record := struct {
		ID         string               `json:"messageId"`
		Body       string               `json:"body"`
		Attributes map[string]attribute `json:"messageAttributes"`
		Source     string               `json:"eventSource"`
	}{m.ID, m.Body, map[string]attribute{}, "aws:sqs"}
	for name, a := range m.Attributes {
		record.Attributes[name] = attribute{a.Type, a.Value, a.Binary}
	}
	return json.Marshal(record)
}

// sqlMessage: by the primary key. sqlDue: over the index due.
const (
	messageColumns = `SELECT id, queue, body, attributes, delay_s FROM message WHERE `
	sqlMessage     = messageColumns + `id = ?`
	sqlDue         = messageColumns + `queue = ? AND delivered_at IS NULL AND due_at <= UTC_TIMESTAMP(6) ORDER BY due_at, id LIMIT ?`
)

// MessageByID reads a message, delivered or not. One statement.
func MessageByID(ctx context.Context, db onerow.DB, id string) (m Message, err error) {
	var attributes []byte
	var seconds int64
	err = onerow.QueryRow(ctx, db, sqlMessage, []any{id}, &m.ID, &m.Queue, &m.Body, &attributes, &seconds)
	if errors.Is(err, sql.ErrNoRows) {
		return m, fmt.Errorf("%w: message %q", ErrNotFound, id)
	}
	if err != nil {
		return m, err
	}
	return m, m.read(attributes, seconds)
}

// Due reads the messages of a queue that may be delivered now, oldest first. One statement.
func Due(ctx context.Context, db onerow.DB, queue string, limit int) (all []Message, err error) {
	err = onerow.Query(ctx, db, sqlDue, []any{queue, limit}, func(rows *sql.Rows) error {
		var m Message
		var attributes []byte
		var seconds int64
		if err := rows.Scan(&m.ID, &m.Queue, &m.Body, &attributes, &seconds); err != nil {
			return err
		}
		if err := m.read(attributes, seconds); err != nil {
			return err
		}
		all = append(all, m)
		return nil
	})
	return all, err
}

func (m *Message) read(attributes []byte, seconds int64) error {
	m.Delay = time.Duration(seconds) * time.Second
	return json.Unmarshal(attributes, &m.Attributes)
}

// sqlDelivered: by the primary key.
const sqlDelivered = `UPDATE message SET delivered_at = UTC_TIMESTAMP(6) WHERE id = ? AND delivered_at IS NULL`

// Delivered takes a message out of its queue, after it was worked: a crash before delivers it
// again. One statement.
func Delivered(ctx context.Context, db onerow.DB, id string) error {
	_, err := db.ExecContext(ctx, sqlDelivered, id)
	return err
}
